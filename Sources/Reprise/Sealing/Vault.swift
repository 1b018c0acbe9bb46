import Crypto
import Foundation

/// Derives from an encrypted cache's one key its keyed names and, with a salt, its per-generation keys (HKDF, RFC
/// 5869).
///
/// The salt exists only in one row of the index. Without it neither a generation's record nor its bytes can be opened
/// again, so removing that row erases them.
struct Vault: Sendable {
    private let root: SymmetricKey
    private let nameKey: SymmetricKey

    init(key: SymmetricKey) {
        root = key
        nameKey = Self.derive(key, salt: [], for: "reprise names")
    }

    private static func derive(_ key: SymmetricKey, salt: [UInt8], for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: salt, info: Array(purpose.utf8), outputByteCount: 32)
    }

    /// Length of a generation's salt, in bytes.
    static let saltLength = 16

    static func makeSalt() -> [UInt8] { (0..<saltLength).map { _ in UInt8.random(in: .min ... .max) } }

    /// The name of `key` in file names and the index: an HMAC, so that URLs cannot be guessed without the key.
    func name(of key: CacheKey) -> String { hexadecimal(authenticate(key.text)) }

    /// The name of a host in the index.
    func name(ofHost host: String) -> String { hexadecimal(authenticate("\u{0}host \(host)")) }

    /// A value that shows whether an index was written with this key.
    var check: Data { Data(authenticate("\u{0}key check")) }

    private func authenticate(_ text: String) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: nameKey)
    }

    /// Seals fields of the index under a generation's salt; `context` is authenticated with them.
    func seal(_ fields: Data, salt: [UInt8], context: String) throws -> Data {
        let key = Self.derive(root, salt: salt, for: "reprise record")
        let box = try AES.GCM.seal(fields, using: key, authenticating: Array(context.utf8))
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return combined
    }

    /// Opens the result of ``seal(_:salt:context:)``; `nil` for another key, another context or a changed bit.
    func open(_ sealed: Data, salt: [UInt8], context: String) -> Data? {
        let key = Self.derive(root, salt: salt, for: "reprise record")
        guard let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
        return try? AES.GCM.open(box, using: key, authenticating: Array(context.utf8))
    }

    /// A sealer for the chunks of one generation.
    func sealer(name: String, generation: Int64, salt: [UInt8]) -> ChunkSealer {
        ChunkSealer(
            key: Self.derive(root, salt: salt, for: "reprise chunks"),
            context: Array("\(name) \(UInt64(bitPattern: generation)) ".utf8))
    }
}

/// Bytes in lower-case hexadecimal.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var characters: [UInt8] = []
    for byte in bytes {
        characters.append(digits[Int(byte >> 4)])
        characters.append(digits[Int(byte & 15)])
    }
    return String(decoding: characters, as: UTF8.self)
}
