import Locks
public import Reprise

/// A clock that is advanced by hand: hours pass at once, and waits of milliseconds still take their time.
///
/// Otherwise it stands still, so that ages and deadlines are exact however slow the machine is.
public final class ShiftableClock: Clock {
    private let offset = Mutex(Duration.zero)
    private let base = ContinuousClock()
    private let beginning = ContinuousClock.now
    private let epoch = CacheClock.system.wallClock().rounded()

    /// Creates a clock that starts with the current time.
    public init() {}

    /// Advances the clock by `duration`.
    public func shift(by duration: Duration) { offset.withLock { $0 += duration } }

    /// Seconds since 1970.
    public var wallClock: Double { epoch + offset.withLock { $0 } / .seconds(1) }

    /// The clock in the engine's form.
    public var cacheClock: CacheClock { CacheClock(self) { self.wallClock } }

    /// The monotonic time, as shifted.
    public var now: ContinuousClock.Instant { beginning.advanced(by: offset.withLock { $0 }) }
    /// That of the system's clock.
    public var minimumResolution: Duration { base.minimumResolution }
    /// Waits for real time.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: base.now.advanced(by: now.duration(to: deadline)), tolerance: tolerance)
    }
}
