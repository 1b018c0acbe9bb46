import ByteRanges
import HTTPSemantics

@testable import Reprise

/// Chunks: how a body is cut into them, and how their records are read.
enum ChunkTargets {
    /// The input is a list of pieces of 4 bytes: how far to jump before each, and how long it is.
    static func cut(_ bytes: [UInt8]) {
        for base in [0, Int64.largestPosition - 8 << 20] {
            var cutter = ChunkCutter()
            var chunks: [Chunk] = []
            var written = ByteRangeSet()
            var offset: Int64 = base
            for start in stride(from: 0, to: bytes.count - 3, by: 4) {
                offset += Int64(bytes[start]) * 4096
                let length = Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
                guard offset + Int64(length) <= .largestPosition else { break }
                let piece = [UInt8](repeating: bytes[start + 3], count: length)
                chunks += piece.withUnsafeBytes { cutter.append($0, at: offset) }
                written.insert(offset..<offset + Int64(length))
                offset += Int64(length)
            }
            if let last = cutter.finish() { chunks.append(last) }
            check(chunks, written)
        }
    }

    private static func check(_ chunks: [Chunk], _ written: ByteRangeSet) {
        precondition(ByteRangeSet(chunks.map(\.range)) == written)
        var count: Int64 = 0
        for chunk in chunks {
            precondition(chunk.length > 0 && chunk.count <= Chunk.alignment)
            precondition(chunk.start / Chunk.alignment == (chunk.range.upperBound - 1) / Chunk.alignment)
            count += chunk.count
        }
        precondition(count == written.byteCount)
        for (block, chunks) in Dictionary(grouping: chunks, by: { $0.start / ChunkLedger.blockSize }) {
            precondition([Chunk](packed: chunks.packed, block: block) == chunks)
        }
    }

    /// The input is a record of the index, after 8 bytes with the number of its block.
    static func read(_ bytes: [UInt8]) {
        guard bytes.count >= 8 else { return }
        let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let last = Int64.largestPosition / ChunkLedger.blockSize - 1
        for block in [Int64(bitPattern: number), Int64(bitPattern: number % UInt64(last)), 0, last] {
            for isSealed in [false, true] {
                check([Chunk](packed: Array(bytes.dropFirst(8)), block: block, isSealed: isSealed), block: block)
            }
        }
    }

    private static func check(_ chunks: [Chunk], block: Int64) {
        let place = block &* ChunkLedger.blockSize
        for chunk in chunks {
            precondition(chunk.start >= place && chunk.range.upperBound <= place + ChunkLedger.blockSize)
            precondition(chunk.range.upperBound <= .largestPosition)
        }
        let ledger = ChunkLedger(blocks: chunks.isEmpty ? [:] : [block: chunks])
        let ranges = ledger.ranges
        _ = Allocation(ranges).usage
        guard let bounds = ranges.bounds else { return }
        precondition(!ledger.chunks(overlapping: bounds).isEmpty)
        var machine = FetchSchedule(completeLength: nil, rangesSupported: true, stored: ranges)
        let reader = machine.addReader(bounds.upperBound, to: nil)
        _ = machine.next(reader, joinDistance: 0)
        _ = machine.extents(freeing: .max, leased: [bounds])
    }
}
