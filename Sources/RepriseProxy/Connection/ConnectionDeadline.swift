/// How long a connection may stay without any activity.
///
/// Pure: the watch checks the connection regularly and reports what it sees. Time counts only between checks without
/// any change, so no deadline ends a body that makes progress, however long it takes.
struct ConnectionDeadline: Sendable {
    /// The event that a connection waits for.
    enum Waiting: Hashable, Sendable {
        /// The first request.
        case firstRequest
        /// The next request, or the rest of one.
        case request
        /// The cache or the origin, which have deadlines of their own.
        case answer
        /// The client, which has to read pending bytes.
        case client
        /// The client closing its side, after ours was closed.
        case farewell
    }

    /// The state of a connection at one check.
    struct Sight: Equatable, Sendable {
        var waiting: Waiting
        /// Changes with every request, every answer and every piece passed to the kernel.
        var events: UInt64
        /// Number of bytes that the client has not acknowledged; 0 while the connection does not wait for the client.
        var pending = 0
    }

    /// The limits of each wait.
    struct Limits: Sendable {
        var firstRequest: Duration
        var request: Duration
        var client: Duration
        var farewell: Duration

        /// The limit of `waiting`; `nil` for none.
        func limit(of waiting: Waiting) -> Duration? {
            switch waiting {
            case .firstRequest: firstRequest
            case .request: request
            case .answer: nil
            case .client: client
            case .farewell: farewell
            }
        }

        var shortest: Duration { min(firstRequest, request, client, farewell) }
    }

    private let limits: Limits
    private var last: Sight?
    private var since = Duration.zero

    init(_ limits: Limits) { self.limits = limits }

    /// Whether the state in `sight` has lasted longer than its limit at `now`.
    mutating func isOver(_ sight: Sight, at now: Duration) -> Bool {
        if sight != last {
            last = sight
            since = now
        }
        return limits.limit(of: sight.waiting).map { now - since >= $0 } ?? false
    }
}
