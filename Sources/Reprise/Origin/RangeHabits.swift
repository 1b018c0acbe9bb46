import HTTPSemantics
import Primitives

/// What was learned of hosts that answer requests for ranges otherwise than RFC 9110 says.
///
/// In memory only, and for ``memory``: a host may be repaired.
final class RangeHabits: Sendable {
    enum Habit: Sendable {
        /// Sends the whole for any If-Range, also for one that holds.
        case ignoresIfRange
        /// Sends wrong answers or errors to ranges with an end, and right ones to those without.
        case needsOpenEnds

        /// What the host does, for people.
        var words: String {
            switch self {
            case .ignoresIfRange: "It sends the whole file if the request has If-Range, although the file is unchanged."
            case .needsOpenEnds: "It fails at ranges with an end (bytes=a-b), and sends those without (bytes=a-)."
            }
        }
    }

    /// How long a habit is remembered after it was last seen.
    static let memory = Duration.seconds(3600)
    /// Most hosts that are remembered for one habit.
    private static let most = 256

    private let clock: CacheClock
    private let seen = Mutex<[Habit: [String: Duration]]>([:])

    init(clock: CacheClock) { self.clock = clock }

    /// Whether the host, with its port, was seen to have the habit.
    func has(_ habit: Habit, at authority: String) -> Bool {
        let now = clock.elapsed()
        return seen.withLock { $0[habit]?[authority].map { now - $0 < Self.memory } ?? false }
    }

    /// The host, with its port, was seen to have the habit.
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
