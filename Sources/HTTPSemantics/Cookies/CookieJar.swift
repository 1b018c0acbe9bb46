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

        /// The host, and the domains that it is in.
        fileprivate var domains: [String] {
            var domains = [host]
            while !isAddress, let dot = domains[domains.count - 1].firstIndex(of: ".") {
                domains.append(String(domains[domains.count - 1][dot...].dropFirst()))
            }
            return domains
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
        /// Cookies that came earlier have a smaller one.
        var number = 0

        func isReplaced(by other: Cookie) -> Bool {
            name == other.name && path == other.path && isHostOnly == other.isHostOnly
        }

        /// RFC 6265 §5.4, step 1.
        func belongs(to place: Place) -> Bool {
            (isHostOnly ? place.host == domain : place.isWithin(domain)) && (place.isSecure || !isSecure)
                && (place.path == path || place.path.hasPrefix(path.hasSuffix("/") ? path : path + "/"))
        }
    }

    private static let mostOfDomain = 64, most = 1024, longest = 4096

    /// By domain, each in the order of arrival.
    private var cookies: [String: [Cookie]] = [:]
    private var count = 0
    private var lastNumber = 0

    /// Creates an empty jar.
    package init() {}

    /// Takes the cookies of a response that arrived at `time`, in seconds since 1970.
    ///
    /// A cookie that is in the jar already and came later stays.
    package mutating func take(_ fields: HTTPFields, from place: Place, at time: Int64) {
        for text in fields[values: .setCookie] {
            guard var cookie = Self.cookie(text, from: place, at: time) else { continue }
            var others = cookies[cookie.domain] ?? []
            if let index = others.firstIndex(where: { $0.isReplaced(by: cookie) }) {
                guard others[index].arrival <= time else { continue }
                cookie.number = others[index].number
                others[index] = cookie
            } else {
                lastNumber += 1
                cookie.number = lastNumber
                others.append(cookie)
                count += 1
            }
            if others.count > Self.mostOfDomain {
                others.removeFirst()
                count -= 1
            }
            cookies[cookie.domain] = others
            if count > Self.most { removeOldest() }
        }
    }

    private mutating func removeOldest() {
        let oldest = cookies.min { ($0.value.first?.number ?? .max) < ($1.value.first?.number ?? .max) }
        guard let oldest else { return }
        cookies[oldest.key] = oldest.value.count > 1 ? Array(oldest.value.dropFirst()) : nil
        count -= 1
    }

    /// The value of `Cookie` for a request at `time`; `nil` if there is none.
    ///
    /// `own` is the value that the request has already. Its pairs come first and hide cookies of the same name in the
    /// jar. If the jar `isNewer`, its cookies come first, and replace or remove pairs of the same name.
    package func field(
        for place: Place, at time: Int64, besides own: String? = nil, isNewer: Bool = false
    ) -> String? {
        let matching = place.domains.flatMap { cookies[$0] ?? [] }.filter { $0.belongs(to: place) }
        guard !matching.isEmpty else { return own }
        let pairs = (own ?? "").split(separator: ";").map(\.trimmingBlanks).filter { !$0.isEmpty }
        let names = Set(pairs.map { $0.prefix { $0 != "=" } })
        // Longer paths first, then earlier ones (RFC 6265 §5.4).
        let sent = matching.filter { ($0.end ?? .max) > time && (isNewer || !names.contains($0.name[...])) }
            .sorted { ($1.path.utf8.count, $0.number) < ($0.path.utf8.count, $1.number) }
            .map { "\($0.name)=\($0.value)" }
        let known = Set(isNewer ? matching.map(\.name) : [])
        let kept = pairs.filter { !known.contains(String($0.prefix { $0 != "=" })) }.map(String.init)
        let all = isNewer ? sent + kept : kept + sent
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// `Set-Cookie` values for all cookies that the host of `place` may read.
    ///
    /// `time` is in seconds since 1970; lifetimes count from it.
    package func fields(from place: Place, at time: Int64) -> [String] {
        place.domains.flatMap { cookies[$0] ?? [] }.filter { !$0.isHostOnly || $0.domain == place.host }
            .sorted { $0.number < $1.number }
            .map { cookie in
                var text = "\(cookie.name)=\(cookie.value); Path=\(cookie.path); HttpOnly"
                if !cookie.isHostOnly { text += "; Domain=\(cookie.domain)" }
                if cookie.isSecure { text += "; Secure" }
                if let end = cookie.end { text += "; Max-Age=\(end > time ? end - time : 0)" }
                return text
            }
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
        let prefix = cookie.name.lowercased()
        if prefix.hasPrefix("__secure-"), !cookie.isSecure { return nil }
        if prefix.hasPrefix("__host-"), !(cookie.isSecure && cookie.isHostOnly && cookie.path == "/") { return nil }
        // As browsers and curl do: what an encrypted site set must not be replaced by a cookie in the clear.
        return cookie.isSecure && !place.isSecure ? nil : cookie
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
