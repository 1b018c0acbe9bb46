import Crypto
import Foundation

/// An item of a keychain that holds the cache's key.
protocol KeyItem {
    /// What the keychain has there.
    func read() -> KeyItemAnswer

    /// Adds the item; never replaces one.
    func add(_ data: Data) -> KeyItemAnswer
}

/// What a keychain says.
enum KeyItemAnswer: Equatable {
    /// The item that was there, or that was added.
    case found(Data)
    case notFound
    /// Another item has been added under that name.
    case duplicate
    /// The program lacks the entitlement for this keychain.
    case notEntitled
    /// Any other status of the system's.
    case refused(Int32)
}

extension KeyItem {
    /// The key in the item, made at the first use; `nil` if the program is not entitled to it.
    ///
    /// Two processes that come first at once get the same key. Throws ``RepriseError`` with code `keyUnavailable`.
    func key() throws(RepriseError) -> SymmetricKey? {
        var answer = read()
        if answer == .notFound {
            answer = add(SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) })
            if answer == .duplicate { answer = read() }
        }
        switch answer {
        case .found(let data) where data.count == 32: return SymmetricKey(data: data)
        case .found(let data):
            throw RepriseError(.keyUnavailable, "The Keychain's item is no key of 32 bytes; it has \(data.count).")
        case .notEntitled: return nil
        case .notFound, .duplicate:
            throw RepriseError(.keyUnavailable, "The Keychain's item with the cache's key comes and goes.")
        case .refused(let status):
            throw RepriseError(.keyUnavailable, "The Keychain does not give the cache's key (status \(status)).")
        }
    }
}
