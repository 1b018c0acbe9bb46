import Foundation
import Reprise

/// What an access log says of a request: nothing that may be a secret.
final class LoggedRequest: Sendable {
    /// When its turn came, in seconds since 1970.
    let time: Double
    /// The address of the client; `nil` if the system does not know it.
    let client: String?
    let method: String
    /// The URL of the file, or the path of what the proxy itself has; without query and token.
    let url: String
    let version: String
    let range: String?
    let userAgent: String?
    /// The trace to which the request belongs (W3C Trace Context §3.2.2.3).
    let trace: String?

    init(
        _ head: borrowing ClientHead, hiding tokens: TokenTexts = TokenTexts([]), from client: String?, at time: Double
    ) {
        self.time = time
        self.client = client
        method = tokens.hidden(in: head.method.name)
        url = LoggedTarget.text(head.target, hiding: tokens.texts)
        version = head.isHTTP11 ? "HTTP/1.1" : "HTTP/1.0"
        range = head.value("range").map(tokens.hidden)
        userAgent = head.value("user-agent").map(tokens.hidden)
        trace = head.value("traceparent").flatMap(Self.traceID)
    }

    /// A request that could not be parsed.
    init(malformedFrom client: String?, at time: Double) {
        self.time = time
        self.client = client
        (method, url, version) = ("-", "-", "HTTP/1.1")
        (range, userAgent, trace) = (nil, nil, nil)
    }

    /// The trace in a `traceparent`; `nil` if it is malformed, or of a version that is none (W3C Trace Context §3.2.2).
    static func traceID(_ field: String) -> String? {
        let parts = field.split(separator: "-", omittingEmptySubsequences: false)
        let isHexadecimal: (Substring) -> Bool = { text in
            text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        guard parts.count == 4 || parts.count > 4 && parts[0] != "00", parts[0] != "ff",
            zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.utf8.count == $1 && isHexadecimal($0) }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return String(parts[1])
    }
}

extension ClientHead.Method {
    /// The method as received.
    var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .options: "OPTIONS"
        case .other(let name): name
        }
    }
}

/// A request target as logs show it: without query, and without tokens and segments that may be tokens.
enum LoggedTarget {
    /// Replaces a segment that may be a mistyped token.
    static let hidden = "-"

    /// The URL of the file that `target` asks for, otherwise the path.
    ///
    /// With `tokens`, only what follows one is shown. Where the first segment is neither a token nor a scheme, it is
    /// hidden, because it may be the token of another server, or nearly one of this server's. Tokens are hidden
    /// wherever else they are a segment, such as behind the address of the server (RFC 9112 §3.2.2).
    static func text(_ target: String, hiding tokens: Set<String>) -> String {
        let text = place(target, tokens: tokens)
        guard !tokens.isEmpty else { return text }
        return text.split(separator: "/", omittingEmptySubsequences: false)
            .map { names(tokens, in: $0) ? Substring(hidden) : $0 }
            .joined(separator: "/")
    }

    /// Whether a part of `segment` is a token, also if it is percent-encoded (RFC 3986 §2.1).
    private static func names(_ tokens: Set<String>, in segment: Substring) -> Bool {
        let plain = segment.removingPercentEncoding ?? String(segment)
        return tokens.contains(String(segment)) || plain.split(separator: "/").contains { tokens.contains(String($0)) }
    }

    private static func place(_ target: String, tokens: Set<String>) -> String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        var rest = path.drop { $0 == "/" }
        let segment = rest.prefix { $0 != "/" }
        if tokens.contains(String(segment)) {
            rest = rest.dropFirst(segment.count).drop { $0 == "/" }
        } else if !tokens.isEmpty, !isScheme(segment) {
            return "/" + hidden + rest.dropFirst(segment.count)
        }
        guard let url = url(rest) else { return "/" + withoutUser(rest) }
        return url
    }

    private static func isScheme(_ segment: Substring) -> Bool {
        ["http", "https", "http:", "https:"].contains(segment.lowercased())
    }

    /// `https/host/path` and `https://host/path` as a URL.
    private static func url(_ path: Substring) -> String? {
        let segment = path.prefix { $0 != "/" }
        guard isScheme(segment) else { return nil }
        let location = path.dropFirst(segment.count).drop { $0 == "/" }
        return "\(segment.prefix { $0 != ":" }.lowercased())://\(withoutUser(location))"
    }

    /// Hides the text before an at sign in the first segment, which may be a user name and a password.
    private static func withoutUser(_ location: Substring) -> String {
        let host = location.prefix { $0 != "/" }
        guard let at = host.lastIndex(of: "@") else { return String(location) }
        return hidden + location[at...]
    }
}

/// Finds the client behind trusted proxies, from `X-Forwarded-For`.
///
/// Each proxy appends the address of its peer. Entries to the left of an untrusted address were written by that peer
/// and prove nothing.
struct ForwardedClient: Sendable {
    /// Whether the proxy at this address is trusted.
    let trusts: @Sendable (String) -> Bool

    /// The address of the client on a connection from `peer`, whose request has `field`.
    func address(behind peer: String, saying field: String?) -> String {
        guard let field, trusts(peer) else { return peer }
        var client = peer
        for entry in field.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            guard let address = Self.address(entry.trimmingCharacters(in: .whitespaces)) else { break }
            client = address
            guard trusts(address) else { break }
        }
        return client
    }

    /// The address in an entry, to which some proxies add a port; `nil` for anything else, such as `unknown`.
    private static func address(_ entry: String) -> String? {
        if entry.hasPrefix("[") {
            let inner = entry.dropFirst().prefix { $0 != "]" }
            return inner.contains(":") && ProxyConfiguration.isAddress(inner) ? String(inner) : nil
        }
        if ProxyConfiguration.isAddress(entry[...]) { return entry }
        let host = entry.prefix { $0 != ":" }
        return host.count < entry.count && ProxyConfiguration.isAddress(host) ? String(host) : nil
    }
}
