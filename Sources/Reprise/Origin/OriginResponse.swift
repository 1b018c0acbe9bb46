public import HTTPTypes

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
