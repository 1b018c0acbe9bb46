import Foundation
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
