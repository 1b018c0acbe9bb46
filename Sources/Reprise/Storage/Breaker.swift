import Locks

/// After a disk has failed nothing is written for a minute: a broken disk must not be asked at every chunk.
///
/// Nor is anything written while the index cannot be: what no record names is lost with the process.
///
/// The lock is a leaf.
final class Breaker: Sendable {
    /// How long nothing is written.
    static let pause = Duration.seconds(60)

    private struct State {
        var until: Duration?
        var isIndexFailing = false
    }

    private let clock: CacheClock
    /// Why nothing is ever written.
    private let problem: String?
    private let state = Mutex(State())

    /// `problem` is why nothing is ever written, if it is so.
    init(clock: CacheClock, problem: String? = nil) {
        self.clock = clock
        self.problem = problem
    }

    /// Why nothing is to be written now; `nil` if something may be.
    var reason: String? {
        if let problem { return problem }
        return state.withLock { state in
            if state.isIndexFailing { return "The index cannot be written." }
            guard let end = state.until else { return nil }
            if clock.elapsed() < end { return "The disk failed less than a minute ago." }
            state.until = nil
            return nil
        }
    }

    /// The disk failed.
    func open() { state.withLock { $0.until = clock.elapsed() + Self.pause } }

    /// The index cannot be written, or can again; false if that is known.
    func noteIndex(isFailing: Bool) -> Bool {
        state.withLock { state in
            defer { state.isIndexFailing = isFailing }
            return state.isIndexFailing != isFailing
        }
    }
}
