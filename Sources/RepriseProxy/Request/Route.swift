package import Reprise

/// The destination of a request.
package enum Route: Sendable {
    /// The text that describes the proxy.
    case index
    /// The page for browsers.
    case page
    /// The form that asks a browser for the token.
    case login
    /// The page for browsers, without the slash behind the token to which its links refer.
    case pageWithoutSlash
    /// The supported methods (RFC 9110 §9.3.7).
    case options
    /// A browser's preflight for an allowed page (Fetch standard §4.8).
    case preflight(page: String)
    /// What looks after this server: the path and the query behind `/-/`.
    case control(Substring)
    /// The file at a URL.
    case resource(ResourceURL)

    /// Whether the route leads to a file of an origin.
    var isOfResource: Bool { if case .resource = self { true } else { false } }

    private static let expected =
        "Expected /https/host/path (or /http/host/path), for example /https/example.com/song.mp3."

    /// Whether it leads to something of the proxy's own that tells of it or changes it.
    var isOfProxy: Bool {
        switch self {
        case .index, .page, .login, .pageWithoutSlash, .options, .control: true
        case .preflight, .resource: false
        }
    }

    /// The route for `target`: `/https/host[:port]/path?query`, or `/https://host/path`.
    ///
    /// With a `token`, the first path segment must be that token. Path and query are sent to the origin exactly as
    /// received; relative links in playlists resolve by themselves.
    package init(target: String, token: String?) throws(Refusal) {
        guard target.hasPrefix("/") else {
            throw Self.refusal(400, reason: "This is not a forward proxy. " + Self.expected)
        }
        if let text = ControlTarget.text(in: target, token: token) {
            self = .control(text)
            return
        }
        var rest = target.dropFirst()
        if let token {
            let segment = rest.prefix { $0 != "/" }
            guard Self.constantTimeEqual(segment.utf8, token.utf8) else {
                throw Self.refusal(403, reason: "The address must begin with the access token: /TOKEN/https/host/path.")
            }
            rest = rest.dropFirst(segment.count + 1)
        }
        if rest.isEmpty {
            self = .index
            return
        }
        let schemeEnd = rest.firstIndex { $0 == "/" || $0 == ":" } ?? rest.endIndex
        let scheme = rest[..<schemeEnd].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Self.refusal(400, reason: "Unknown scheme \"\(scheme.prefix(32))\". " + Self.expected)
        }
        var location = rest[schemeEnd...]
        if location.hasPrefix(":") { location = location.dropFirst() }
        location = location.drop { $0 == "/" }
        guard !Self.hasDotSegments(location) else {
            throw Self.refusal(400, reason: "The path has . or .. segments; resolve them before asking.")
        }
        do {
            self = .resource(try ResourceURL("\(scheme)://\(location)"))
        } catch {
            throw Self.refusal(400, reason: "\(error.message) " + Self.expected)
        }
    }

    /// A refusal of one target, which does not affect the next request.
    static func refusal(_ status: Int, reason: String) -> Refusal {
        Refusal(status: status, reason: reason, endsConnection: false)
    }

    /// Whether the path leaves a folder, or would if its slashes and dots were decoded.
    ///
    /// An encoded slash alone is part of a name, as used by origins of media.
    private static func hasDotSegments(_ location: Substring) -> Bool {
        let path = location.prefix { $0 != "?" }
        guard path.contains("/.") || path.contains("%2") else { return false }
        let plain = path.lowercased().replacing("%2e", with: ".").replacing("%2f", with: "/")
        return plain.split(separator: "/").contains { $0 == ".." || $0 == "." }
    }

    /// Compares in a time that does not tell how many bytes are right.
    static func constantTimeEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
