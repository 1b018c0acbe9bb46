import ByteRanges

/// The vocabulary of the machine: readers, fetches, and the effects for its owner.
extension FetchSchedule {
    struct ReaderID: Hashable, Sendable { let number: UInt64 }
    struct FetchID: Hashable, Sendable { let number: UInt64 }

    /// A consumer of `start ..< end`.
    struct Reader: Sendable {
        let start: Int64
        /// End of the wanted range, exclusive; `nil` for the end of a representation of unknown length.
        let end: Int64?
        /// What the reader wants the bytes for.
        let demand: Demand
        let rangeFallback: RangeFallback
        /// Whether its range had an end of its own, which requests for a player must not pass.
        var isBounded = false
        /// Everything before this offset is consumed: the caller came back for more.
        var consumed: Int64
        /// Everything before this offset is delivered.
        var delivered: Int64
        /// The stored ranges when the read began; distinguishes hits from joined bytes.
        var stored: ByteRangeSet
        /// Bytes brought by this reader's own fetches.
        var own = ByteRangeSet()
        var waitingOn: FetchID?
        var failure: RepriseError?
        /// Whether the next hole bypasses the store, because the fetch that it waited for got stuck.
        var bypassesHole = false
        /// Whether holes that it has not come to are fetched, if the configuration reads ahead.
        var readsAhead = true
        /// The request to send if the origin has to be asked for it; only carried, as ``parked``.
        var request: SharedRequest?
        /// Its wait, while it waits.
        var parked: ParkedReader?

        /// Where the first byte of `range` came from, and how far the bytes behind it came from there, too.
        func source(of range: Range<Int64>) -> (source: PieceSource, end: Int64) {
            let before = stored.storedPrefix(from: range.lowerBound)
            if !before.isEmpty { return (.store, min(range.upperBound, before.upperBound)) }
            let mine = own.storedPrefix(from: range.lowerBound)
            if !mine.isEmpty { return (.origin, min(range.upperBound, mine.upperBound)) }
            let others = [stored, own].compactMap { $0.spans(in: range).first?.lowerBound }
            return (.joined, others.min() ?? range.upperBound)
        }
    }

    /// A request to the origin that is under way.
    struct Fetch: Sendable {
        enum Phase: Sendable {
            /// Readers want it; it runs as fast as they read.
            case active
            /// No reader wants it, but so little is missing that it finishes by itself.
            case finishing
            /// No reader wants it. Its socket is not read; a player that comes back within the linger time takes it
            /// over.
            case lingering
            /// Canceled; bytes that had already arrived are still being stored.
            case ending
        }

        let start: Int64
        /// Next byte to arrive.
        var cursor: Int64
        /// End of its range, exclusive; moves down when another fetch takes over the tail.
        ///
        /// `nil` for an unknown end.
        var limit: Int64?
        let owner: ReaderID?
        /// The highest class of the readers that want its bytes; `nil` once it only finishes.
        var demand: Demand?
        var phase = Phase.active
        /// Whether a response has arrived; only then a canceled fetch still has bytes to store.
        var hasResponse = false
        /// Whether it was as far ahead as it may be, so that it goes on only once a part of that is used up.
        var isFull = false
        /// What runs for it; only carried.
        var handle: FetchHandle?

        var remaining: Int64 { (limit ?? .max) - cursor }
        /// Whether `position` will be reached unless something intervenes.
        func covers(_ position: Int64) -> Bool { cursor <= position && position < (limit ?? .max) }
    }

    /// How far fetches run ahead of readers that play.
    enum Ahead: Sendable, Equatable {
        /// By a bounded lead: ``FetchInterest/leadBounds``.
        case asRead
        /// By so many bytes, within what the reader requested, after what players wait for.
        case by(Int64)
        /// To the end of the file, while a reader plays behind it, after what players wait for.
        case whole
        /// To the end of the file, while a reader plays behind it.
        case toEnd
        /// To the end of the file, wherever its readers are by then: no other response brings the rest.
        case toEndAlone
    }

    /// Why only stored bytes are still served.
    enum Freeze: Sendable {
        /// The origin has another representation.
        case replaced
        /// The stored bytes end, and no validator shows that the origin's response continues them.
        case unproven
        /// The entry was removed.
        case removed
        /// The cache was closed.
        case closed

        /// The error for a reader that comes to a hole at `position`.
        func error(at position: Int64) -> RepriseError {
            let range = position..<position + 1
            return switch self {
            case .replaced:
                RepriseError(
                    .validatorChanged, "The file changed at the origin while it was being read. Read it again.",
                    range: range)
            case .unproven:
                RepriseError(
                    .validatorChanged,
                    "The rest cannot be joined to the part that has arrived: the origin names no validator (a strong ETag "
                        + "or a Last-Modified date) that shows that both are the same. Read it again to fetch it from "
                        + "its beginning.",
                    range: range)
            case .removed:
                RepriseError(
                    .validatorChanged, "The entry was removed from the cache while it was being read. Read it again.",
                    range: range)
            case .closed: RepriseError(.closed, "The cache was closed while the file was being read.", range: range)
            }
        }
    }

    /// A decision for the owner to carry out, in the order in which they were made.
    enum Effect: Sendable, Equatable {
        /// Send a request for `range` and report to the fetch. An upper bound of `Int64.max` means the end.
        case start(FetchID, Range<Int64>)
        /// Readers of this class want the fetch now, or none does: pass that on to its request.
        case demand(FetchID, Demand?)
        /// A parked fetch may continue.
        case resume(FetchID)
        /// Cancel after `linger` unless a reader wants it again.
        case linger(FetchID)
        /// Cancel now; keep the bytes that have arrived.
        case cancel(FetchID)
        /// A waiting reader should ask again.
        case wake(ReaderID)
    }

    /// The answer to a reader that asks for its next piece.
    enum Next: Sendable {
        case piece(Range<Int64>, PieceSource)
        /// These stored bytes must be checked first.
        case verify(Range<Int64>)
        case wait
        case end
        /// Nothing can be stored, or the fetch of these bytes got stuck: stream them without storing them.
        case direct(from: Int64, to: Int64?)
        case fail(RepriseError)
    }

    /// What a fetch does after it has stored some bytes.
    enum Verdict: Sendable, Equatable { case go, pause, finished }
}

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
