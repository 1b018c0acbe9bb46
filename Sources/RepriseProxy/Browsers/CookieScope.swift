import Reprise

/// Keeps cookies of different origins apart in a client's jar, which sees only one site, the proxy: their paths begin
/// with the origin's own address (RFC 6265 §5.1.4).
struct CookieScope {
    /// The part before the origin's path in the client's request target: `/https/host`, preceded by the token.
    private let prefix: Substring
    /// The folder of the requested URL, the path of cookies without one.
    private let folder: String

    /// The scope for cookies of a response to `target`; `nil` if it does not end with the URL's own path.
    init?(target: String, url: ResourceURL) {
        guard target.hasSuffix(url.target) else { return nil }
        prefix = target.dropLast(url.target.count)
        let path = url.target.prefix { $0 != "?" }
        let end = path.lastIndex(of: "/") ?? path.startIndex
        folder = end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Reduces the `Max-Age` of a `Set-Cookie` value by `age` seconds; `nil` if the cookie has expired.
    static func remaining(_ value: String, after age: Int64) -> String? {
        var parts = value.split(separator: ";", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated().dropFirst() {
            let name = part.prefix { $0 != "=" }
            guard name.trimmed.lowercased() == "max-age",
                let seconds = Int64(part.dropFirst(name.count + 1).trimmed)
            else { continue }
            guard seconds > age else { return nil }
            parts[index] = " Max-Age=\(seconds - age)"
        }
        return parts.joined(separator: ";")
    }

    /// A `Set-Cookie` value for the client's jar; `nil` if the cookie cannot be confined to its origin.
    ///
    /// Names that begin with `__Host-` or `__Secure-` make promises that plain HTTP cannot keep (RFC 6265bis §4.1.3).
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
            // Domain and Secure describe the origin's connection; the rest concerns pages.
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
