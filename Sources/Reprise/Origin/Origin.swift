public import HTTPTypes

/// Where bytes come from: an HTTP client behind one method.
///
/// The engine asks for a representation or a part of it and pulls the body. An implementation follows redirects (at most
/// ten), verifies TLS, and reads from its socket only while somebody pulls: back-pressure must reach the wire.
public protocol Origin: Sendable {
    /// Sends `request` and returns as soon as the head of the final response has arrived.
    ///
    /// Cancelling the task closes the connection. Throws ``RepriseError`` with one of the `origin…` codes, or
    /// `CancellationError`. A response of any status is a return, never an error.
    func send(_ request: OriginRequest) async throws -> OriginResponse
}

/// One request to an origin.
public struct OriginRequest: Sendable {
    /// The absolute `http` or `https` URL, spelled as the caller spelled it.
    public var url: ResourceURL
    /// `GET` and `HEAD` are what the cache itself sends; anything else but `CONNECT` and `TRACE` is passed on for a client.
    public var method: HTTPRequest.Method
    /// End-to-end fields, `Range` and conditions among them.
    ///
    /// `Host`, `Connection` and the like are the client's own work.
    public var fields: HTTPFields
    /// The request's body; empty for GET and HEAD.
    public var body: [UInt8] = []
    /// Called with each interim response (1xx but 100 and 101) before the final one, in order; from any thread.
    ///
    /// A client that cannot see them leaves it alone.
    public var onInterim: (@Sendable (HTTPResponse) -> Void)?
    /// Which networks the request may use; any by default.
    ///
    /// For clients that can tell networks apart; others use the one there is.
    public var networkPolicy = NetworkPolicy.any
    /// What the response is wanted for; `.playing` by default.
    ///
    /// A client that queues requests serves higher classes first; others leave it alone.
    public var demand = Demand.playing
    /// The same while the request is under way; `nil` for requests that do not come from the engine.
    package var interest: RequestInterest?

    /// Creates a request; `GET` unless told otherwise.
    public init(url: ResourceURL, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]) {
        self.url = url
        self.method = method
        self.fields = fields
    }
}

/// The head of a final response and the body that follows it.
public struct OriginResponse: Sendable {
    /// Status and fields as they came, hop-by-hop ones included.
    public var head: HTTPResponse
    /// The URL that answered, after redirects.
    public var url: ResourceURL
    /// The body, pulled by the receiver.
    public var body: any OriginBody

    /// Creates a response.
    public init(head: HTTPResponse, url: ResourceURL, body: any OriginBody) {
        self.head = head
        self.url = url
        self.body = body
    }
}

/// A response body with back-pressure: nothing is read from the network that nobody asked for.
///
/// One consumer calls ``next()``, one call at a time; ``cancel()`` may come from anywhere. Where ``next()`` is called while
/// another call waits, the clients of this package throw `invalidArgument`.
public protocol OriginBody: AnyObject, Sendable {
    /// The next piece, or `nil` at the clean end of the body (declared length reached, last chunk, or after ``cancel()``).
    ///
    /// Throws ``RepriseError`` with code `originBodyTruncated` when the connection ended early, `originTimedOut` when
    /// nothing came for the client's idle time. When the task is cancelled: the pieces that are here, then
    /// `CancellationError`. Pieces are at most 1 MiB.
    func next() async throws -> (any ByteChunk)?

    /// Ends the transfer. What the system has already received stays available: ``next()`` returns it, then `nil`.
    func cancel()
}
