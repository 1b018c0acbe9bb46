import ByteRanges
import TestLimits
import Testing

/// Long seeded sequences on sets of many chunks.
@Suite(.limit(minutes: 1))
struct RandomTests {
    @Test("A long random history ends like that of a bit array", arguments: [2, 3, 4, 7], [1, 2] as [UInt64])
    func randomHistoryMatchesTheBits(chunkCapacity: Int, seed: UInt64) throws {
        let length: Int64 = 400
        var random = SplitMix64(seed: seed)
        var bits = BitArray(length: Int(length))
        var set = ByteRangeSet(chunkCapacity: chunkCapacity)
        var mostChunks = 0

        for step in 0..<1_000 {
            let range = randomRange(below: length, using: &random)
            let before = set
            // Growth and shrinkage take turns, so that chunks split and join many times.
            let isInsert = Int.random(in: 0..<10, using: &random) < (step / 200 % 2 == 0 ? 7 : 3)
            let didChange = isInsert ? set.insert(range) : set.remove(range)
            bits.set(range, to: isInsert)

            try set.checkInvariants()
            compare(didChange, set != before, "step \(step): \(range)")
            if !set.elementsEqual(bits.spans) { Issue.record("step \(step): \(range) on \(before) gave \(set)") }
            compareQueries(set, bits, in: randomRange(below: length, using: &random))
            mostChunks = max(mostChunks, set.chunkCount)
        }
        #expect(mostChunks > 8)
    }

    /// Mostly short, now and then long enough to span many chunks.
    private func randomRange(below length: Int64, using random: inout SplitMix64) -> Range<Int64> {
        let isLong = Int.random(in: 0..<40, using: &random) == 0
        let lower = Int64.random(in: 0...length, using: &random)
        let count = Int64.random(in: 0...(isLong ? length / 2 : 2), using: &random)
        return lower..<min(length, lower + count)
    }

    private func compareQueries(_ set: ByteRangeSet, _ bits: BitArray, in range: Range<Int64>) {
        let spans = bits.runs(of: true, in: range)
        let holes = bits.runs(of: false, in: range)
        compare(set.spans(in: range), spans, "spans of \(set) in \(range)")
        compare(set.holes(in: range), holes, "holes of \(set) in \(range)")
        compare(set.firstHole(in: range), holes.first, "first hole of \(set) in \(range)")
        compare(set.contains(range), holes.isEmpty, "\(set) contains \(range)")
        compare(set.intersects(range), !spans.isEmpty, "\(set) intersects \(range)")
    }

    @Test("Set algebra on sets of many chunks agrees with the bits", arguments: [3, 10, 60, 300])
    func randomAlgebraMatchesTheBits(otherSize: Int) throws {
        let length: Int64 = 2_000
        var random = SplitMix64(seed: UInt64(otherSize))
        for chunkCapacity in [2, 5, 512] {
            let (one, a) = randomSet(of: 400, below: length, chunkCapacity: chunkCapacity, using: &random)
            let (other, b) = randomSet(of: otherSize, below: length, chunkCapacity: 3, using: &random)
            let results: [(ByteRangeSet, (Bool, Bool) -> Bool)] = [
                (one.union(other), { $0 || $1 }), (other.union(one), { $0 || $1 }),
                (one.intersection(other), { $0 && $1 }), (one.subtracting(other), { $0 && !$1 }),
                (other.subtracting(one), { !$0 && $1 }), (one.symmetricDifference(other), { $0 != $1 }),
            ]
            for (result, keep) in results {
                try result.checkInvariants()
                var bits = BitArray(length: Int(length))
                bits.bits = zip(a.bits, b.bits).map(keep)
                #expect(Array(result) == bits.spans)
            }
        }
    }

    private func randomSet(
        of count: Int, below length: Int64, chunkCapacity: Int, using random: inout SplitMix64
    ) -> (ByteRangeSet, BitArray) {
        var set = ByteRangeSet(chunkCapacity: chunkCapacity)
        var bits = BitArray(length: Int(length))
        for _ in 0..<count {
            let lower = Int64.random(in: 0..<length - 3, using: &random)
            let range = lower..<lower + Int64.random(in: 1...3, using: &random)
            set.insert(range)
            bits.set(range, to: true)
        }
        return (set, bits)
    }

    @Test("Two hundred thousand spans lie in many small chunks, whatever their order of insertion")
    func manySpansAreChunked() throws {
        let count = 200_000
        var random = SplitMix64(seed: 3)
        let starts = (0..<Int64(count)).map { $0 * 10 }.shuffled(using: &random)
        var set = ByteRangeSet()
        for start in starts { set.insert(start..<start + 4) }

        try set.checkInvariants()
        #expect(set.spanCount == count)
        #expect(set.byteCount == Int64(count) * 4)
        #expect(set.bounds == 0..<Int64(count) * 10 - 6)
        // At best full chunks; at worst no two neighbors together under half a chunk.
        #expect(set.chunkCount >= count / set.chunkCapacity)
        #expect(set.chunkCount <= 4 * count / set.chunkCapacity + 1)

        let ascending = ByteRangeSet((0..<Int64(count)).map { $0 * 10..<$0 * 10 + 4 })
        #expect(ascending.chunkCount == (count + ascending.chunkCapacity - 1) / ascending.chunkCapacity)
        #expect(set == ascending)

        set.remove(5..<Int64(count) * 10 - 15)
        try set.checkInvariants()
        #expect(Array(set) == [0..<4, Int64(count) * 10 - 10..<Int64(count) * 10 - 6])
        #expect(set.chunkCount == 1)
    }

    @Test("Chunks emptied span by span are joined again")
    func thinnedChunksAreJoined() throws {
        var random = SplitMix64(seed: 4)
        var set = ByteRangeSet((0..<20_000).map { Int64($0) * 2..<Int64($0) * 2 + 1 })
        for start in (0..<20_000).shuffled(using: &random).dropLast(100) {
            set.remove(Int64(start) * 2..<Int64(start) * 2 + 1)
        }
        try set.checkInvariants()
        #expect(set.spanCount == 100)
        #expect(set.chunkCount == 1)
    }
}
