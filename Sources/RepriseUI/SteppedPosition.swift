/// Where a person has moved the position of a player in steps.
///
/// Steps in quick succession add up, although the player is not yet where the first one leads.
struct SteppedPosition {
    private struct Last {
        let time: Double
        let duration: Double
        let instant: ContinuousClock.Instant
    }

    /// How long a step begins where the last one led, not where the player is.
    static let memory = Duration.seconds(3)

    private var last: Last?

    /// The time in seconds to seek to for a step by that part of the whole; within the duration.
    mutating func move(by part: Double, in timeline: BufferedTimeline, at now: ContinuousClock.Instant) -> Double {
        var start = timeline.position
        if let last, last.duration == timeline.duration, last.instant.duration(to: now) < Self.memory {
            start = last.time
        }
        let time = min(max(start + part * timeline.duration, 0), timeline.duration)
        last = Last(time: time, duration: timeline.duration, instant: now)
        return time
    }
}
