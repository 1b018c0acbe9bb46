import Locks
public import Reprise

/// A clock that is moved on by hand: hours pass at once, and what waits for milliseconds still gets them.
///
/// It stands still otherwise, so that ages and respites are exact however slow the machine is.
public final class ShiftableClock: Clock {
    private let offset = Mutex(Duration.zero)
    private let base = ContinuousClock()
    private let beginning = ContinuousClock.now
    private let epoch = CacheClock.system.wallClock().rounded()

    /// A clock that begins with the right time.
    public init() {}

    /// Lets `duration` pass.
    public func shift(by duration: Duration) { offset.withLock { $0 += duration } }

    /// Seconds since 1970.
    public var wallClock: Double { epoch + offset.withLock { $0 } / .seconds(1) }

    /// What the engine takes.
    public var cacheClock: CacheClock { CacheClock(self) { self.wallClock } }

    /// The monotonic time: what was shifted.
    public var now: ContinuousClock.Instant { beginning.advanced(by: offset.withLock { $0 }) }
    /// That of the system's clock.
    public var minimumResolution: Duration { base.minimumResolution }
    /// Waits for real time.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: base.now.advanced(by: now.duration(to: deadline)), tolerance: tolerance)
    }
}
