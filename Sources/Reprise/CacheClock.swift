#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Time as the engine sees it: a wall clock for dates, a monotonic one for delays.
///
/// Injected, so that tests drive it.
public struct CacheClock: Sendable {
    /// Waits; throws `CancellationError` when the task is cancelled meanwhile.
    public let sleep: @Sendable (Duration) async throws -> Void
    package let elapsed: @Sendable () -> Duration
    /// The wall clock, in seconds since 1970.
    public let wallClock: @Sendable () -> Double
    var now: @Sendable () -> Double { wallClock }

    /// Creates a clock.
    ///
    /// `wallClock` returns seconds since 1970.
    public init<C: Clock>(_ clock: C, wallClock: @escaping @Sendable () -> Double) where C.Duration == Duration {
        let start = clock.now
        sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
        elapsed = { start.duration(to: clock.now) }
        self.wallClock = wallClock
    }

    /// The system's clocks.
    public static let system = CacheClock(ContinuousClock()) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
