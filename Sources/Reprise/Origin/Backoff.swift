/// Decides how long requests to a failing origin are suppressed when its response has no lifetime.
///
/// ``RetryBudget`` reads `Retry-After`.
enum Backoff {
    /// Longest pause after a failure, so that an origin that has recovered is asked again a second later.
    private static let longest = Duration.seconds(1)
    /// Pause after the first failure; doubles with each further one.
    private static let first = Duration.milliseconds(250)

    /// Whether this status means that the origin is failing, so that repeated requests would make it worse.
    static func isFailure(_ code: Int) -> Bool { [500, 502, 503, 504].contains(code) }

    /// How long the same request is suppressed after this status, which was received `failures` times in a row.
    ///
    /// `nil` for no pause; always `nil` after a failure in a shared cache, whose clients decide for themselves.
    static func pause(after code: Int, failures: Int, of url: ResourceURL, policy: ReusePolicy) -> Duration? {
        switch code {
        case 404, 410: url.namesPlaylist ? min(longest, policy.negativeLifetime) : policy.negativeLifetime
        case _ where isFailure(code) && !policy.isShared: min(longest, first * (1 << min(max(failures - 1, 0), 8)))
        default: nil
        }
    }
}
