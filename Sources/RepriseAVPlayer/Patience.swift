import Reprise

/// A timeout that counts only the time in which this process was running.
///
/// Pure. The suspending clock stops while the device sleeps, but not while the system suspends the app on a device that
/// is awake; that shows in a timer that fires late. After either gap the network has to be set up again, so the whole
/// time is granted once more.
struct Patience: Sendable {
    /// Both clocks, read at one moment.
    struct Reading: Sendable {
        /// Time that includes sleep.
        var continuous: Duration
        /// Time that excludes sleep.
        var awake: Duration
    }

    /// Longest interval between two readings of the clocks; a gap of more than ``tolerance`` in it is noticed.
    static let longestStep = Duration.seconds(5)
    /// How late a timer may fire on a busy device.
    static let tolerance = Duration.seconds(5)

    private let total: Duration
    private var start: Duration
    /// When the last step should have ended, on the continuous clock.
    private var due: Duration

    /// Creates a timeout of `total` from `now` on.
    init(_ total: Duration, at now: Reading) {
        self.total = total
        start = now.awake
        due = now.continuous
    }

    /// Restarts the timeout after progress.
    mutating func progressed(at now: Reading) { start = now.awake }

    /// How long to sleep before the next call; zero when the time is up.
    mutating func step(at now: Reading) -> Duration {
        if now.continuous - due > Self.tolerance { start = now.awake }
        let step = max(.zero, min(total - (now.awake - start), Self.longestStep))
        due = now.continuous + step
        return step
    }
}

extension CacheClock {
    /// Both clocks, read now.
    var reading: Patience.Reading { Patience.Reading(continuous: elapsed(), awake: awake.elapsed()) }

    /// Waits until the process has run for `time` without a gap.
    ///
    /// Throws `CancellationError`.
    func sleepWhileRunning(_ time: Duration) async throws {
        var patience = Patience(time, at: reading)
        while true {
            let step = patience.step(at: reading)
            guard step > .zero else { return }
            try await awake.sleep(step)
        }
    }
}
