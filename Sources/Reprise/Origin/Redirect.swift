import Foundation
import HTTPSemantics
package import HTTPTypes

/// Decides where a redirect leads; RFC 9110 §15.4.
package enum Redirect {
    /// Maximum number of bytes read from a redirect's body in order to reuse its connection; beyond it, the connection
    /// is closed.
    package static let discardLimit = 65_536

    /// The `Location` of a redirect, or `nil` if the response is passed on as it is.
    ///
    /// Whitespace and non-ASCII bytes are invalid in a URI. They are percent-encoded byte by byte, as in other clients.
    package static func location(of head: HTTPResponse) -> String? {
        guard [300, 301, 302, 303, 307, 308].contains(head.status.code) else { return nil }
        return head.headerFields.first { $0.name == .location }.map { field in
            field.withUnsafeBytesOfValue { ResourceURL.visible($0) }
        }
    }

    /// The request that follows `request` to `location`.
    ///
    /// Throws `originRedirectRefused` if the target is not an http(s) URL, or if it downgrades from TLS without
    /// permission.
    package static func following(
        _ location: String, from request: OriginRequest, mayLeaveTLS: Bool = false
    ) throws(RepriseError) -> OriginRequest {
        let origin = request.url
        let (location, login) = withoutLogin(location)
        let target: ResourceURL
        do {
            target = try origin.resolving(location)
        } catch {
            throw RepriseError(
                .originRedirectRefused, "\(origin.authority) redirects to something that cannot be fetched.",
                cause: error)
        }
        guard origin.scheme == .http || target.scheme == .https || mayLeaveTLS else {
            throw RepriseError(
                .originRedirectRefused,
                "\(origin.authority) redirects from https to plain http at \(target.authority). Allow that with redirect-to-http = yes in the section of the host that was asked first."
            )
        }
        var next = sending(request, to: target, hasLeftHost: !keepsCredentials(from: origin, to: target))
        if let login { next.fields[.authorization] = "Basic " + Data(login.utf8).base64EncodedString() }
        return next
    }

    /// Splits the user information off `location`.
    ///
    /// `login` is `name:password`. Like other clients, Reprise sends it to the target's host with Basic authentication
    /// (RFC 7617 §2), although user information is deprecated in URLs (RFC 9110 §4.2.4).
    private static func withoutLogin(_ location: String) -> (location: String, login: String?) {
        guard let slashes = location.range(of: "//"),
            location[..<slashes.lowerBound].allSatisfy({ $0.isLetter || $0 == ":" })
        else { return (location, nil) }
        let authority = location[slashes.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return (location, nil) }
        let host = location[location.index(after: at)...]
        let login = authority[..<at].removingPercentEncoding ?? String(authority[..<at])
        return (String(location[..<slashes.upperBound] + host), login.contains(":") ? login : login + ":")
    }

    /// `request` for `target`; with harmless fields only if the way there leads over another host or port.
    static func sending(_ request: OriginRequest, to target: ResourceURL, hasLeftHost: Bool) -> OriginRequest {
        var next = request
        next.url = target
        if hasLeftHost { next.fields = HTTPFields(request.fields.filter { isHarmless($0.name) }) }
        return next
    }

    /// Fields that reveal nothing about the user; only these are sent on to another host or port.
    ///
    /// Programs put their secrets into fields of any name.
    private static let harmless: Set<String> = [
        "user-agent", "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "cache-control", "pragma", "via", "icy-metadata",
    ]

    /// Every Accept field describes a capability (RFC 9110 §12.5).
    private static func isHarmless(_ name: HTTPField.Name) -> Bool {
        let text = name.canonicalName
        return harmless.contains(text) || text == "accept" || text.hasPrefix("accept-")
    }

    /// Whether a redirect from `origin` to `target` may keep credentials.
    ///
    /// They are kept for the same host and port, and never sent from https to http. An upgrade from http to https at
    /// the default ports counts as the same port.
    static func keepsCredentials(from origin: ResourceURL, to target: ResourceURL) -> Bool {
        origin.host == target.host && (origin.scheme == .http || target.scheme == .https)
            && (origin.port == target.port || (origin.hasDefaultPort && target.hasDefaultPort))
    }
}

