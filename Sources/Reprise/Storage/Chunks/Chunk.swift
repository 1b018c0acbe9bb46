/// The unit of record: bytes that were written together, and their checksum.
///
/// Never rewritten, and never overlaps another chunk.
///
/// Chunks end at multiples of 64 KiB or where a download stopped, so a seek to an odd offset costs nothing extra.
struct Chunk: Hashable, Sendable {
    /// First byte.
    let start: Int64
    /// Number of bytes, 1 … 65 536.
    let length: Int32
    /// XXH64 of the bytes; 0 if a seal verifies them.
    let checksum: UInt64
    /// Nonce and tag in an encrypted cache.
    var seal: ChunkSeal?

    /// Every chunk ends at a multiple of this, unless its download stopped before.
    static let alignment: Int64 = 64 << 10

    var count: Int64 { Int64(length) }
    var range: Range<Int64> { start..<start + count }
}

/// Cuts the bytes that one fetch writes into chunks, and computes their checksums as they arrive.
struct ChunkCutter: Sendable {
    private var start: Int64 = 0
    private var end: Int64 = 0
    private var hash = XXHash64()

    /// Appends `bytes`, which belong at `offset`; returns the chunks that they complete.
    mutating func append(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> [Chunk] {
        var finished: [Chunk] = []
        if offset != end, let chunk = finish() { finished.append(chunk) }
        if start == end {
            start = offset
            end = offset
        }
        var rest = bytes
        while !rest.isEmpty {
            let boundary = (end / Chunk.alignment + 1) * Chunk.alignment
            let count = Int(min(Int64(rest.count), boundary - end))
            hash.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            end += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if end == boundary, let chunk = finish() { finished.append(chunk) }
        }
        return finished
    }

    /// Ends the open chunk, if there is one, because the download stopped here.
    mutating func finish() -> Chunk? {
        guard end > start else { return nil }
        let chunk = Chunk(start: start, length: Int32(end - start), checksum: hash.digest())
        start = end
        hash = XXHash64()
        return chunk
    }
}
