public import HTTPTypes

/// The head of a final response and its body.
public struct OriginResponse: Sendable {
    /// Status and fields as they came, hop-by-hop ones included.
    public var head: HTTPResponse
    /// The URL that answered, after redirects.
    public var url: ResourceURL
    /// The body, pulled by the receiver.
    public var body: any OriginBody
    /// Whether a redirect led to another host or port on the way, so that only harmless fields were sent from there
    /// on; `nil` if the client does not say.
    package var hasLeftHost: Bool?
    /// Whether further requests of a play may go to ``url`` in place of the one that was asked.
    ///
    /// Not behind a parent, which stores the file under the URL that it was asked for.
    package var isTarget = true
    /// Called when the whole body is stored and recorded, for a body that the client keeps until then; `nil` unless the
    /// body had arrived before, so that its time and rate tell nothing about the network.
    package var onStored: (@Sendable () -> Void)?
    /// The request that was answered, as it was sent before any redirect; `nil` unless the engine sent it.
    var asked: OriginRequest?
    /// When it was sent, in seconds since 1970 (RFC 9111 §4.2.3).
    var requestTime: Int64 = 0

    /// Creates a response.
    public init(head: HTTPResponse, url: ResourceURL, body: any OriginBody) {
        self.head = head
        self.url = url
        self.body = body
    }
}

extension OriginResponse {
    /// Drops the cookies if a redirect led to another server than that of `url`.
    ///
    /// They would count as cookies of that server.
    mutating func dropForeignCookies(of url: ResourceURL) {
        guard self.url.scheme != url.scheme || self.url.authority != url.authority else { return }
        head.headerFields[.setCookie] = nil
    }
}
