#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Time as the engine sees it: a wall clock for dates, monotonic ones for delays.
///
/// Injected, so that tests drive it.
public struct CacheClock: Sendable {
    /// A monotonic clock.
    package struct Monotonic: Sendable {
        /// Waits; throws `CancellationError` when the task is cancelled during the wait.
        package let sleep: @Sendable (Duration) async throws -> Void
        /// The time since the clock was made.
        package let elapsed: @Sendable () -> Duration

        fileprivate init<C: Clock>(_ clock: C) where C.Duration == Duration {
            let start = clock.now
            sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
            elapsed = { start.duration(to: clock.now) }
        }
    }

    private let continuous: Monotonic
    /// A clock that stops while the device sleeps, for waits in which a peer has to answer.
    package let awake: Monotonic
    /// The wall clock, in seconds since 1970.
    public let wallClock: @Sendable () -> Double

    /// Waits; throws `CancellationError` when the task is cancelled during the wait.
    public var sleep: @Sendable (Duration) async throws -> Void { continuous.sleep }
    package var elapsed: @Sendable () -> Duration { continuous.elapsed }
    var now: @Sendable () -> Double { wallClock }

    /// Creates a clock.
    ///
    /// `wallClock` returns seconds since 1970.
    public init<C: Clock>(_ clock: C, wallClock: @escaping @Sendable () -> Double) where C.Duration == Duration {
        self.init(clock, suspending: clock, wallClock: wallClock)
    }

    /// Creates a clock that distinguishes time asleep from time awake.
    ///
    /// `clock` keeps running while the device sleeps, as `ContinuousClock` does; `suspending` stops. `wallClock`
    /// returns seconds since 1970.
    public init<C: Clock, S: Clock>(_ clock: C, suspending: S, wallClock: @escaping @Sendable () -> Double)
    where C.Duration == Duration, S.Duration == Duration {
        continuous = Monotonic(clock)
        awake = Monotonic(suspending)
        self.wallClock = wallClock
    }

    /// The system's clocks.
    public static let system = CacheClock(ContinuousClock(), suspending: SuspendingClock()) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
