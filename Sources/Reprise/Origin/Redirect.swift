package import HTTPTypes

/// Decides where a redirect leads; RFC 9110 §15.4.
package enum Redirect {
    /// Maximum number of bytes read from a redirect's body in order to reuse its connection; beyond it, the connection
    /// is closed.
    package static let discardLimit = 65_536

    /// The `Location` of a redirect, or `nil` if the response is passed on as it is.
    package static func location(of head: HTTPResponse) -> String? {
        switch head.status.code {
        case 301, 302, 303, 307, 308: head.headerFields[values: .location].first
        default: nil
        }
    }

    /// The request that follows `request` to `location`.
    ///
    /// Throws `originRedirectRefused` when the target is not an http(s) URL or leaves TLS.
    package static func following(_ location: String, from request: OriginRequest) throws(RepriseError) -> OriginRequest
    {
        let origin = request.url
        let target: ResourceURL
        do {
            target = try origin.resolving(visible(location))
        } catch {
            throw RepriseError(
                .originRedirectRefused, "\(origin.authority) redirects to something that cannot be fetched.",
                cause: error)
        }
        guard origin.scheme == .http || target.scheme == .https else {
            throw RepriseError(
                .originRedirectRefused,
                "\(origin.authority) redirects from https to plain http at \(target.authority); ask for the http URL itself if that is wanted."
            )
        }
        return sending(request, to: target, hasLeftHost: !keepsCredentials(from: origin, to: target))
    }

    /// `request` for `target`; with harmless fields only if the way there leads over another host or port.
    static func sending(_ request: OriginRequest, to target: ResourceURL, hasLeftHost: Bool) -> OriginRequest {
        var next = request
        next.url = target
        if hasLeftHost { next.fields = HTTPFields(request.fields.filter { isHarmless($0.name) }) }
        return next
    }

    /// `location` with white space and bytes beyond ASCII percent-encoded, which stand in it although no URI has them;
    /// clients repair that.
    private static func visible(_ location: String) -> String {
        guard location.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else { return location }
        return location.utf8.map { byte in
            byte <= 0x20 || byte >= 0x7F
                ? (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
                : String(UnicodeScalar(byte))
        }.joined()
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

    /// Credentials stay with their host and port; an upgrade from http to https at the default ports counts as staying.
    static func keepsCredentials(from origin: ResourceURL, to target: ResourceURL) -> Bool {
        origin.host == target.host
            && (origin.port == target.port || (origin.hasDefaultPort && target.hasDefaultPort))
    }
}
