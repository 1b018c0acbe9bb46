package import HTTPTypes

/// The requests of one exchange, from redirect to redirect (RFC 9110 §15.4).
package struct RedirectFollower: Sendable {
    /// The request to send now.
    package private(set) var request: OriginRequest
    /// Whether a redirect led to another host or port, so that only harmless fields are sent from there on.
    package private(set) var hasLeftHost = false
    private let limit: Int
    private let authority: String
    private var redirects = 0

    /// Begins with `request`; follows at most `limit` redirects, and only those of GET and HEAD.
    package init(_ request: OriginRequest, limit: Int) {
        self.request = request
        self.limit = limit
        authority = request.url.authority
    }

    /// Whether the response `head` redirects; ``request`` is the one to send then, once its body is out of the way.
    ///
    /// Throws `originRedirectRefused` after too many redirects, and as ``Redirect/following(_:from:)`` does.
    package mutating func follows(_ head: HTTPResponse) throws(RepriseError) -> Bool {
        guard request.method == .get || request.method == .head, let location = Redirect.location(of: head) else {
            return false
        }
        redirects += 1
        guard redirects <= limit else {
            throw RepriseError(
                .originRedirectRefused, "\(authority) redirects more than \(limit) times; it may go in a circle.")
        }
        let next = try Redirect.following(location, from: request)
        hasLeftHost = hasLeftHost || !Redirect.keepsCredentials(from: request.url, to: next.url)
        request = next
        return true
    }
}
