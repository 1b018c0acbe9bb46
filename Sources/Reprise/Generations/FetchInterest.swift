import ByteRanges

/// How much a reader wants the next byte of a fetch.
///
/// Pure. A fetch runs ahead of its readers by a bounded lead, and reads no further until one of them moves.
enum FetchInterest: Comparable, Sendable {
    /// Not at all: it wants bytes elsewhere, or a hole lies in between.
    case none
    /// After earlier bytes that it has not taken yet.
    case later
    /// At once.
    case now

    /// A reader is given a lead of 1/256 of what it has consumed, within these bounds: one that leaves early has cost
    /// the origin at most this much, one that stays gets its full 1 MiB.
    static let leadDivisor: Int64 = 256
    static let leadBounds: ClosedRange<Int64> = 32 << 10...1 << 20

    /// `isAwaited` says that the reader waits for this very fetch, `stored` is what the generation has.
    ///
    /// `runsAhead` says that the reader wants all that follows.
    init(
        of reader: FetchSchedule.Reader, in fetch: FetchSchedule.Fetch, isAwaited: Bool, runsAhead: Bool = false,
        stored: ByteRangeSet
    ) {
        guard !isAwaited else {
            self = .now
            return
        }
        guard reader.consumed <= fetch.cursor, runsAhead || (reader.end ?? .max) > fetch.cursor,
            reader.consumed == fetch.cursor
                || stored.storedPrefix(from: reader.consumed).upperBound >= fetch.cursor
        else {
            self = .none
            return
        }
        self = runsAhead || fetch.cursor - reader.consumed < Self.lead(of: reader) ? .now : .later
    }

    private static func lead(of reader: FetchSchedule.Reader) -> Int64 {
        let share = (reader.consumed - reader.start) / leadDivisor
        return min(max(share, leadBounds.lowerBound), leadBounds.upperBound)
    }
}
