import Reprise

/// Keeps cookies of different origins apart in one client's jar, which knows one site only, the proxy's: their paths begin
/// with the origin's own address (RFC 6265 §5.1.4).
struct CookieScope {
    /// What stands before the origin's path in the client's request target: `/https/host`, the token before it.
    private let prefix: Substring
    /// The folder of the URL that was asked for, the path of cookies that name none.
    private let folder: String

    /// The scope for cookies of a response to `target`; `nil` if it does not end with the URL's own path.
    init?(target: String, url: ResourceURL) {
        guard target.hasSuffix(url.target) else { return nil }
        prefix = target.dropLast(url.target.count)
        let path = url.target.prefix { $0 != "?" }
        let end = path.lastIndex(of: "/") ?? path.startIndex
        folder = end == path.startIndex ? "/" : String(path[..<end])
    }

    /// A value of `Set-Cookie` for the client's jar; `nil` if the cookie cannot be kept to its origin.
    ///
    /// Names that begin with `__Host-` or `__Secure-` promise what plain HTTP cannot hold (RFC 6265bis §4.1.3).
    func scoped(_ value: String) -> String? {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed }
        guard let pair = parts.first, pair.contains("="), !pair.lowercased().hasPrefix("__") else { return nil }
        var kept = [String(pair)]
        var path = folder
        for attribute in parts.dropFirst() {
            let name = attribute.prefix { $0 != "=" }
            switch name.trimmed.lowercased() {
            case "path":
                let named = attribute.dropFirst(name.count + 1).trimmed
                path = named.hasPrefix("/") ? String(named) : folder
            case "expires", "max-age", "httponly": kept.append(String(attribute))
            // Domain and Secure speak of the origin's connection, the rest of pages.
            default: break
            }
        }
        kept.append("Path=\(prefix)\(path)")
        return kept.joined(separator: "; ")
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var result = drop { $0 == " " || $0 == "\t" }
        while let last = result.last, last == " " || last == "\t" { result.removeLast() }
        return result
    }
}
