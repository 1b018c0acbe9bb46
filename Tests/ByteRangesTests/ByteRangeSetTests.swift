import ByteRanges
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct ByteRangeSetTests {
    @Test func emptySetHasNothing() throws {
        let set = ByteRangeSet()
        try set.checkInvariants()
        #expect(set.isEmpty)
        #expect(set.spanCount == 0)
        #expect(set.byteCount == 0)
        #expect(set.bounds == nil)
        #expect(Array(set).isEmpty)
        #expect(set.storedPrefix(from: 7) == 7..<7)
        #expect(set.firstHole(from: 7) == 7)
        #expect(set.firstHole(in: 3..<9) == 3..<9)
        #expect(set == ByteRangeSet(5..<5))
        #expect(set == [])
    }

    @Test func touchingSpansJoinAndOthersStayApart() {
        var set: ByteRangeSet = [2..<5]
        set.insert(5..<8)
        #expect(Array(set) == [2..<8])
        set.insert(9..<10)
        #expect(Array(set) == [2..<8, 9..<10])
        set.insert(0..<2)
        #expect(Array(set) == [0..<8, 9..<10])
        set.insert(8..<9)
        #expect(Array(set) == [0..<10])
    }

    @Test func insertingTwiceChangesNothingTheSecondTime() {
        var set: ByteRangeSet = [10..<20, 30..<40]
        for range in [12..<18, 10..<20, 30..<40, 35..<40] as [Range<Int64>] {
            #expect(set.insert(range) == false)
        }
        #expect(set.insert(15..<35) == true)
        #expect(set.insert(15..<35) == false)
        #expect(Array(set) == [10..<40])
    }

    @Test func removingTwiceChangesNothingTheSecondTime() {
        var set: ByteRangeSet = [10..<20, 30..<40]
        #expect(set.remove(15..<35) == true)
        #expect(set.remove(15..<35) == false)
        #expect(set.remove(20..<30) == false)
        #expect(set.remove(0..<10) == false)
        #expect(Array(set) == [10..<15, 35..<40])
    }

    @Test func emptyRangeIsNoOpAndIsContainedEverywhere() {
        var set: ByteRangeSet = [10..<20]
        for position in [5, 10, 15, 20, 25, .min, .max] as [Int64] {
            let empty = position..<position
            #expect(set.insert(empty) == false)
            #expect(set.remove(empty) == false)
            #expect(set.contains(empty))
            #expect(!set.intersects(empty))
            #expect(set.spans(in: empty).isEmpty)
            #expect(set.holes(in: empty).isEmpty)
            #expect(set.firstHole(in: empty) == nil)
        }
        #expect(Array(set) == [10..<20])
    }

    @Test func rangesComeInAnyOrderAndMayOverlap() {
        let set = ByteRangeSet([30..<40, 0..<10, 35..<50, 10..<10, 5..<12])
        #expect(Array(set) == [0..<12, 30..<50])
        #expect(set.underestimatedCount == 2)
        #expect(set.description == "[0..<12, 30..<50]")
    }

    @Test func removeAllLeavesUsableEmptySet() throws {
        var set = ByteRangeSet((0..<2_000).map { Int64($0) * 2..<Int64($0) * 2 + 1 })
        set.removeAll()
        try set.checkInvariants()
        #expect(set == ByteRangeSet())
        set.insert(1..<2)
        #expect(Array(set) == [1..<2])
    }

    @Test("A copy keeps its spans when the original changes, in the tail as well as in full chunks")
    func copyIsUnaffected() {
        let spans = (0..<20).map { Int64($0) * 10..<Int64($0) * 10 + 5 }
        let original = ByteRangeSet(spans, chunkCapacity: 4)
        let changes: [(inout ByteRangeSet) -> Void] = [
            { $0.insert(195..<300) }, { $0.insert(400..<401) }, { $0.insert(7..<8) }, { $0.insert(0..<150) },
            { $0.remove(2..<3) }, { $0.remove(0..<190) }, { $0.removeAll() }, { $0.formUnion([6..<7]) },
            { $0.subtract([0..<1]) }, { $0.formIntersection([0..<3]) }, { $0.formSymmetricDifference([0..<3]) },
        ]
        for change in changes {
            var copy = original
            change(&copy)
            #expect(copy != original)
            #expect(Array(original) == spans)
        }
    }

    @Test func iteratorKeepsTheSpansItStartedWith() {
        var set: ByteRangeSet = [0..<1, 2..<3, 4..<5]
        var seen: [Range<Int64>] = []
        for span in set {
            seen.append(span)
            set.removeAll()
        }
        #expect(seen == [0..<1, 2..<3, 4..<5])
    }

    @Test func equalityAndHashIgnoreHistoryAndChunks() {
        let spans = (0..<40).map { Int64($0) * 3..<Int64($0) * 3 + 2 }
        let ascending = ByteRangeSet(spans)
        let descending = ByteRangeSet(spans.reversed(), chunkCapacity: 2)
        var carved = ByteRangeSet([0..<119], chunkCapacity: 3)
        for position in stride(from: Int64(2), to: 119, by: 3) { carved.remove(position..<position + 1) }

        #expect(ascending == descending)
        #expect(ascending == carved)
        #expect(Set([ascending, descending, carved]).count == 1)
        carved.remove(0..<1)
        #expect(ascending != carved)
        // The same counts do not make the same set.
        #expect(ByteRangeSet([0..<2, 5..<6]) != ByteRangeSet([0..<1, 4..<6]))
    }
}
