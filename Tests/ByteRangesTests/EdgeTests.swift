import ByteRanges
import TestLimits
import Testing

/// The ends of `Int64`: nothing traps, and `Int64.max` is an end but not a position.
@Suite(.limit(minutes: 1))
struct EdgeTests {
    static let everything = Int64.min..<Int64.max

    @Test func widestRangeIsLegal() throws {
        var set = ByteRangeSet()
        #expect(set.insert(Self.everything) == true)
        #expect(set.insert(Self.everything) == false)
        try set.checkInvariants()
        #expect(set.bounds == Self.everything)
        #expect(set.contains(Self.everything))
        #expect(set.contains(.min))
        #expect(set.contains(.max - 1))
        #expect(!set.contains(.max))
        #expect(set.firstHole(from: .min) == nil)
        #expect(set.firstHole(in: Self.everything) == nil)
        #expect(set.holes(in: Self.everything).isEmpty)
        #expect(set.storedPrefix(from: .min) == Self.everything)
        #expect(set.storedPrefix(from: .max) == Int64.max..<Int64.max)
    }

    @Test func byteCountStopsAtTheLargestInt64AndRecovers() throws {
        var set = ByteRangeSet(Self.everything)
        #expect(set.byteCount == .max)
        set.remove(0..<1)
        try set.checkInvariants()
        #expect(set.byteCount == .max)
        #expect(Array(set) == [Int64.min..<0, 1..<Int64.max])
        set.remove(Int64.min..<1)
        #expect(set.byteCount == Int64.max - 1)
        set.insert(0..<1)
        #expect(set.byteCount == .max)
    }

    @Test func firstHoleBelowTheLargestInt64() {
        #expect(ByteRangeSet().firstHole(from: .max) == nil)
        #expect(ByteRangeSet().firstHole(from: .max - 1) == Int64.max - 1)
        #expect(ByteRangeSet(10..<Int64.max - 1).firstHole(from: 20) == Int64.max - 1)
        #expect(ByteRangeSet(10..<Int64.max).firstHole(from: 20) == nil)
        #expect(ByteRangeSet(10..<Int64.max).firstHole(from: 5) == 5)
    }

    @Test func adjacencyAtBothEndsDoesNotOverflow() throws {
        var set: ByteRangeSet = [Int64.min..<Int64.min + 1, Int64.max - 1..<Int64.max]
        set.insert(Int64.min + 1..<Int64.min + 2)
        set.insert(Int64.max - 2..<Int64.max - 1)
        set.insert(Int64.min..<Int64.min + 1)
        try set.checkInvariants()
        #expect(Array(set) == [Int64.min..<Int64.min + 2, Int64.max - 2..<Int64.max])
        #expect(set.byteCount == 4)
        set.remove(Int64.min..<Int64.min + 1)
        set.remove(Int64.max - 1..<Int64.max)
        #expect(Array(set) == [Int64.min + 1..<Int64.min + 2, Int64.max - 2..<Int64.max - 1])
        #expect(set.remove(Self.everything) == true)
        #expect(set.isEmpty)
    }

    @Test func algebraReachesBothEnds() throws {
        let middle: ByteRangeSet = [-5..<5]
        let everything = ByteRangeSet(Self.everything)
        let outside = everything.subtracting(middle)
        try outside.checkInvariants()
        #expect(Array(outside) == [Int64.min..<(-5), 5..<Int64.max])
        #expect(outside.union(middle) == everything)
        #expect(outside.symmetricDifference(everything) == middle)
        #expect(outside.intersection(middle).isEmpty)
    }
}
