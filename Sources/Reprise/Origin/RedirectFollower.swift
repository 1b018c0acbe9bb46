import HTTPSemantics
package import HTTPTypes

/// The requests of one exchange, from redirect to redirect (RFC 9110 §15.4).
///
/// Cookies that a redirect sets are sent with the requests that follow.
package struct RedirectFollower: Sendable {
    /// The request to send now.
    package private(set) var request: OriginRequest
    /// Whether a redirect led to another host or port, so that only harmless fields are sent from there on.
    package private(set) var hasLeftHost = false
    private let limit: Int
    private let mayLeaveTLS: Bool
    private let authority: String
    /// The request without cookies of redirects.
    private var plain: OriginRequest
    private var cookies = CookieJar()
    /// The time at the origin when it sent the last response, in seconds since 1970; 2000 if it did not say.
    private var time: Int64 = 946_684_800
    /// All requests so far, in order.
    private var sent: [OriginRequest]

    /// How often the same request is sent before it counts as a circle: a server may redirect to the same URL because
    /// it has done something in between.
    private static let mostRepeats = 2

    /// Begins with `request`; follows at most `limit` redirects, and only those of GET and HEAD.
    ///
    /// `mayLeaveTLS` allows those from https to http, which carry no credentials.
    package init(_ request: OriginRequest, limit: Int, mayLeaveTLS: Bool = false) {
        self.request = request
        (self.limit, self.mayLeaveTLS) = (limit, mayLeaveTLS)
        plain = request
        sent = [request]
        authority = request.url.authority
    }

    /// Whether the response `head` redirects; ``request`` is the one to send then, once its body is out of the way.
    ///
    /// Throws `originRedirectRefused` after too many redirects, in a circle, and as
    /// ``Redirect/following(_:from:mayLeaveTLS:)`` does.
    package mutating func follows(_ head: HTTPResponse) throws(RepriseError) -> Bool {
        guard request.method == .get || request.method == .head, let location = Redirect.location(of: head) else {
            return false
        }
        guard sent.count <= limit else {
            throw RepriseError(.originRedirectRefused, "\(authority) redirects more than \(limit) times.")
        }
        if let date = head.headerFields[.date].flatMap({ HTTPDate($0) }) { time = date.secondsSince1970 }
        cookies.take(head.headerFields, from: request.url.cookiePlace, at: time)
        let from = plain
        plain = try Redirect.following(location, from: from, mayLeaveTLS: mayLeaveTLS)
        hasLeftHost = hasLeftHost || !Redirect.keepsCredentials(from: from.url, to: plain.url)
        var next = plain
        let value = cookies.field(
            for: next.url.cookiePlace, at: time, besides: next.fields[.cookie], isNewer: true)
        if value != next.fields[.cookie] { next.fields[values: .cookie] = value.map { [$0] } ?? [] }
        guard sent.count(where: { $0.url == next.url && $0.fields == next.fields }) < Self.mostRepeats else {
            throw RepriseError(
                .originRedirectRefused,
                "\(authority) redirects in a circle, over \(next.url.redacted). Its operator has to correct that, unless it expects a log-in."
            )
        }
        sent.append(next)
        request = next
        return true
    }

    /// Adds cookies set by the redirects to `head`, the final response of the exchange.
    ///
    /// Only cookies that the final host may read are added. Clients need them for later requests, such as segments.
    package func completed(_ head: HTTPResponse) -> HTTPResponse {
        let set = cookies.fields(from: request.url.cookiePlace, at: time)
        guard !set.isEmpty else { return head }
        var head = head
        head.headerFields[values: .setCookie] = set + head.headerFields[values: .setCookie]
        return head
    }
}
