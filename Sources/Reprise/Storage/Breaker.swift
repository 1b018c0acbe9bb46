import Primitives

/// Stops writing for a minute after a disk failure, so that a broken disk is not tried for every chunk.
///
/// Also stops writing while the index cannot be written, because bytes without a record are lost with the process.
///
/// The lock is a leaf.
final class Breaker: Sendable {
    /// How long writing stops.
    static let pause = Duration.seconds(60)

    /// Why the index cannot be written.
    enum IndexFailure: Sendable {
        case lackOfRoom, fault
    }

    private struct State {
        var until: Duration?
        var cause = ""
        var indexFailure: IndexFailure?
        /// Whether the failure was that the disk is full.
        var isFull = false
    }

    private static let fullDisk = "The disk is full. Free some of it, or choose a directory on another disk."

    private let clock: CacheClock
    /// Why nothing can ever be written, if so.
    private let problem: String?
    private let state = Mutex(State())

    /// `problem` says why nothing can ever be written; `nil` if something can.
    init(clock: CacheClock, problem: String? = nil) {
        self.clock = clock
        self.problem = problem
    }

    /// Why nothing may be written now; `nil` if writing is allowed.
    var reason: String? {
        if let problem { return problem }
        return state.withLock { state in
            switch state.indexFailure {
            case .lackOfRoom: return Self.fullDisk
            case .fault: return "The index cannot be written."
            case nil: break
            }
            guard let end = state.until else { return nil }
            if clock.elapsed() < end { return state.cause }
            state.until = nil
            return nil
        }
    }

    /// Whether nothing may be written now because the disk is full.
    var isFull: Bool {
        state.withLock { state in
            guard problem == nil else { return false }
            if let failure = state.indexFailure { return failure == .lackOfRoom }
            guard let end = state.until else { return false }
            return state.isFull && clock.elapsed() < end
        }
    }

    /// Stops writing because the disk failed.
    func open(because error: RepriseError? = nil) {
        let cause =
            error?.isLackOfRoom == true
            ? Self.fullDisk
            : "The disk failed less than a minute ago\(error?.cause.flatMap { RepriseError.words(of: $0) }.map { ": \($0)" } ?? "")."
        state.withLock { state in
            state.until = clock.elapsed() + Self.pause
            state.cause = cause
            state.isFull = error?.isLackOfRoom == true
        }
    }

    /// Notes why the index cannot be written, or that it can; returns false if that was known.
    func noteIndex(_ failure: IndexFailure?) -> Bool {
        state.withLock { state in
            defer { state.indexFailure = failure }
            return (state.indexFailure == nil) != (failure == nil)
        }
    }
}
