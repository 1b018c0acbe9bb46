import ByteRanges
import Testing

@testable import Reprise

/// How far a fetch runs ahead of its readers.
@Suite struct FetchInterestTests {
    private static let kilobyte: Int64 = 1 << 10

    private static func interest(
        readerAt consumed: Int64, from start: Int64 = 0, end: Int64? = nil, fetchAt cursor: Int64,
        isAwaited: Bool = false, runsAhead: Bool = false, stored: ByteRangeSet? = nil
    ) -> FetchInterest {
        let reader = FetchSchedule.Reader(
            start: start, end: end, demand: .playing, consumed: consumed, delivered: consumed,
            stored: ByteRangeSet())
        let fetch = FetchSchedule.Fetch(start: 0, cursor: cursor, limit: nil, owner: nil)
        return FetchInterest(
            of: reader, in: fetch, isAwaited: isAwaited, runsAhead: runsAhead, stored: stored ?? [0..<cursor])
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

    @Test func oneThatRunsAheadIsWantedUpToItsEnd() {
        #expect(Self.interest(readerAt: 0, fetchAt: 1 << 30, runsAhead: true) == .now)
        #expect(Self.interest(readerAt: 0, end: 1000, fetchAt: 1000, runsAhead: true) == .now, "beyond its range, too")
        #expect(Self.interest(readerAt: 2000, fetchAt: 1000, runsAhead: true) == .none, "behind the reader")
        #expect(Self.interest(readerAt: 0, fetchAt: 1000, runsAhead: true, stored: [0..<500]) == .none)
    }
}
