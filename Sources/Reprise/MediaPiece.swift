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

extension MediaPiece {
    /// The first `count` bytes, and the others; copies nothing.
    ///
    /// Each part protects all bytes from eviction.
    package func split(at count: Int) -> (MediaPiece, MediaPiece) {
        precondition(count > 0 && count < self.count)
        switch self {
        case .stored(let region):
            let (first, second) = region.split(at: count)
            return (.stored(first), .stored(second))
        case .memory(let chunk):
            // A slice of a slice would be looked through once more for each part.
            let slice = chunk as? ChunkSlice ?? ChunkSlice(base: chunk, range: 0..<chunk.count)
            let (start, end) = (slice.range.lowerBound, slice.range.upperBound)
            return (
                .memory(ChunkSlice(base: slice.base, range: start..<start + count)),
                .memory(ChunkSlice(base: slice.base, range: start + count..<end))
            )
        }
    }
}
