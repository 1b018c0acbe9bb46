/// What AVPlayer does with what it gets for the files of an HLS item.
///
/// Pure. The facts come from programs that watched it: no head within some 3.5 s is error −12889, and the third ends
/// the item. 404 for a listed segment ends it at once, as do other refusals. 503 with `Retry-After` is tried again
/// then, and a connection that fails is tried again soon.
struct HLSPlayerRules: Sendable {
    /// What a request came to.
    enum Outcome: Sendable, Equatable {
        case complete(status: Int, retryAfter: Int?)
        /// No head came in time.
        case noHead
        /// There was no connection, or it ended before the last byte.
        case broken
    }

    enum Reaction: Sendable, Equatable {
        case use
        /// The same request again, after so many seconds.
        case again(after: Duration)
        /// The item has failed with this error of CoreMedia's, or of NSURLErrorDomain.
        case fail(code: Int)
    }

    /// Number of requests in a row that may come to nothing.
    static let patience = 3

    private var timeouts = 0
    private var broken = 0

    mutating func react(to outcome: Outcome) -> Reaction {
        switch outcome {
        case .complete(status: 200..<300, _):
            (timeouts, broken) = (0, 0)
            return .use
        case .complete(503, let seconds?): return .again(after: .seconds(seconds))
        case .complete(403, _): return .fail(code: -12660)
        case .complete(404, _): return .fail(code: -12938)
        case .complete: return .fail(code: -12939)
        case .noHead:
            timeouts += 1
            return timeouts < Self.patience ? .again(after: .zero) : .fail(code: -12889)
        case .broken:
            broken += 1
            return broken < Self.patience ? .again(after: .seconds(1)) : .fail(code: -1004)
        }
    }
}
