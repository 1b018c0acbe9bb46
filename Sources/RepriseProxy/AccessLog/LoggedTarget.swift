import Foundation
import Reprise

/// A request target as logs show it: without query, and without what is or may be a token.
enum LoggedTarget {
    /// What stands in the place of a segment that may be a mistyped token.
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

    /// What stands before an at sign in the first segment may be a user name and a password.
    private static func withoutUser(_ location: Substring) -> String {
        let host = location.prefix { $0 != "/" }
        guard let at = host.lastIndex(of: "@") else { return String(location) }
        return hidden + location[at...]
    }
}
