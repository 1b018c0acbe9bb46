package import HTTPTypes

/// Cookies as a user agent keeps and returns them (RFC 6265 §5.3, §5.4); a pure value.
///
/// Bounded: 64 cookies for each domain and 1,024 in all, of 4 KiB at most. The oldest are dropped.
package struct CookieJar: Sendable {
    /// The place that a response came from, or that a request is for.
    package struct Place: Sendable {
        let host: String
        let path: String
        let isSecure: Bool

        /// Creates a place; `target` may have a query, and `host` has no brackets.
        package init(host: String, target: String, isSecure: Bool) {
            self.host = host.lowercased()
            let path = target.prefix { $0 != "?" }
            self.path = path.hasPrefix("/") ? String(path) : "/"
            self.isSecure = isSecure
        }

        /// The folder of the path (RFC 6265 §5.1.4).
        fileprivate var folder: String {
            let end = path.lastIndex(of: "/") ?? path.startIndex
            return end == path.startIndex ? "/" : String(path[..<end])
        }

        /// Whether the host is an address, to which no other host belongs.
        fileprivate var isAddress: Bool {
            host.contains(":") || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        }

        /// RFC 6265 §5.1.3.
        fileprivate func isWithin(_ domain: String) -> Bool {
            host == domain || !isAddress && host.hasSuffix("." + domain)
        }
    }

    private struct Cookie {
        let name, value: String
        var domain: String
        var isHostOnly = true
        var path: String
        var isSecure = false
        /// Seconds since 1970; `nil` for a cookie of the session.
        var end: Int64?
        var arrival: Int64

        func isReplaced(by other: Cookie) -> Bool {
            name == other.name && domain == other.domain && path == other.path && isHostOnly == other.isHostOnly
        }

        /// RFC 6265 §5.4, step 1.
        func belongs(to place: Place) -> Bool {
            (isHostOnly ? place.host == domain : place.isWithin(domain)) && (place.isSecure || !isSecure)
                && (place.path == path || place.path.hasPrefix(path.hasSuffix("/") ? path : path + "/"))
        }
    }

    private static let mostOfDomain = 64, most = 1024, longest = 4096

    /// In the order in which they came.
    private var cookies: [Cookie] = []

    /// Creates an empty jar.
    package init() {}

    /// Takes the cookies of a response that arrived at `time`, in seconds since 1970.
    ///
    /// A cookie that is in the jar already and came later stays.
    package mutating func take(_ fields: HTTPFields, from place: Place, at time: Int64) {
        for text in fields[values: .setCookie] {
            guard let cookie = Self.cookie(text, from: place, at: time) else { continue }
            if let index = cookies.firstIndex(where: { $0.isReplaced(by: cookie) }) {
                guard cookies[index].arrival <= time else { continue }
                cookies[index] = cookie
            } else {
                cookies.append(cookie)
            }
            let ofDomain = cookies.indices.filter { cookies[$0].domain == cookie.domain }
            if ofDomain.count > Self.mostOfDomain { cookies.remove(at: ofDomain[0]) }
            if cookies.count > Self.most { cookies.removeFirst() }
        }
    }

    /// The value of `Cookie` for a request at `time`; `nil` if the jar has none for it.
    ///
    /// Pairs of `own`, a field that the request has already, come first and replace those of the same name.
    package func field(for place: Place, at time: Int64, besides own: String? = nil) -> String? {
        let known = Set((own ?? "").split(separator: ";").map { $0.prefix { $0 != "=" }.trimmingBlanks })
        let mine = cookies.enumerated()
            .filter { $0.element.end.map { $0 > time } != false && $0.element.belongs(to: place) }
            .filter { !known.contains($0.element.name[...]) }
            .sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
            .map { "\($0.element.name)=\($0.element.value)" }
        let pairs = (own.map { [$0] } ?? []) + mine
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    private static func cookie(_ text: String, from place: Place, at time: Int64) -> Cookie? {
        guard text.utf8.count <= longest else { return nil }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmingBlanks)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals].trimmingBlanks
        guard !name.isEmpty else { return nil }
        let value = pair[pair.index(after: equals)...].trimmingBlanks
        var cookie = Cookie(
            name: String(name), value: String(value), domain: place.host, path: place.folder, arrival: time)
        var hasMaxAge = false
        for attribute in parts.dropFirst() {
            let name = attribute.prefix { $0 != "=" }
            let value = attribute.dropFirst(name.count + 1).trimmingBlanks
            switch name.trimmingBlanks.lowercased() {
            case "path": cookie.path = value.hasPrefix("/") ? String(value) : place.folder
            case "secure": cookie.isSecure = true
            case "max-age":
                guard let seconds = Int64(value) else { break }
                hasMaxAge = true
                cookie.end = seconds <= 0 ? .min : time + min(seconds, .max - max(time, 0))
            case "expires": if !hasMaxAge, let date = date(value) { cookie.end = date.secondsSince1970 }
            case "domain":
                let domain = (value.hasPrefix(".") ? value.dropFirst() : value).lowercased()
                if domain.isEmpty || domain == place.host && place.isAddress { break }
                guard place.isWithin(domain) else { return nil }
                if isPublic(domain) {
                    guard domain == place.host else { return nil }
                } else {
                    (cookie.domain, cookie.isHostOnly) = (domain, false)
                }
            default: break
            }
        }
        return cookie
    }

    /// A date with blanks or, as in Netscape's specification, hyphens.
    private static func date(_ text: Substring) -> HTTPDate? {
        HTTPDate(String(text)) ?? HTTPDate(String(text.replacing("-", with: " ")))
    }

    /// Whether anyone may register names below this one (RFC 6265 §5.3, step 5), as far as its form tells.
    private static func isPublic(_ domain: String) -> Bool {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count < 2 || labels.count == 2 && labels[1].utf8.count == 2 && registries.contains(labels[0])
    }

    private static let registries: Set<Substring> = [
        "ac", "co", "com", "edu", "go", "gob", "gov", "gouv", "ltd", "mil", "ne", "net", "nom", "or", "org", "plc",
        "sch",
    ]
}

extension Substring {
    /// Without spaces and tabs at both ends.
    fileprivate var trimmingBlanks: Substring {
        var result = drop { $0 == " " || $0 == "\t" }
        while let last = result.last, last == " " || last == "\t" { result.removeLast() }
        return result
    }
}
