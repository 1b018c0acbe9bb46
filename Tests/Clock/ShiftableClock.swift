public import Foundation
public import Reprise
import RepriseTesting

/// A clock that is advanced by hand: hours pass at once, and waits of up to two seconds still take their time.
///
/// Otherwise it stands still, so that ages and deadlines are exact however slow the machine is; a longer wait ends when
/// the clock has been advanced far enough, and no sooner.
public final class ShiftableClock: Clock {
    /// The longest wait that takes real time.
    private static let longestRealWait = Duration.seconds(2)

    private let manual = ManualClock()
    private let base = ContinuousClock()
    private let beginning = ContinuousClock.now
    private let epoch = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())

    /// Creates a clock that starts with the current time.
    public init() {}

    /// Advances the clock by `duration`.
    public func shift(by duration: Duration) { manual.advance(by: duration) }

    private var offset: Duration { manual.now.offset }

    /// The time of day, as shifted.
    public var wallClock: Date { epoch + offset / .seconds(1) }

    /// The clock in the engine's form.
    public var cacheClock: CacheClock { CacheClock(self) { self.wallClock } }

    /// The monotonic time, as shifted.
    public var now: ContinuousClock.Instant { beginning.advanced(by: offset) }
    /// That of the system's clock.
    public var minimumResolution: Duration { base.minimumResolution }
    /// Waits in real time for up to two seconds; for longer ones, until the clock has been advanced.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let wait = now.duration(to: deadline)
        if wait <= Self.longestRealWait {
            try await base.sleep(until: base.now.advanced(by: wait), tolerance: tolerance)
        } else {
            try await manual.sleep(until: ManualClock.Instant(offset: beginning.duration(to: deadline)))
        }
    }
}
