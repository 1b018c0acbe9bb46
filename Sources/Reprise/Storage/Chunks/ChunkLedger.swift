import ByteRanges
import HTTPSemantics
import Primitives

/// The chunks of one generation, recorded or about to be, in blocks of 1 MiB; each block is a row of the index.
///
/// One row per block keeps the index at 16 bytes per 64 KiB of media, and a row is rewritten only while its block
/// grows. The lock guards plain values only; it is a leaf: no other lock is taken under it.
final class ChunkLedger: Sendable {
    /// Bytes of media that one row of the index describes.
    static let blockSize: Int64 = 1 << 20

    private struct State {
        var blocks: [Int64: [Chunk]] = [:]
        var unrecorded: Set<Int64> = []
    }

    private let state: Mutex<State>

    init(blocks: [Int64: [Chunk]] = [:]) {
        state = Mutex(State(blocks: blocks))
    }

    /// Adds finished chunks, to be recorded with the next batch.
    func add(_ chunks: [Chunk]) {
        state.withLock { state in
            for chunk in chunks {
                let block = chunk.start / Self.blockSize
                // Chunks that were there have been overwritten.
                state.blocks[block]?.removeAll { $0.range.overlaps(chunk.range) }
                state.blocks[block, default: []].append(chunk)
                state.unrecorded.insert(block)
            }
        }
    }

    /// The rows that changed since the last call, complete.
    func takeUnrecorded() -> [(block: Int64, chunks: [Chunk])] {
        state.withLock { state in
            defer { state.unrecorded = [] }
            return state.unrecorded.map { ($0, state.blocks[$0] ?? []) }
        }
    }

    /// Marks rows of a failed batch to be recorded again, including rows that are empty by now.
    func markUnrecorded(_ blocks: [Int64]) { state.withLock { $0.unrecorded.formUnion(blocks) } }

    /// Number of bytes in chunks, recorded or about to be.
    var byteCount: Int64 {
        state.withLock { $0.blocks.values.joined().reduce(0) { $0 + Int64($1.length) } }
    }

    /// Whether the index lacks changes.
    var hasUnrecorded: Bool { state.withLock { !$0.unrecorded.isEmpty } }

    /// The chunks that share a byte with `range`, in order.
    func chunks(overlapping range: Range<Int64>) -> [Chunk] {
        guard !range.isEmpty else { return [] }
        return state.withLock { state in
            (range.lowerBound / Self.blockSize...(range.upperBound - 1) / Self.blockSize)
                .flatMap { state.blocks[$0] ?? [] }
                .filter { $0.range.overlaps(range) }
                .sorted { $0.start < $1.start }
        }
    }

    /// Removes chunks that turned out wrong; their rows are recorded again.
    func discard(_ chunks: [Chunk]) {
        let gone = Set(chunks)
        state.withLock { state in
            for block in Set(chunks.map { $0.start / Self.blockSize }) {
                state.blocks[block]?.removeAll { gone.contains($0) }
                state.unrecorded.insert(block)
            }
        }
    }

    /// Removes every chunk in `range`, which begins and ends at block boundaries; returns their number of bytes.
    func removeAll(in range: Range<Int64>) -> Int64 {
        state.withLock { state in
            var bytes: Int64 = 0
            for block in range.lowerBound / Self.blockSize..<range.upperBound / Self.blockSize {
                guard let chunks = state.blocks.removeValue(forKey: block) else { continue }
                bytes += chunks.reduce(0) { $0 + Int64($1.length) }
                state.unrecorded.insert(block)
            }
            return bytes
        }
    }

    /// The ranges of all chunks.
    var ranges: ByteRangeSet {
        state.withLock { state in
            ByteRangeSet(state.blocks.values.joined().map(\.range).sorted { $0.lowerBound < $1.lowerBound })
        }
    }
}

extension [Chunk] {
    /// Bytes per record: offset in the block, length, then the checksum, or nonce and tag.
    private static func recordLength(isSealed: Bool) -> Int { 8 + (isSealed ? ChunkSeal.length : 8) }

    /// The form stored in the index: 16 bytes per chunk, 36 in an encrypted cache; numbers are little-endian.
    var packed: [UInt8] {
        var bytes: [UInt8] = []
        for chunk in self {
            let offset = UInt32(truncatingIfNeeded: chunk.start % ChunkLedger.blockSize)
            Swift.withUnsafeBytes(of: offset.littleEndian) { bytes.append(contentsOf: $0) }
            Swift.withUnsafeBytes(of: chunk.length.littleEndian) { bytes.append(contentsOf: $0) }
            if let seal = chunk.seal {
                bytes += seal.bytes
            } else {
                Swift.withUnsafeBytes(of: chunk.checksum.littleEndian) { bytes.append(contentsOf: $0) }
            }
        }
        return bytes
    }

    /// Reads the form stored in the index; invalid records are left out, and their bytes count as holes.
    init(packed bytes: [UInt8], block: Int64, isSealed: Bool = false) {
        self = []
        guard (0..<Int64.largestPosition / ChunkLedger.blockSize).contains(block) else { return }
        let recordLength = Self.recordLength(isSealed: isSealed)
        bytes.withUnsafeBytes { raw in
            for start in stride(from: 0, through: raw.count - recordLength, by: recordLength) {
                let offset = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt32.self))
                let length = Int32(littleEndian: raw.loadUnaligned(fromByteOffset: start + 4, as: Int32.self))
                // A chunk does not reach into the next block.
                guard (1...Int32(Chunk.alignment)).contains(length),
                    Int64(offset) + Int64(length) <= ChunkLedger.blockSize
                else { continue }
                let position = block * ChunkLedger.blockSize + Int64(offset)
                let proof = start + 8
                if isSealed {
                    let seal = ChunkSeal(bytes: bytes[proof..<proof + ChunkSeal.length])
                    append(Chunk(start: position, length: length, checksum: 0, seal: seal))
                } else {
                    let checksum = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: proof, as: UInt64.self))
                    append(Chunk(start: position, length: length, checksum: checksum))
                }
            }
        }
    }
}
