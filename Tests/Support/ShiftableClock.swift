import Locks
public import Reprise

/// A clock that is moved on by hand: hours pass at once, and what waits for milliseconds still gets them.
///
/// The wall clock stands still otherwise, so that ages are exact however slow the machine is.
public final class ShiftableClock: Clock {
    private let offset = Mutex(Duration.zero)
    private let base = ContinuousClock()
    private let epoch = CacheClock.system.wallClock().rounded()

    /// A clock that begins with the right time.
    public init() {}

    /// Lets `duration` pass.
    public func shift(by duration: Duration) { offset.withLock { $0 += duration } }

    /// Seconds since 1970.
    public var wallClock: Double { epoch + offset.withLock { $0 } / .seconds(1) }

    /// What the engine takes.
    public var cacheClock: CacheClock { CacheClock(self) { self.wallClock } }

    /// The monotonic time, with what was shifted.
    public var now: ContinuousClock.Instant { base.now.advanced(by: offset.withLock { $0 }) }
    /// That of the system's clock.
    public var minimumResolution: Duration { base.minimumResolution }
    /// Waits for real time.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline.advanced(by: .zero - offset.withLock { $0 }), tolerance: tolerance)
    }
}
