import CFiles
import Dispatch
import Primitives
import Reprise

/// Gives memory back to the system after load has fallen: the C library keeps what was freed for the next load.
///
/// The lock is a leaf; the heap is looked at on a queue of its own, because that takes the locks of all its arenas.
final class HeapUpkeep: Sendable {
    /// What the C library and the system say.
    struct Sight: Sendable, Equatable {
        /// Bytes of the heap that are in use, and that are free.
        var used: Int, unused: Int
        /// Memory of the process that is not paged out, in bytes.
        var resident: Int
    }

    /// The rules, without a clock and a heap.
    struct Rules: Sendable {
        /// Shortest time between two looks.
        ///
        /// Short, because many refused clients can free a lot of memory within seconds.
        static let interval = Duration.seconds(1)
        /// Fewer free bytes than this are kept.
        static let worthwhile = 16 << 20

        private var lastLook: Duration?
        /// Resident memory minus the heap's used bytes after the last trim, in bytes.
        ///
        /// Needed because the C library still counts trimmed bytes as free.
        private var rest = 0

        /// Whether it is time for a look; if so, it counts as done.
        mutating func isDue(at now: Duration) -> Bool {
            if let lastLook, now - lastLook < Self.interval { return false }
            lastLook = now
            return true
        }

        /// Whether there are enough free bytes, compared with the used bytes and with the state after the last trim.
        func mustTrim(_ sight: Sight) -> Bool {
            sight.unused >= Self.worthwhile && sight.unused >= sight.used / 2
                && sight.resident - sight.used >= rest + Self.worthwhile
        }

        /// Records the state after a trim.
        mutating func trimmed(_ sight: Sight) { rest = sight.resident - sight.used }
    }

    /// Delay between the end of the last connection and the final look at the heap.
    static let patience = Duration.seconds(10)

    private let clock: CacheClock
    private let queue = DispatchQueue(label: "reprise.heap", qos: .utility)
    private let rules = Mutex(Rules())

    init(clock: CacheClock) { self.clock = clock }

    /// Looks at the heap, unless it did a moment ago; returns at once.
    func look() {
        let now = clock.elapsed()
        guard rules.withLock({ $0.isDue(at: now) }) else { return }
        queue.async { [self] in
            guard let sight = Self.sight(), rules.withLock({ $0.mustTrim(sight) }) else { return }
            reprise_trim_heap()
            if let after = Self.sight() { rules.withLock { $0.trimmed(after) } }
        }
    }

    /// The heap now; `nil` where the C library or the system does not tell.
    static func sight() -> Sight? {
        var (used, unused) = (0, 0)
        reprise_heap(&used, &unused)
        guard used > 0, let resident = ProcessFigures.resident() else { return nil }
        return Sight(used: used, unused: unused, resident: Int(clamping: resident))
    }
}
