public import Foundation

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
        /// Waits; throws `CancellationError` when the task is canceled during the wait.
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
    package let now: @Sendable () -> Double

    /// The wall clock.
    public var wallClock: @Sendable () -> Date { { [now] in Date(timeIntervalSince1970: now()) } }

    /// Waits; throws `CancellationError` when the task is canceled during the wait.
    public var sleep: @Sendable (Duration) async throws -> Void { continuous.sleep }
    package var elapsed: @Sendable () -> Duration { continuous.elapsed }

    /// Creates a clock.
    ///
    /// `clock` measures delays; `wallClock` says what time it is.
    public init<C: Clock>(_ clock: C, wallClock: @escaping @Sendable () -> Date) where C.Duration == Duration {
        self.init(clock, suspending: clock, wallClock: wallClock)
    }

    /// Creates a clock that distinguishes time asleep from time awake.
    ///
    /// `clock` keeps running while the device sleeps, as `ContinuousClock` does; `suspending` stops. `wallClock` says
    /// what time it is.
    public init<C: Clock, S: Clock>(_ clock: C, suspending: S, wallClock: @escaping @Sendable () -> Date)
    where C.Duration == Duration, S.Duration == Duration {
        self.init(continuous: Monotonic(clock), awake: Monotonic(suspending)) { wallClock().timeIntervalSince1970 }
    }

    private init(continuous: Monotonic, awake: Monotonic, now: @escaping @Sendable () -> Double) {
        self.continuous = continuous
        self.awake = awake
        self.now = now
    }

    /// The system's clocks.
    public static let system = CacheClock(
        continuous: Monotonic(ContinuousClock()), awake: Monotonic(SuspendingClock())
    ) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A point in time on both clocks, read once for one decision.
struct Moment: Sendable {
    /// The wall clock, in seconds since 1970: for dates and ages.
    let date: Int64
    /// The monotonic clock: for pauses.
    let elapsed: Duration
}

extension CacheClock {
    var moment: Moment { Moment(date: Int64(now()), elapsed: elapsed()) }
}
