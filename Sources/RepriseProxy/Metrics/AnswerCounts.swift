import Reprise

/// The answers of the connections of one event loop, counted there without a lock.
///
/// Everything here runs on that loop.
final class AnswerCounts {
    var tally = AnswerTally()
    /// The clock that measures delays, apart from the rest: each answer asks it.
    let elapsed: @Sendable () -> Duration

    init(clock: CacheClock) { elapsed = clock.elapsed }
}
