import Locks

/// After a disk has failed nothing is written for a minute: a broken disk must not be asked at every chunk.
///
/// The lock is a leaf.
final class Breaker: Sendable {
    /// How long nothing is written.
    static let pause = Duration.seconds(60)

    private let clock: CacheClock
    private let until = Mutex<Duration?>(nil)

    init(clock: CacheClock) { self.clock = clock }

    /// Nothing is to be written now.
    var isOpen: Bool {
        until.withLock { until in
            guard let end = until else { return false }
            if clock.elapsed() < end { return true }
            until = nil
            return false
        }
    }

    /// The disk failed.
    func open() { until.withLock { $0 = clock.elapsed() + Self.pause } }
}
