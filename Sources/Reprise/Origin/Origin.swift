public import HTTPTypes

/// The source of media: an HTTP client behind one method.
///
/// The engine requests a representation or a part of it and pulls the body. An implementation follows redirects (at
/// most ten), verifies TLS, and reads from its socket only while the body is being pulled: back-pressure must reach the
/// wire.
public protocol Origin: Sendable {
    /// Sends `request` and returns as soon as the head of the final response has arrived.
    ///
    /// Canceling the task closes the connection. Throws ``RepriseError`` with one of the `origin…` codes, or
    /// `CancellationError`. A response is returned whatever its status, never thrown.
    func send(_ request: OriginRequest) async throws -> OriginResponse
}

/// One request to an origin.
public struct OriginRequest: Sendable {
    /// The absolute `http` or `https` URL, spelled as the caller spelled it.
    public var url: ResourceURL
    /// The cache itself sends `GET` and `HEAD`; any other method except `CONNECT` and `TRACE` is passed on for a
    /// client.
    public var method: HTTPRequest.Method
    /// End-to-end fields, `Range` and conditions among them.
    ///
    /// The client adds `Host`, `Connection` and the like itself.
    public var fields: HTTPFields
    /// The request's body; empty for GET and HEAD.
    public var body: [UInt8] = []
    /// Called with each interim response (1xx but 100 and 101) before the final one, in order; from any thread.
    ///
    /// Clients that cannot see them never call it.
    public var onInterim: (@Sendable (HTTPResponse) -> Void)?
    /// Which networks the request may use; any by default.
    ///
    /// Honored by clients that can distinguish networks; others ignore it.
    public var networkPolicy = NetworkPolicy.any
    /// What the response is wanted for; `.playing` by default.
    ///
    /// A client that queues requests serves higher classes first; others ignore it.
    public var demand = Demand.playing
    /// The demand while the request is under way; `nil` for requests that do not come from the engine.
    package var interest: RequestInterest?

    /// Creates a request; `GET` by default.
    public init(url: ResourceURL, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]) {
        self.url = url
        self.method = method
        self.fields = fields
    }
}

/// The head of a final response and its body.
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

/// A response body with back-pressure: bytes are read from the network only when requested.
///
/// One consumer calls ``next()``, one call at a time; ``cancel()`` may be called from anywhere. If ``next()`` is called
/// while another call is waiting, the clients of this package throw `invalidArgument`.
public protocol OriginBody: AnyObject, Sendable {
    /// The next piece, or `nil` at the clean end of the body: declared length reached, last chunk, or after
    /// ``cancel()``.
    ///
    /// Throws ``RepriseError`` with code `originBodyTruncated` when the connection ended early, `originTimedOut` when
    /// nothing arrived for the client's idle time. After the task is canceled, returns the pieces that have arrived,
    /// then throws `CancellationError`. Pieces are at most 1 MiB.
    func next() async throws -> (any ByteChunk)?

    /// Ends the transfer; ``next()`` returns the bytes that the system has already received, then `nil`.
    func cancel()
}
