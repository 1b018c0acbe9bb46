/// Readers wait for fetches only as long as an origin may take.
extension Engine {
    /// Longest time that a fetch with waiting readers may make no progress.
    ///
    /// An origin may take 30 s for a place in the queue, 10 s to connect, and 30 s to answer or between two pieces. A
    /// parent asks others in turn, and may take twice as long.
    static let waitLimit = Duration.seconds(180)
    /// A wait that is almost overdue is not looked at sooner than this.
    private static let shortestPause = Duration.seconds(1)

    /// Gives up fetches that stand still while readers wait for them, until no reader waits any more.
    ///
    /// One task for all waits: it begins with the first one, and one wait after another costs no timer.
    func watchWaits() {
        Task(priority: .userInitiated) { [weak self, clock] in
            var pause: Duration? = Self.waitLimit
            while let time = pause, (try? await clock.awake.sleep(time)) != nil { pause = self?.endOverdueWaits() }
        }
    }

    /// Returns the time until the next look; `nil` if no reader waits.
    private func endOverdueWaits() -> Duration? {
        let rests = liveResources.compactMap { $0.liveGeneration?.endOverdueWaits(Self.waitLimit) }
        if let next = rests.min() { return max(next, Self.shortestPause) }
        return precedence.endWatch() ? nil : Self.waitLimit
    }
}
