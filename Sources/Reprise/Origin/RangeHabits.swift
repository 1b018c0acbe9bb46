import HTTPSemantics
import Primitives

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
