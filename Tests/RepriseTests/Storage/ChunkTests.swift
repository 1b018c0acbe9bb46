import ByteRanges
import Testing

@testable import Reprise

@Suite struct ChunkTests {
    private static func sum(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { XXHash64.checksum(of: $0) } }

    private static func cut(_ cutter: inout ChunkCutter, _ bytes: [UInt8], at offset: Int64) -> [Chunk] {
        bytes.withUnsafeBytes { cutter.append($0, at: offset) }
    }

    @Test func chunksEndAtMultiplesOf64KiBAndWhereTheDownloadStopped() {
        var cutter = ChunkCutter()
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let finished = Self.cut(&cutter, bytes, at: 1000)
        #expect(finished == [Chunk(start: 1000, length: 64_536, checksum: Self.sum(Array(bytes[..<64_536])))])
        #expect(cutter.finish() == Chunk(start: 65_536, length: 35_464, checksum: Self.sum(Array(bytes[64_536...]))))
        #expect(cutter.finish() == nil)
    }

    @Test func aJumpEndsTheOpenChunk() {
        var cutter = ChunkCutter()
        #expect(Self.cut(&cutter, [1, 2, 3], at: 10).isEmpty)
        #expect(Self.cut(&cutter, [4], at: 50) == [Chunk(start: 10, length: 3, checksum: Self.sum([1, 2, 3]))])
        #expect(cutter.finish() == Chunk(start: 50, length: 1, checksum: Self.sum([4])))
    }

    @Test func smallPiecesJoinIntoOneChunk() {
        var cutter = ChunkCutter()
        for index in 0..<10 { #expect(Self.cut(&cutter, [UInt8(index)], at: Int64(index)).isEmpty) }
        #expect(cutter.finish() == Chunk(start: 0, length: 10, checksum: Self.sum(Array(0..<10))))
    }

    @Test func recordsSurvivePackingAndNonsenseIsLeftOut() {
        let chunks = [
            Chunk(start: 3 << 20, length: 65_536, checksum: .max),
            Chunk(start: (3 << 20) + 70_000, length: 1, checksum: 0),
        ]
        #expect([Chunk](packed: chunks.packed, block: 3) == chunks)
        #expect([Chunk](packed: chunks.packed + [1, 2, 3], block: 3) == chunks, "a torn record")
        var hostile = chunks.packed
        hostile.replaceSubrange(4..<8, with: [255, 255, 255, 255])
        #expect([Chunk](packed: hostile, block: 3) == [chunks[1]], "a negative length")
        #expect([Chunk](packed: chunks.packed, block: .max).isEmpty)
        #expect([Chunk](packed: chunks.packed, block: -1).isEmpty)
    }

    @Test func theLedgerGivesWholeRowsOnce() {
        let ledger = ChunkLedger()
        let first = Chunk(start: 0, length: 10, checksum: 1)
        let second = Chunk(start: 2 << 20, length: 5, checksum: 2)
        ledger.add([first, second])
        #expect(ledger.hasUnrecorded)
        let rows = ledger.takeUnrecorded().sorted { $0.block < $1.block }
        #expect(rows.map(\.block) == [0, 2])
        #expect(rows.map(\.chunks) == [[first], [second]])
        #expect(ledger.takeUnrecorded().isEmpty)
        let third = Chunk(start: 10, length: 10, checksum: 3)
        ledger.add([third])
        #expect(ledger.takeUnrecorded().map(\.chunks) == [[first, third]], "the row of a block is always whole")
        #expect(ledger.ranges == ByteRangeSet([0..<20, 2 << 20..<(2 << 20) + 5]))
        #expect(ledger.chunks(overlapping: 9..<11) == [first, third])
        ledger.discard([first])
        #expect(ledger.ranges == ByteRangeSet([10..<20, 2 << 20..<(2 << 20) + 5]))
        #expect(ledger.takeUnrecorded().map(\.chunks) == [[third]])
    }
}
