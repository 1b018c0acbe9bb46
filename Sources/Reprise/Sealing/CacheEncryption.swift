public import Crypto
import Foundation

/// Encryption of everything that reveals what was watched: media bytes, URLs, header fields, file names.
///
/// AES-256-GCM in chunks of at most 64 KiB, with keys derived from one key supplied by the app (HKDF, RFC 5869).
/// `docs/threat-model.md` says what it protects against and what it doesn't. Losing the key loses only the cache:
/// everything is fetched again.
public struct CacheEncryption: Sendable {
    let provider: any CacheKeyProvider

    /// Encrypts with `key`, which the app stores: 256 random bits, not a password.
    public init(key: SymmetricKey) { provider = FixedKey(key: key) }

    /// Encrypts with the key that `provider` returns when the cache is opened.
    public init(provider: any CacheKeyProvider) { self.provider = provider }

    private struct FixedKey: CacheKeyProvider {
        private let value: SymmetricKey

        init(key: SymmetricKey) { value = key }

        func key() throws(RepriseError) -> SymmetricKey { value }
    }
}

/// The source of an encrypted cache's key.
public protocol CacheKeyProvider: Sendable {
    /// The key: 256 bits, the same ones on every call.
    ///
    /// May block. Throws ``RepriseError`` with code `keyUnavailable`; the cache is then not opened.
    func key() throws(RepriseError) -> SymmetricKey
}

/// A key in a file: 32 bytes, or 64 hexadecimal digits.
///
/// The file itself has to be protected: mode 0600, another disk, a mounted secret.
public struct KeyFile: CacheKeyProvider {
    private let path: String

    /// Creates a provider of the key in the file at `path`.
    public init(path: String) { self.path = path }

    /// Reads the key.
    ///
    /// Throws ``RepriseError`` with code `keyUnavailable` if the file cannot be read or does not hold a key.
    public func key() throws(RepriseError) -> SymmetricKey {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            let reason = Self.isDirectory(path) ? "it is a directory" : Self.words(for: error)
            throw RepriseError(.keyUnavailable, "The key file \(path) cannot be read: \(reason).")
        }
        guard let key = Self.key(data) else {
            throw RepriseError(
                .keyUnavailable,
                "The key file \(path) must hold 32 bytes or 64 hexadecimal digits, as from: openssl rand -hex 32")
        }
        return key
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    private static func words(for error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "this user may not read it"
        default: "\((error as NSError).localizedDescription)"
        }
    }

    /// The key in `text`, which must be 64 hexadecimal digits; `nil` otherwise.
    public static func key(hexadecimal text: String) -> SymmetricKey? { key(Data(text.utf8)) }

    private static func key(_ data: Data) -> SymmetricKey? {
        if data.count == 32 { return SymmetricKey(data: data) }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var digits = text.utf8.makeIterator()
        while let high = digits.next(), let low = digits.next() {
            guard let high = Self.value(high), let low = Self.value(low) else { return nil }
            bytes.append(high << 4 | low)
        }
        return SymmetricKey(data: bytes)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
