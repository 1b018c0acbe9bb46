/// How the origin answered one generation's fetches: its last refusal answers the same requests for a while.
///
/// Pure: times come in, decisions go out. A player that retries at once then does not hammer a failing origin.
struct OriginHealth: Sendable {
    private struct Refused {
        let error: RepriseError
        let request: OriginRequest
        let until: Duration
    }

    private let url: ResourceURL
    private let policy: ReusePolicy
    private var refused: Refused?
    /// Number of consecutive fetches that the origin failed.
    private var failures = 0

    /// `url` is the generation's.
    init(url: ResourceURL, policy: ReusePolicy) {
        self.url = url
        self.policy = policy
    }

    /// The refusal of the same request a short time ago; a new fetch need not be tried.
    func recentRefusal(of request: OriginRequest, at elapsed: Duration) -> RepriseError? {
        guard let refused, elapsed < refused.until, refused.request.asksTheSame(as: request) else { return nil }
        return refused.error
    }

    /// A fetch that sent `request` failed for good.
    mutating func fetchFailed(_ error: RepriseError, sending request: OriginRequest, at elapsed: Duration) {
        guard error.code == .originRefused, let status = error.refusal?.head.status.code else { return }
        failures = Backoff.isFailure(status) ? failures + 1 : 0
        guard let pause = Backoff.pause(after: status, failures: failures, of: url, policy: policy) else { return }
        refused = Refused(error: error, request: request, until: elapsed + pause)
    }

    /// The origin answered a fetch as expected: the next failure counts as the first one.
    mutating func fetchSucceeded() { failures = 0 }
}
