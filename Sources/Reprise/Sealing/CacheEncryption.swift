public import Crypto

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
