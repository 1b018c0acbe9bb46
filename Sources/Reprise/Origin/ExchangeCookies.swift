import HTTPSemantics
import HTTPTypes

/// The cookies that the redirects of one exchange set.
///
/// They are sent with its further requests as RFC 6265 §5 says, and then forgotten.
struct ExchangeCookies: Sendable {
    private struct Cookie: Sendable {
        let name: Substring
        /// `nil` if it was removed.
        let value: Substring?
        let domain: String
        let isHostOnly: Bool
        let path: Substring
        let isSecure: Bool

        func names(_ other: Cookie) -> Bool { name == other.name && domain == other.domain && path == other.path }

        /// RFC 6265 §5.4.
        func matches(_ url: ResourceURL) -> Bool {
            (isHostOnly ? url.host == domain : ExchangeCookies.domain(domain, covers: url.host))
                && (!isSecure || url.scheme == .https) && ExchangeCookies.path(path, covers: url)
        }
    }

    /// Most cookies that are kept.
    private static let most = 50
    private var cookies: [Cookie] = []

    /// Takes the cookies that a response from `url` sets.
    mutating func take(_ fields: HTTPFields, from url: ResourceURL) {
        let date = fields[.date].flatMap { HTTPDate($0) }
        for text in fields[values: .setCookie] {
            guard let cookie = Self.cookie(text[...], from: url, at: date) else { continue }
            cookies.removeAll { $0.names(cookie) }
            if cookies.count < Self.most { cookies.append(cookie) }
        }
    }

    /// Adds the cookies for the URL of `request`, in place of those of the same name that its client sends.
    func add(to request: inout OriginRequest) {
        let own = cookies.filter { $0.matches(request.url) }
        guard !own.isEmpty else { return }
        let names = Set(own.map(\.name))
        let kept = (request.fields[.cookie] ?? "").split(separator: ";").map(Self.trimmed).filter { pair in
            !pair.isEmpty && !names.contains(pair.prefix { $0 != "=" })
        }
        // Longer paths come first; RFC 6265 §5.4.
        let sent = own.sorted { $0.path.utf8.count > $1.path.utf8.count }.compactMap { cookie in
            cookie.value.map { "\(cookie.name)=\($0)" }
        }
        let value = (sent + kept.map(String.init)).joined(separator: "; ")
        request.fields[values: .cookie] = value.isEmpty ? [] : [value]
    }

    // MARK: Set-Cookie

    /// RFC 6265 §5.2 and §5.3; `nil` for a cookie that is not kept.
    private static func cookie(_ text: Substring, from url: ResourceURL, at date: HTTPDate?) -> Cookie? {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = trimmed(pair[..<equals])
        guard !name.isEmpty else { return nil }
        var attributes: [String: Substring] = [:]
        for part in parts.dropFirst() {
            let name = part.prefix { $0 != "=" }
            attributes[trimmed(name).lowercased()] = trimmed(part.dropFirst(name.count + 1))
        }
        let isSecure = attributes["secure"] != nil
        guard !isSecure || url.scheme == .https else { return nil }
        var domain = (attributes["domain"] ?? "").lowercased()
        if domain.hasPrefix(".") { domain.removeFirst() }
        // A domain of one label would be that of all its hosts.
        guard domain.isEmpty || domain == url.host || domain.contains(".") && Self.domain(domain, covers: url.host)
        else { return nil }
        let path = attributes["path"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? directory(of: url)
        return Cookie(
            name: name, value: isOver(attributes, at: date) ? nil : trimmed(pair[equals...].dropFirst()),
            domain: domain.isEmpty ? url.host : domain, isHostOnly: domain.isEmpty, path: path, isSecure: isSecure)
    }

    /// Whether a cookie removes one that was set before; `Max-Age` counts before `Expires`.
    private static func isOver(_ attributes: [String: Substring], at date: HTTPDate?) -> Bool {
        if let age = attributes["max-age"], let first = age.first, first == "-" || first.isNumber {
            return first == "-" || age.allSatisfy { $0 == "0" }
        }
        // Dates of Netscape have hyphens.
        guard let text = attributes["expires"].map(String.init),
            let end = HTTPDate(text) ?? HTTPDate(String(text.replacing("-", with: " ")))
        else { return false }
        // Without a date of the response: cookies are removed by dates of the last century.
        return end.secondsSince1970 <= date?.secondsSince1970 ?? 946_684_800
    }

    /// RFC 6265 §5.1.3.
    private static func domain(_ domain: String, covers host: String) -> Bool {
        host == domain || host.hasSuffix("." + domain) && host.contains { $0.isLetter }
    }

    /// RFC 6265 §5.1.4.
    private static func path(_ path: Substring, covers url: ResourceURL) -> Bool {
        let own = url.target.prefix { $0 != "?" }
        return own.hasPrefix(path)
            && (own.count == path.count || path.hasSuffix("/") || own.dropFirst(path.count).first == "/")
    }

    /// The default path; RFC 6265 §5.1.4.
    private static func directory(of url: ResourceURL) -> Substring {
        let path = url.target.prefix { $0 != "?" }
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : path[..<end]
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let rest = text.drop { $0 == " " || $0 == "\t" }
        return rest[..<(rest.lastIndex { $0 != " " && $0 != "\t" }.map(rest.index(after:)) ?? rest.startIndex)]
    }
}
