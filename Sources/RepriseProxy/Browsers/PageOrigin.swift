/// The origin of a page as browsers send it in `Origin`, in lower case.
///
/// Consists of the scheme, the host, and the port unless it is the scheme's default (RFC 6454 §6.2). Apps and browser
/// extensions use their own schemes.
package struct PageOrigin: Sendable, Hashable {
    /// For example `http://localhost:8000`.
    package let text: String

    /// Parses an origin with a scheme such as `https` or `capacitor`, a host, and an optional port.
    ///
    /// `nil` for anything else, including `null` and `*`.
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
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"), isScheme(text[..<colon]) else {
            return nil
        }
        let scheme = text[..<colon] + "://"
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
        let isDefault = number == nil || number == defaultPorts[String(text[..<colon])]
        return (scheme + host + (isDefault ? "" : ":\(number ?? 0)"), place[end...])
    }

    private static let defaultPorts: [String: UInt16] = ["http": 80, "https": 443]
    /// Schemes that are not for pages, or whose origin is determined by another URL.
    private static let otherSchemes: Set<Substring> = [
        "about", "blob", "data", "file", "ftp", "javascript", "ws", "wss",
    ]

    /// Whether `text` is an allowed scheme: a letter, then letters, digits, `+`, `-` and `.` (RFC 3986 §3.1).
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first), !otherSchemes.contains(text) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

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
