internal import Primitives

/// A clock that stands still until a test advances it.
///
/// Nothing here sleeps in real time. A typical test starts the work, waits until it sleeps, and advances the time:
///
///     let clock = ManualClock()
///     async let result = work(clock: clock)
///     await clock.waitForSleepers(1)
///     clock.advance(by: .seconds(5))
///
/// Its duration is `Swift.Duration`, so it fits wherever `any Clock<Duration>` is injected.
public final class ManualClock: Clock, Sendable {
    /// A moment of a ``ManualClock``: the time since the clock was created.
    public struct Instant: InstantProtocol {
        /// The time between the clock's creation and this moment.
        public let offset: Duration

        /// Creates the moment `offset` after the clock's creation.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// Returns the moment `duration` later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the time from this moment to `other`; negative if `other` is earlier.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether the first moment is earlier.
        public static func < (first: Instant, second: Instant) -> Bool {
            first.offset < second.offset
        }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID: UInt64 = 0
        /// Ordered by arrival.
        var sleepers: [UInt64: Sleeper] = [:]

        /// Removes the sleepers whose time has come: the earliest deadline first, then in order of arrival.
        mutating func takeDue() -> [Sleeper] {
            let due = sleepers.filter { $0.value.deadline <= now }
                .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
            for (id, _) in due { sleepers.removeValue(forKey: id) }
            return due.map(\.value)
        }
    }

    private let state = Mutex(State())
    private let changes = ChangeSignal()

    /// Creates a clock at offset zero.
    public init() {}

    /// The clock's current moment.
    public var now: Instant { state.withLock { $0.now } }

    /// The smallest time that the clock can distinguish: a nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Number of tasks that sleep on this clock.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Suspends the task until the clock has been advanced to `deadline`; returns at once if it is already there.
    ///
    /// Throws `CancellationError` when the task is canceled. The tolerance is not used.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                sleep(continuation, id: id, until: deadline)
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
            changes.notify()
        }
    }

    private func sleep(_ continuation: CheckedContinuation<Void, any Error>, id: UInt64, until deadline: Instant) {
        let result: Result<Void, any Error>? = state.withLock { state in
            // A later cancellation finds the sleeper in the table; an earlier one is detected here.
            if Task.isCancelled { return .failure(CancellationError()) }
            if deadline <= state.now { return .success(()) }
            state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
            return nil
        }
        if let result { continuation.resume(with: result) } else { changes.notify() }
    }

    /// Advances the time and wakes the tasks whose deadline has come, the earliest deadline first.
    ///
    /// The tasks become ready in that order; they run when the executor gets to them, and then see the new time. A task
    /// that sleeps again until a moment within `duration` does not sleep.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "A clock does not go backwards.")
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.takeDue()
        }
        for sleeper in due { sleeper.continuation.resume() }
        changes.notify()
    }

    /// Waits until at least `count` tasks sleep on this clock, or until the calling task is canceled.
    public func waitForSleepers(_ count: Int) async {
        while !Task.isCancelled {
            let version = changes.version
            if sleeperCount >= count { return }
            await changes.wait(past: version)
        }
    }
}
