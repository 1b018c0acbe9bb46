import ByteRanges

/// How much a reader wants the next byte of a fetch.
///
/// Pure. A fetch runs ahead of its readers by a bounded lead, and reads no further until one of them moves.
enum FetchInterest: Comparable, Sendable {
    /// Not at all: it wants bytes elsewhere, or a hole lies in between.
    case none
    /// After earlier bytes that it has not taken yet.
    case later
    /// Before it comes to them, and after what players wait for.
    case ahead
    /// At once.
    case now

    /// A reader is given a lead of 1/256 of what it has consumed, within these bounds: one that leaves early has cost
    /// the origin at most this much, one that stays gets its full 1 MiB.
    static let leadDivisor: Int64 = 256
    static let leadBounds: ClosedRange<Int64> = 32 << 10...1 << 20

    /// How far fetches run ahead of a reader beyond its usual lead.
    struct Reach: Sendable, Hashable {
        /// Bytes behind the last one that it took.
        var bytes: Int64 = 0
        /// Whether the end of its range is no end.
        var passesEnd = false
        /// Whether all of it is as urgent as what the reader comes to next.
        var isUrgent = false

        /// The whole file, at once: another response would not bring the same.
        static let toEnd = Reach(bytes: .max, passesEnd: true, isUrgent: true)
        /// The whole file.
        static let whole = Reach(bytes: .max, passesEnd: true)
    }

    /// `isAwaited` says that the reader waits for this very fetch, `stored` is what the generation has.
    init(
        of reader: FetchSchedule.Reader, in fetch: FetchSchedule.Fetch, isAwaited: Bool, reach: Reach = Reach(),
        stored: ByteRangeSet
    ) {
        guard !isAwaited else {
            self = .now
            return
        }
        guard reader.consumed <= fetch.cursor, reach.passesEnd || (reader.end ?? .max) > fetch.cursor,
            reader.consumed == fetch.cursor
                || stored.storedPrefix(from: reader.consumed).upperBound >= fetch.cursor
        else {
            self = .none
            return
        }
        let distance = fetch.cursor - reader.consumed
        let isNext = distance < Self.lead(of: reader) && (reader.end ?? .max) > fetch.cursor
        self = isNext ? .now : distance >= reach.bytes ? .later : reach.isUrgent ? .now : .ahead
    }

    private static func lead(of reader: FetchSchedule.Reader) -> Int64 {
        let share = (reader.consumed - reader.start) / leadDivisor
        return min(max(share, leadBounds.lowerBound), leadBounds.upperBound)
    }
}