/// The requests of one exchange, from redirect to redirect (RFC 9110 §15.4).
///
/// Cookies that a redirect sets are sent with the requests that follow.
package struct RedirectFollower: Sendable {
    /// The request to send now.
    package private(set) var request: OriginRequest
    /// Whether a redirect led to another host or port, so that only harmless fields are sent from there on.
    package private(set) var hasLeftHost = false
    /// The value of Authorization from the user name and password in a redirect's target; `nil` if there are none.
    package private(set) var login: String?
    private let limit: Int
    private let mayLeaveTLS: Bool
    private let authority: String
    /// The request without cookies of redirects.
    private var plain: OriginRequest
    private var cookies = CookieJar()
    /// The time at the origin when it sent the last response, in seconds since 1970; the time here if it did not say.
    private var time: Int64
    /// Whether a redirect may have led this user elsewhere than others.
    private var isPersonal = false
    /// All requests so far, in order.
    private var sent: [OriginRequest]

    /// How often the same request is sent before it counts as a circle: a server may redirect to the same URL because
    /// it has done something in between.
    private static let mostRepeats = 2

    /// Begins with `request`; follows at most `limit` redirects, and only those of GET and HEAD.
    ///
    /// `mayLeaveTLS` allows those from https to http, which carry no credentials. `now` is in seconds since 1970.
    package init(_ request: OriginRequest, limit: Int, mayLeaveTLS: Bool = false, now: Double) {
        self.request = request
        (self.limit, self.mayLeaveTLS, time) = (limit, mayLeaveTLS, Int64(now))
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
        isPersonal = isPersonal || mayBePersonal(head)
        let from = plain
        plain = try Redirect.following(location, from: from, mayLeaveTLS: mayLeaveTLS)
        let authorization = plain.fields[.authorization]
        if authorization != from.fields[.authorization] { login = authorization }
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

    /// Whether other users may be redirected elsewhere.
    ///
    /// That is the case if `head` says so, or if it answers credentials and must not be stored by a shared cache.
    /// Without a lifetime, only permanent redirects may be stored (RFC 9110 §15.4).
    private func mayBePersonal(_ head: HTTPResponse) -> Bool {
        let control = CacheControl(head.headerFields)
        guard !control.isPrivate, let names = Vary(head.headerFields)?.names, !names.contains("cookie"),
            !names.contains("authorization")
        else { return true }
        let hasAuthorization = plain.fields[.authorization] != nil
        guard hasAuthorization || plain.fields[.cookie] != nil else { return false }
        let storage = StoragePolicy(isShared: true, hasAuthorization: hasAuthorization)
        let isPermanent = [301, 308].contains(head.status.code)
        let mayBeStored = isPermanent || control.isPublic || control.sharedMaxAge ?? control.maxAge ?? 0 > 0
        return !mayBeStored || storage.objection(to: control) != nil
    }

    /// Adds cookies of the redirects to `head`, the final response, and makes it `private` if only this user may have
    /// been redirected to it.
    ///
    /// Only cookies that the final host may read are added. Clients need them for later requests, such as segments.
    package func completed(_ head: HTTPResponse) -> HTTPResponse {
        var head = head
        let set = cookies.fields(from: request.url.cookiePlace, at: time)
        if !set.isEmpty { head.headerFields[values: .setCookie] = set + head.headerFields[values: .setCookie] }
        if isPersonal {
            head.headerFields.append(HTTPField(name: .cacheControl, value: "private"))
            // It would override Cache-Control (RFC 9213 §2.1).
            if let name = HTTPField.Name("CDN-Cache-Control") { head.headerFields[name] = nil }
        }
        return head
    }
}
