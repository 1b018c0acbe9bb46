import HTTPSemantics
import Primitives

/// The forms of a request for missing bytes, from the most exact to the most widely supported.
///
/// Some origins fail for a form that the player never used, such as `bytes=a-b`.
struct RangeForms: Sendable, Equatable {
    /// How far a request may reach beyond the missing bytes.
    enum Bound: Sendable, Equatable {
        /// Up to the end of the file, because a reader requested it or no player is waiting.
        case open
        /// Up to the end of the player's own range and no further, because the player may depend on its bounds.
        case player(Int64)
    }

    /// The current form; `nil` requests the whole representation, without Range.
    private(set) var current: RangeSpec?
    /// The fallback forms if an origin fails for ``current``, in order.
    private var others: [RangeSpec?]

    /// Creates the forms of a request for `range` of a representation with that length.
    ///
    /// `needsOpenEnd` means that the host is known to fail for the exact form.
    init(_ range: Range<Int64>, within bound: Bound, completeLength: Int64?, needsOpenEnd: Bool = false) {
        let reachesEnd = range.upperBound == .max || range.upperBound == completeLength
        var forms: [RangeSpec?] = []
        switch bound {
        case .open:
            if !reachesEnd { forms.append(.bounded(range)) }
            forms.append(.from(range.lowerBound))
        case .player(let end):
            forms.append(.bounded(range))
            if end > range.upperBound { forms.append(.bounded(range.lowerBound..<end)) }
        }
        if needsOpenEnd, forms.count > 1 { forms.removeFirst() }
        self.init(forms + [nil])
    }

    /// Creates a single form without fallbacks.
    init(only range: RangeSpec?) { self.init([range]) }

    /// Creates the form `range` as requested by a reader, with fallbacks if the range may be widened.
    init(_ range: RangeSpec?, mayWiden: Bool) {
        switch range {
        case .bounded(let bytes)? where mayWiden: self.init(bytes, within: .open, completeLength: nil)
        case .from? where mayWiden: self.init([range, nil])
        default: self.init(only: range)
        }
    }

    private init(_ forms: [RangeSpec?]) {
        current = forms[0]
        others = Array(forms.dropFirst())
    }

    /// Whether another form is left that requests a range.
    var hasOtherRange: Bool { others.contains { $0 != nil } }

    /// Advances to the next form; returns false if there is none.
    mutating func advance() -> Bool {
        guard !others.isEmpty else { return false }
        current = others.removeFirst()
        return true
    }
}

extension ResponseAction {
    /// Whether the form of the range may have caused the failure, so that another form can help.
    ///
    /// That is the case if the origin sent a different part, or rejected the request with `status` 400, 416 or 501.
    func isFaultOfForm(status: Int) -> Bool {
        switch self {
        case .reject(.invalidContentRange), .reject(.multipart), .reject(.wrongStart), .reject(.contentLength): true
        case .retryWithoutRange, .passThrough(.contradictoryRange): true
        case .refusal: [400, 416, 501].contains(status)
        default: false
        }
    }
}

/// Hosts that are known to answer range requests in violation of RFC 9110.
///
/// Kept in memory only, for ``memory``, because a host may be fixed.
final class RangeHabits: Sendable {
    enum Habit: Sendable {
        /// Sends the whole representation or an error for any If-Range, even if the condition is true.
        case ignoresIfRange
        /// Answers ranges with an end incorrectly or with errors, but handles open-ended ranges.
        case needsOpenEnds

        /// A user-facing description of the behavior.
        var words: String {
            switch self {
            case .ignoresIfRange:
                "It sends the whole file or an error if the request has If-Range, although the file is unchanged."
            case .needsOpenEnds: "It fails at ranges with an end (bytes=a-b), and sends those without (bytes=a-)."
            }
        }
    }

    /// How long a habit is remembered after it was last observed.
    static let memory = Duration.seconds(3600)
    /// Maximum number of hosts remembered per habit.
    private static let most = 256

    private let clock: CacheClock
    private let seen = Mutex<[Habit: [String: Duration]]>([:])

    init(clock: CacheClock) { self.clock = clock }

    /// Whether the habit was observed recently at the host and port in `authority`.
    func has(_ habit: Habit, at authority: String) -> Bool {
        let now = clock.elapsed()
        return seen.withLock { $0[habit]?[authority].map { now - $0 < Self.memory } ?? false }
    }

    /// Records that the habit was observed at the host and port in `authority`.
    func note(_ habit: Habit, at authority: String) {
        let now = clock.elapsed()
        seen.withLock { seen in
            var hosts = seen[habit, default: [:]]
            hosts[authority] = now
            if hosts.count > Self.most, let oldest = hosts.min(by: { $0.value < $1.value })?.key { hosts[oldest] = nil }
            seen[habit] = hosts
        }
    }
}

/// What a reader does where the origin sends the whole in place of a range (RFC 9110 §14.2).
enum RangeFallback: Sendable {
    /// Waits until its bytes have come.
    case wait
    /// Waits, and keeps the response, paused behind its bytes, until it leaves: later readers go on with it.
    case keep
    /// Fails with code `rangesUnsupported`: its bytes are not worth those before them.
    case fail
}
