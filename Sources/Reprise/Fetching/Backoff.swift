/// How long an origin is left alone that refused without telling how long that holds.
enum Backoff {
    /// Longest pause after a failure: one that has recovered is asked again a second later.
    private static let longest = Duration.seconds(1)
    /// Pause after the first failure; doubles with each further one.
    private static let first = Duration.milliseconds(250)

    /// Whether the origin fails, and asking it all the time would make that worse.
    static func isFailure(_ code: Int) -> Bool { [500, 502, 503, 504].contains(code) }

    /// How long the same request is not sent again after this status, which came for `failures` times in a row.
    ///
    /// `nil` for not at all: so always after a failure in a shared cache, whose clients decide themselves.
    static func pause(after code: Int, failures: Int, of url: ResourceURL, _ policy: ReusePolicy) -> Duration? {
        switch code {
        case 404, 410: url.namesPlaylist ? min(longest, policy.negativeLifetime) : policy.negativeLifetime
        case _ where isFailure(code) && !policy.isShared: min(longest, first * (1 << min(max(failures - 1, 0), 8)))
        default: nil
        }
    }
}
