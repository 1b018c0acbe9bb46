/// How long a connection may go on without anything happening on it.
///
/// Pure: the watch looks at the connection from time to time and says what it saw. Only a look at which nothing has
/// changed lets time count, so no deadline ends a body that moves, however long it takes.
struct ConnectionDeadline: Sendable {
    /// What a connection waits for.
    enum Waiting: Hashable, Sendable {
        /// The first request.
        case firstRequest
        /// The next request, or the rest of one.
        case request
        /// The cache or the origin; they have deadlines of their own.
        case answer
        /// The client, which has to take bytes that are pending.
        case client
        /// The client's end of the connection, after ours.
        case farewell
    }

    /// What a look at a connection shows.
    struct Sight: Equatable, Sendable {
        var waiting: Waiting
        /// Changes with every request, every answer and every piece that was handed to the kernel.
        var events: UInt64
        /// Bytes that the client has not acknowledged; 0 where it is not waited for.
        var pending = 0
    }

    /// How long each wait may take.
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

    /// Whether what `sight` shows at `now` has lasted for its whole time.
    mutating func isOver(_ sight: Sight, at now: Duration) -> Bool {
        if sight != last {
            last = sight
            since = now
        }
        return limits.limit(of: sight.waiting).map { now - since >= $0 } ?? false
    }
}
