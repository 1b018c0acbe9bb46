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

/// Counts the attempts of one fetch.
struct RetryBudget: Sendable {
    private let policy: RetryPolicy
    /// No attempt begins later than this unless a byte has arrived; `nil` for no such limit.
    private let deadline: Duration?
    private var failures = 0
    private var bytesAtFailure: Int64 = 0

    /// Creates the budget of a fetch that begins at `start` and whose reader waits no longer than `patience` for the
    /// first byte while the origin fails.
    init(_ policy: RetryPolicy, patience: Duration? = nil, from start: Duration = .zero) {
        self.policy = policy
        deadline = patience.map { start + $0 }
    }

    /// Runs `attempt`, and again as long as that can help; `pause` waits for the delay before the next attempt.
    ///
    /// `bytes` is how many bytes have arrived in all attempts. Errors other than ``RepriseError`` are final.
    mutating func retrying<Value>(
        on clock: CacheClock, bytes: () -> Int64 = { 0 }, _ attempt: () async throws -> Value,
        pause: (Duration, RepriseError) async throws -> Void
    ) async throws -> Value {
        while true {
            do { return try await attempt() } catch let error as RepriseError {
                guard let delay = delay(after: error, bytes: bytes(), at: clock.elapsed()) else { throw error }
                try await pause(delay, error)
            }
        }
    }

    /// The delay before the next attempt after `error`, or `nil` when the budget is used up, a retry cannot help, or it
    /// would come too late.
    mutating func delay(after error: RepriseError, bytes: Int64, at elapsed: Duration) -> Duration? {
        guard let delay = delay(after: error, bytes: bytes) else { return nil }
        guard let deadline, bytes == 0 else { return delay }
        return elapsed + delay <= deadline ? delay : nil
    }

    /// The delay before the next attempt after `error`, or `nil` when the budget is used up or a retry cannot help.
    mutating func delay(after error: RepriseError, bytes: Int64) -> Duration? {
        if bytes - bytesAtFailure >= policy.progress { failures = 0 }
        bytesAtFailure = bytes
        guard failures < Self.attempts(for: error, isUnderWay: bytes > 0, policy: policy) else { return nil }
        let bound = min(policy.maximumDelay, policy.firstDelay * (1 << min(failures, 16)))
        failures += 1
        if let wanted = error.refusal?.retryAfter, wanted > bound {
            return wanted <= policy.maximumDelay ? wanted : nil
        }
        return bound * Double.random(in: 0...1)
    }

    private static func attempts(for error: RepriseError, isUnderWay: Bool, policy: RetryPolicy) -> Int {
        switch error.code {
        case .originUnreachable, .originBodyTruncated: policy.attempts
        case .originTimedOut where error.cause is ConnectionQueueTimeout: policy.timeouts
        case .originTimedOut: isUnderWay ? policy.attempts : policy.timeouts
        case .originRefused: error.refusal?.isTransient == true ? policy.refusals : 0
        default: 0
        }
    }
}
