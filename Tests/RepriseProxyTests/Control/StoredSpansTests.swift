import ByteRanges
import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct StoredSpansTests {
    @Test("all spans if there are few", arguments: [3, 4, 100]) func few(count: Int) {
        let set = ByteRangeSet([0..<10, 20..<30, 40..<50])
        #expect(set.shownSpans(atMost: count) == [[0, 10], [20, 30], [40, 50]])
    }

    @Test("of more, those with the narrowest holes between them become one") func narrowestHoles() {
        let set = ByteRangeSet([0..<10, 11..<20, 100..<110, 130..<140, 142..<150])
        #expect(set.shownSpans(atMost: 4) == [[0, 20], [100, 110], [130, 140], [142, 150]])
        #expect(set.shownSpans(atMost: 3) == [[0, 20], [100, 110], [130, 150]])
        #expect(set.shownSpans(atMost: 2) == [[0, 20], [100, 150]])
        #expect(set.shownSpans(atMost: 1) == [[0, 150]])
        #expect(set.shownSpans(atMost: 0) == [])
    }

    @Test("of equal holes the later ones are closed") func equalHoles() {
        let set = ByteRangeSet((0..<100).map { Int64($0) * 10..<Int64($0) * 10 + 5 })
        let spans = set.shownSpans(atMost: 10)
        #expect(spans.count == 10)
        #expect(spans.first == [0, 5] && spans.last == [90, 995])
        #expect(ByteRangeSet().shownSpans(atMost: 10).isEmpty)
    }
}
