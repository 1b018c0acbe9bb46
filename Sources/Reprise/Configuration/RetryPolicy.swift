/// How often and how soon a failed fetch resumes from the byte it had reached.
public struct RetryPolicy: Sendable {
    /// Attempts without progress before readers see the error; 5 by default.
    public var attempts = 5
    /// Upper bound of the first delay; doubles with each attempt.
    ///
    /// 250 ms by default. The delay drawn is anywhere between zero and the bound ("full jitter").
    public var firstDelay = Duration.milliseconds(250)
    /// Upper bound of every delay; 8 s by default.
    public var maximumDelay = Duration.seconds(8)
    /// Bytes that must arrive to reset the attempt count; 64 KiB by default.
    public var progress: Int64 = 64 << 10
    /// Retries when no response head arrives in time.
    ///
    /// 0 by default, because players don't wait that long. A body that stalls is resumed up to ``attempts`` times.
    public var timeouts = 0
    /// Retries after a response with status 500, 502, 503, 504 or 429, before it is passed on.
    ///
    /// 2 by default.
    public var refusals = 2

    /// The defaults.
    public init() {}
}
