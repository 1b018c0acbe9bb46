package import Reprise

/// What a request target names: `/https/host[:port]/path?query`, or `/https://host/path`.
///
/// Path and query go to the origin exactly as they came. Relative links in playlists therefore resolve by themselves.
package struct ProxyTarget: Sendable {
    package enum Kind: Sendable {
        /// The page that explains the proxy.
        case index
        case resource(ResourceURL)
    }

    /// Why a target is refused, with the status to answer.
    package struct Refusal: Error, Equatable {
        let status: Int
        let reason: String
    }

    private static let expected =
        "Expected /https/host/path (or /http/host/path), for example /https/example.com/song.mp3."

    /// Parses `target`; with a `token`, the first path segment must be it.
    package static func parse(_ target: String, token: String?) throws(Refusal) -> Kind {
        guard target.hasPrefix("/") else {
            throw Refusal(status: 400, reason: "This is not a forward proxy. " + expected)
        }
        var rest = target.dropFirst()
        if let token {
            let segment = rest.prefix { $0 != "/" }
            guard constantTimeEqual(String(segment), token) else {
                throw Refusal(
                    status: 403, reason: "The address must begin with the access token: /TOKEN/https/host/path.")
            }
            rest = rest.dropFirst(segment.count + 1)
        }
        if rest.isEmpty { return .index }
        let schemeEnd = rest.firstIndex { $0 == "/" || $0 == ":" } ?? rest.endIndex
        let scheme = rest[..<schemeEnd].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Refusal(status: 400, reason: "Unknown scheme \"\(scheme.prefix(32))\". " + expected)
        }
        var location = rest[schemeEnd...]
        if location.hasPrefix(":") { location = location.dropFirst() }
        location = location.drop { $0 == "/" }
        guard !hasDotSegments(location) else {
            throw Refusal(status: 400, reason: "The path has . or .. segments; resolve them before asking.")
        }
        do {
            return .resource(try ResourceURL("\(scheme)://\(location)"))
        } catch {
            throw Refusal(status: 400, reason: "\(error.message) " + expected)
        }
    }

    /// Whether the path leaves a folder, or would if slashes and dots were not percent-encoded.
    ///
    /// An encoded slash alone is part of a name, as origins of media have it.
    private static func hasDotSegments(_ location: Substring) -> Bool {
        let path = location.prefix { $0 != "?" }
        guard path.contains("/.") || path.contains("%2") else { return false }
        let plain = path.lowercased().replacing("%2e", with: ".").replacing("%2f", with: "/")
        return plain.split(separator: "/").contains { $0 == ".." || $0 == "." }
    }

    private static func constantTimeEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
