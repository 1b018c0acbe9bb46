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
