/// What went wrong with one data file, and when its store may be tried again.
///
/// Pure: times come in, decisions go out. One fault costs the bytes that it concerns. A second one means that the disk
/// does not keep what is written, so that nothing more should be written for a while.
struct DiskHealth: Sendable {
    /// When bytes last could not be read; `nil` if that never happened.
    private var lastUnreadable: Duration?
    /// First byte of the sealed chunk that last failed to open.
    private var lastRefusedChunk: Int64?
    /// When the store may be tried again, on the monotonic clock; `nil` for never.
    private var closedUntil: Duration?
    /// Whether it was closed because there was no room.
    private(set) var lacksRoom = false

    /// Bytes could not be read; true if that happened within ``Breaker/pause`` before, too.
    mutating func readFailed(at elapsed: Duration) -> Bool {
        defer { lastUnreadable = elapsed }
        return lastUnreadable.map { elapsed - $0 < Breaker.pause } ?? false
    }

    /// The sealed chunk that begins at `start` failed to open; true if its replacement failed, too.
    mutating func chunkFailed(at start: Int64) -> Bool {
        defer { lastRefusedChunk = start }
        return lastRefusedChunk == start
    }

    /// The store was closed for `pause`; for good if that is `nil`.
    mutating func storeClosed(for pause: Duration?, lackingRoom: Bool = false, at elapsed: Duration) {
        closedUntil = pause.map { elapsed + $0 }
        lacksRoom = lackingRoom
    }

    /// Whether a store that was closed may be tried again.
    func mayTryAgain(at elapsed: Duration) -> Bool { closedUntil.map { elapsed >= $0 } ?? false }
}

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
