/// An absolute `http` or `https` URL, kept exactly as spelled.
///
/// Signed URLs break when re-encoded, so the text is split (RFC 3986 §3) but never normalized, except that scheme and
/// host compare in lower case and a fragment is dropped.
public struct ResourceURL: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public enum Scheme: String, Sendable {
        /// Plain text; port 80 by default.
        case http
        /// TLS, verified; port 443 by default.
        case https
    }

    /// The scheme.
    public let scheme: Scheme
    /// Host name or IP literal in lower case; an IPv6 literal without its brackets.
    public let host: String
    /// The port; the scheme's default if the URL names none.
    public let port: Int
    /// Path and query as sent in the request line; begins with `/`.
    ///
    /// Non-ASCII bytes are percent-encoded.
    public let target: String

    /// Parses `text`.
    ///
    /// Throws ``RepriseError`` with code `invalidURL` when the scheme is neither of the two, the host is empty or
    /// contains invalid characters, credentials are present, the port is not 1–65535, or the text contains spaces
    /// or control characters. The message says which.
    public init(_ text: String) throws(RepriseError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw RepriseError(.invalidURL, "The URL is longer than \(Self.maximumLength) bytes.")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw RepriseError(
                .invalidURL, "The URL has spaces or control characters; percent-encode them (RFC 3986 §2.1).")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw RepriseError(.invalidURL, "The URL must start with http:// or https://.")
        }
        guard let scheme = Scheme(rawValue: text[..<colon].lowercased()) else {
            throw RepriseError(
                .invalidURL, "Only http and https URLs can be fetched, not \"\(text[..<colon].prefix(32))\".")
        }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let (host, port) = try Self.splitAuthority(rest[..<authorityEnd])
        self.scheme = scheme
        self.host = host
        self.port = port ?? (scheme == .http ? 80 : 443)
        // In bytes: for characters, a long URL would be searched for their borders.
        let target = rest[authorityEnd..<(rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex)]
        self.target = Self.visible((target.hasPrefix("/") ? String(target) : "/" + target).utf8)
    }

    /// Percent-encodes whitespace, control characters and non-ASCII bytes in `bytes`.
    package static func visible(_ bytes: some Collection<UInt8>) -> String {
        let isVisible = { (byte: UInt8) in byte > 0x20 && byte < 0x7F }
        if bytes.allSatisfy(isVisible) { return String(decoding: bytes, as: UTF8.self) }
        var text = ""
        for byte in bytes {
            if isVisible(byte) {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                text += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    /// Maximum length of a URL, in bytes: the 64 KiB allowed for a proxy's request line.
    static let maximumLength = 65_536

    /// Whether the port is the scheme's default, which `Host` omits (RFC 9110 §4.2).
    public var hasDefaultPort: Bool { port == (scheme == .http ? 80 : 443) }

    /// `host[:port]` in the form that `Host` requires, with brackets around an IPv6 literal.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return hasDefaultPort ? name : "\(name):\(port)"
    }

    /// The whole URL.
    public var description: String { "\(scheme.rawValue)://\(authority)\(target)" }

    /// The address of this URL on the server at `server`, such as `http://127.0.0.1:8090/TOKEN`.
    package func through(_ server: String) -> String { "\(server)/\(scheme.rawValue)/\(authority)\(target)" }

    /// The URL without its query, fit for logs and errors: signatures and tokens live in queries.
    public var redacted: String {
        guard let question = target.firstIndex(of: "?") else { return description }
        return "\(scheme.rawValue)://\(authority)\(target[..<question])?…"
    }

    /// The last segment of the path, without query; empty for a directory.
    public var lastPathComponent: String {
        let path = target.prefix { $0 != "?" }
        return String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    /// Whether the path has the extension of a playlist, which may change while it is played.
    var namesPlaylist: Bool {
        let name = lastPathComponent.lowercased()
        return [".m3u8", ".m3u", ".mpd", ".pls"].contains { name.hasSuffix($0) }
    }

    /// Whether the path has the extension of an audio or video file.
    package var namesMedia: Bool {
        let name = lastPathComponent.lowercased()
        guard let dot = name.lastIndex(of: ".") else { return false }
        return Self.mediaExtensions.contains(name[name.index(after: dot)...])
    }

    private static let mediaExtensions: Set<Substring> = [
        "3gp", "aac", "ac3", "aif", "aiff", "avi", "caf", "cmfa", "cmfv", "flac", "flv", "m4a", "m4b", "m4s", "m4v",
        "mka", "mkv", "mov", "mp2", "mp3", "mp4", "mpeg", "mpg", "oga", "ogg", "ogv", "opus", "ts", "wav", "webm",
        "wma",
        "wmv",
    ]

    /// Resolves a `Location` or a relative link against this URL (RFC 3986 §5.2.2, without dot segments in the query).
    public func resolving(_ reference: String) throws(RepriseError) -> ResourceURL {
        if reference.contains("://"), let colon = reference.firstIndex(of: ":"),
            reference[colon...].hasPrefix("://"), !reference[..<colon].contains(where: { "/?#".contains($0) })
        {
            return try ResourceURL(reference)
        }
        let base = "\(scheme.rawValue)://\(authority)"
        if reference.hasPrefix("//") { return try ResourceURL("\(scheme.rawValue):\(reference)") }
        if reference.hasPrefix("/") { return try ResourceURL(base + Self.removingDotSegments(reference)) }
        let path = target.prefix { $0 != "?" }
        if reference.hasPrefix("?") { return try ResourceURL(base + path + reference) }
        if reference.isEmpty || reference.hasPrefix("#") { return self }
        let directory = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return try ResourceURL(base + Self.removingDotSegments(directory + reference))
    }

    private static func splitAuthority(_ authority: Substring) throws(RepriseError) -> (String, Int?) {
        guard !authority.contains("@") else {
            throw RepriseError(.invalidURL, "Credentials in a URL are not accepted; send an Authorization header.")
        }
        let host: Substring
        var portText: Substring?
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else {
                throw RepriseError(.invalidURL, "The IPv6 address lacks its closing bracket.")
            }
            host = authority[authority.index(after: authority.startIndex)..<close]
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else {
                throw RepriseError(.invalidURL, "Only a port may follow an IPv6 address.")
            }
            portText = after.isEmpty ? nil : after.dropFirst()
            guard !host.isEmpty, host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                throw RepriseError(.invalidURL, "\"\(host.prefix(64))\" is not an IPv6 address.")
            }
        } else {
            let colon = authority.lastIndex(of: ":")
            host = authority[..<(colon ?? authority.endIndex)]
            portText = colon.map { authority[authority.index(after: $0)...] }
            guard !host.isEmpty, host.count <= 255, host.utf8.allSatisfy(isHostByte) else {
                throw RepriseError(.invalidURL, "\(quoted(host)) is not a host name.")
            }
        }
        guard let portText, !portText.isEmpty else { return (host.lowercased(), nil) }
        guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(portText),
            (1...65_535).contains(port)
        else {
            // What follows a colon may be a password with a slash in it.
            throw RepriseError(
                .invalidURL, "What follows the colon after the host is not a port; ports are 1 to 65535.")
        }
        return (host.lowercased(), port)
    }

    /// `host` in quotation marks, unless it may hold a user name and a password.
    private static func quoted(_ host: Substring) -> String {
        host.contains { $0 == ":" || $0 == "%" } ? "What stands before the path" : "\"\(host.prefix(64))\""
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// RFC 3986 §5.2.4 applied to the path; the query is left unchanged.
    private static func removingDotSegments(_ reference: some StringProtocol) -> String {
        let path = reference.prefix { $0 != "?" && $0 != "#" }
        var output: [Substring] = []
        let segments = String(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { output.append("") }
            case "..":
                _ = output.popLast()
                if isLast { output.append("") }
            default: output.append(segment)
            }
        }
        return "/" + output.joined(separator: "/") + reference[path.endIndex...]
    }
}
