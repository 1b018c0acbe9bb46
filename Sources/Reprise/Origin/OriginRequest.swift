public import HTTPTypes

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
    /// Called with a sentence about the first violation of HTTP/1.1 in the response that the client tolerates; from any
    /// thread.
    package var onOddity: (@Sendable (String) -> Void)?
    /// Which networks the request may use; any by default.
    ///
    /// Honored by clients that can distinguish networks; others ignore it.
    public var networkPolicy = NetworkPolicy.any
    /// What the response is wanted for; `.playing` by default.
    ///
    /// A client that queues requests serves higher classes first; others ignore it.
    public var demand = Demand.playing
    /// How long the origin may be silent, before the head and within the body, if that is longer than the client's own
    /// limits; `nil` for those.
    ///
    /// An origin may hold a request until what it asks for exists (rfc8216bis §6.2.5.2). Clients without such limits
    /// ignore it.
    public var longestSilence: Duration?
    /// The demand while the request is under way; `nil` for requests that do not come from the engine.
    package var interest: RequestInterest?
    /// The key of the resource that the engine asks for; ``MediaCache/Configuration/authorize`` is asked about it.
    var key: CacheKey?
    /// Whether it is for a decryption key of a download, which is stored although the origin says `no-store`.
    var isForKey = false
    /// Set for media of a download, which a ``BackgroundOrigin`` may transfer in the background.
    package var errand: BackgroundErrand?
    /// Counts what its fetches bring.
    var tally: FetchTally?
    /// Takes in another representation that comes for a hole, for the download that will read it.
    var successor: Successor?
    /// What its reader does where the origin ignores ranges.
    var rangeFallback = RangeFallback.wait
    /// Answers instead of the cache's origin, for a file that is imported.
    var source: FileOrigin?
    /// How long failures before the first byte are retried; `nil` for as long as ``RetryPolicy`` says.
    package var patience: Duration?

    /// Creates a request; `GET` by default.
    public init(url: ResourceURL, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]) {
        self.url = url
        self.method = method
        self.fields = fields
    }
}
