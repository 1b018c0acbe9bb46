import ByteRanges
import Testing

@testable import Reprise

/// How far a fetch runs ahead of its readers.
@Suite struct FetchInterestTests {
    private static let kilobyte: Int64 = 1 << 10

    private static func interest(
        readerAt consumed: Int64, from start: Int64 = 0, end: Int64? = nil, fetchAt cursor: Int64,
        isAwaited: Bool = false, reach: FetchInterest.Reach = .init(), stored: ByteRangeSet? = nil
    ) -> FetchInterest {
        let reader = FetchSchedule.Reader(
            start: start, end: end, demand: .playing, rangeFallback: .wait, consumed: consumed, delivered: consumed,
            stored: ByteRangeSet())
        let fetch = FetchSchedule.Fetch(start: 0, cursor: cursor, limit: nil, owner: nil)
        return FetchInterest(
            of: reader, in: fetch, isAwaited: isAwaited, reach: reach, stored: stored ?? [0..<cursor])
    }

    @Test func whatAReaderWaitsForIsWantedAtOnce() {
        #expect(Self.interest(readerAt: 500, fetchAt: 0, isAwaited: true) == .now)
    }

    @Test(
        "the lead is 1/256 of what was consumed, between 32 KiB and 1 MiB",
        arguments: [
            (0, 32), (8 << 10, 32), (16 << 10, 64), (256 << 10, 1024), (1024 << 10, 1024),
        ] as [(consumed: Int64, lead: Int64)])
    func theLeadGrows(consumed: Int64, lead: Int64) {
        let position = consumed * Self.kilobyte
        let edge = position + lead * Self.kilobyte
        #expect(Self.interest(readerAt: position, fetchAt: edge - 1) == .now)
        #expect(Self.interest(readerAt: position, fetchAt: edge) == .later)
    }

    @Test func bytesElsewhereAreNotWanted() {
        #expect(Self.interest(readerAt: 2000, fetchAt: 1000) == .none, "behind the reader")
        #expect(Self.interest(readerAt: 0, end: 1000, fetchAt: 1000) == .none, "beyond its range")
        #expect(Self.interest(readerAt: 0, fetchAt: 1000, stored: [0..<500]) == .none, "a hole comes first")
        #expect(Self.interest(readerAt: 1000, fetchAt: 1000, stored: []) == .now, "the very next byte")
    }

    @Test func whatIsReadAheadComesAfterWhatIsReadSoon() {
        let reach = FetchInterest.Reach(bytes: 5 << 20)
        #expect(Self.interest(readerAt: 0, fetchAt: (32 << 10) - 1, reach: reach) == .now, "the usual lead")
        #expect(Self.interest(readerAt: 0, fetchAt: 32 << 10, reach: reach) == .ahead)
        #expect(Self.interest(readerAt: 0, fetchAt: (5 << 20) - 1, reach: reach) == .ahead)
        #expect(Self.interest(readerAt: 0, fetchAt: 5 << 20, reach: reach) == .later)
        #expect(Self.interest(readerAt: 0, end: 1000, fetchAt: 1000, reach: reach) == .none, "beyond its range")
        #expect(Self.interest(readerAt: 0, end: 1000, fetchAt: 1000, reach: .whole) == .ahead)
        #expect(Self.interest(readerAt: 0, fetchAt: (32 << 10) - 1, reach: .init(bytes: 1)) == .now, "the usual lead")
    }

    @Test func oneThatRunsAheadIsWantedUpToItsEnd() {
        #expect(Self.interest(readerAt: 0, fetchAt: 1 << 30, reach: .toEnd) == .now)
        #expect(Self.interest(readerAt: 0, end: 1000, fetchAt: 1000, reach: .toEnd) == .now, "beyond its range, too")
        #expect(Self.interest(readerAt: 2000, fetchAt: 1000, reach: .toEnd) == .none, "behind the reader")
        #expect(Self.interest(readerAt: 0, fetchAt: 1000, reach: .toEnd, stored: [0..<500]) == .none)
    }
}
