public import Crypto

/// The source of an encrypted cache's key.
public protocol CacheKeyProvider: Sendable {
    /// The key: 256 bits, the same ones on every call.
    ///
    /// May block. Throws ``RepriseError`` with code `keyUnavailable`; the cache is then not opened.
    func key() throws(RepriseError) -> SymmetricKey
}
