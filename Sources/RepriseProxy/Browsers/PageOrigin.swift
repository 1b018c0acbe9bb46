/// The origin of a web page as spelled by browsers in `Origin`: scheme, host, and the port unless it is the scheme's
/// default (RFC 6454 §6.2).
package struct PageOrigin: Sendable, Hashable {
    /// For example `http://localhost:8000`.
    package let text: String

    /// Parses an origin: `http` or `https`, a host, optionally a port; `nil` for anything else, including `null` and
    /// `*`.
    package init?(_ text: String) {
        let text = text.lowercased()
        guard let parts = Self.split(text), parts.rest.isEmpty || parts.rest == "/" else { return nil }
        self.text = parts.origin
    }

    /// The origin of the page at `url`; `nil` if it has none that could be allowed.
    init?(ofPage url: String) {
        guard let parts = Self.split(url.lowercased()) else { return nil }
        text = parts.origin
    }

    private static func split(_ text: String) -> (origin: String, rest: Substring)? {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let scheme = isSecure ? "https://" : "http://"
        let place = text.dropFirst(scheme.count)
        let end = place.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? place.endIndex
        let authority = place[..<end]
        let isLiteral = authority.hasPrefix("[")
        let hostEnd =
            isLiteral ? authority.firstIndex(of: "]").map(authority.index(after:)) : authority.firstIndex(of: ":")
        guard hostEnd != nil || !isLiteral else { return nil }
        let host = authority[..<(hostEnd ?? authority.endIndex)]
        var port = authority[host.endIndex...]
        guard !host.isEmpty, host.utf8.allSatisfy(isOfHost), port.isEmpty || port.hasPrefix(":") else { return nil }
        port = port.dropFirst()
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), port.isEmpty || (UInt16(port) ?? 0) > 0 else {
            return nil
        }
        let number = UInt16(port)
        let isDefault = number == nil || number == (isSecure ? 443 : 80)
        return (scheme + host + (isDefault ? "" : ":\(number ?? 0)"), place[end...])
    }

    /// Letters, digits, dots and hyphens; colons and brackets of an IPv6 literal.
    ///
    /// Other names are written in Punycode.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        case UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
        default: false
        }
    }
}
