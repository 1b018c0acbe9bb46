import Crypto
import Foundation

/// An item of a keychain that holds the cache's key.
protocol KeyItem {
    /// The result of looking the item up.
    func read() -> KeyItemAnswer

    /// Adds the item; never replaces one.
    func add(_ data: Data) -> KeyItemAnswer
}

/// The answer of a keychain.
enum KeyItemAnswer: Equatable {
    /// The item that was found or added.
    case found(Data)
    case notFound
    /// Another item was added under that name.
    case duplicate
    /// The program lacks the entitlement for this keychain.
    case notEntitled
    /// Any other status of the system.
    case refused(Int32)
}

extension KeyItem {
    /// The key in the item, which is created on first use; `nil` if the program is not entitled to the keychain.
    ///
    /// Two processes that create it at the same time get the same key. Throws ``RepriseError`` with code
    /// `keyUnavailable`.
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
