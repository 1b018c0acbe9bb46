/// Some bytes of a read, in order: on disk or in memory.
public enum MediaPiece: Sendable {
    /// A region of a file; a server may hand it to `sendfile`.
    case stored(StoredRegion)
    /// Bytes in memory: the cache is encrypted, the store is off, full or broken, or the response must not be stored.
    case memory(any ByteChunk)

    /// Number of bytes.
    public var count: Int {
        switch self {
        case .stored(let region): region.count
        case .memory(let chunk): chunk.count
        }
    }

    /// The bytes, read from disk if necessary.
    ///
    /// Blocks; throws ``RepriseError`` with code `storageUnavailable`.
    public func bytes() throws(RepriseError) -> [UInt8] {
        switch self {
        case .stored(let region): try region.bytes()
        case .memory(let chunk): chunk.withUnsafeBytes { [UInt8]($0) }
        }
    }
}
