public import Crypto

/// Encryption of everything that tells what was watched: media bytes, URLs, header fields, file names.
///
/// AES-256-GCM by chunks of at most 64 KiB, with keys derived from one key of the app's (HKDF, RFC 5869). What it keeps
/// out and what it does not: `docs/threat-model.md`. Whoever loses the key loses the cache, and nothing else: everything
/// is fetched again.
public struct CacheEncryption: Sendable {
    let provider: any CacheKeyProvider

    /// Encrypts with `key`, which the app keeps: 256 random bits, not a password.
    public init(key: SymmetricKey) { provider = FixedKey(key: key) }

    /// Encrypts with the key that `provider` hands out when the cache is opened.
    public init(provider: any CacheKeyProvider) { self.provider = provider }

    private struct FixedKey: CacheKeyProvider {
        private let value: SymmetricKey

        init(key: SymmetricKey) { value = key }

        func key() throws(RepriseError) -> SymmetricKey { value }
    }
}

/// Where the key of an encrypted cache comes from.
public protocol CacheKeyProvider: Sendable {
    /// The key: 256 bits, always the same ones.
    ///
    /// May block. Throws ``RepriseError`` with code `keyUnavailable`; the cache is not opened then.
    func key() throws(RepriseError) -> SymmetricKey
}
