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
