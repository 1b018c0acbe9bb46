import HTTPSemantics
import Testing

@testable import Reprise

/// What a range means, with a length and without (RFC 9110 §14.1.2).
@Suite struct ReadExtentTests {
    private static func bounds(_ spec: RangeSpec?, of length: Int64?) -> [Int64?]? {
        ReadExtent(spec, completeLength: length).map { [$0.start, $0.end] }
    }

    @Test func aKnownLengthCutsTheRange() {
        #expect(Self.bounds(nil, of: 1000) == [0, 1000])
        #expect(Self.bounds(.bounded(10..<20), of: 1000) == [10, 20])
        #expect(Self.bounds(.bounded(990..<2000), of: 1000) == [990, 1000])
        #expect(Self.bounds(.from(10), of: 1000) == [10, 1000])
        #expect(Self.bounds(.suffix(10), of: 1000) == [990, 1000])
        #expect(Self.bounds(.suffix(2000), of: 1000) == [0, 1000])
    }

    @Test func beyondAKnownLengthIsNothing() {
        #expect(Self.bounds(.from(1000), of: 1000) == nil)
        #expect(Self.bounds(.bounded(1000..<1001), of: 1000) == nil)
        #expect(ReadExtent.notSatisfiable(1000).code == .rangeNotSatisfiable)
    }

    @Test("a suffix of an unknown length is the whole (RFC 9110 §14.2)")
    func anUnknownLengthLeavesTheEndOpen() {
        #expect(Self.bounds(nil, of: nil) == [0, nil])
        #expect(Self.bounds(.from(10), of: nil) == [10, nil])
        #expect(Self.bounds(.bounded(10..<20), of: nil) == [10, 20])
        #expect(Self.bounds(.suffix(10), of: nil) == [0, nil])
    }
}
