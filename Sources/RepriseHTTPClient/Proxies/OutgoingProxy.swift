import Foundation
public import Reprise

/// A proxy through which origins are asked: how it is spoken to, its address, and a log-in.
public struct OutgoingProxy: Sendable, Hashable, CustomStringConvertible {
    /// How a proxy is spoken to.
    enum Kind: String, Sendable {
        /// HTTP: requests in absolute form, or through CONNECT.
        case http
        /// The same, in TLS.
        case https
        /// SOCKS5 with addresses; names are resolved here.
        case socks5
        /// SOCKS5 with names, which the proxy resolves.
        case socks5h

        /// The port of a proxy whose URL has none.
        var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5, .socks5h: 1080
            }
        }
    }

    /// A user name and a password.
    struct Login: Sendable, Hashable {
        let user, password: String
    }

    let kind: Kind
    /// Where the proxy is.
    let endpoint: Endpoint
    let login: Login?

    /// Reads a URL: `http://`, `https://`, `socks5://` or `socks5h://`, then `user:password@` if the proxy wants it, a
    /// host, and a port.
    ///
    /// Without a scheme it is `http`; without a port 80, 443 or 1080. User name and password are percent-encoded.
    /// Throws `invalidURL`; the error contains no part of the URL, because that may be a password.
    public init(_ text: String) throws(RepriseError) {
        var rest = Substring(text)
        var name = Kind.http.rawValue
        if let slashes = text.range(of: "://") {
            (name, rest) = (text[..<slashes.lowerBound].lowercased(), text[slashes.upperBound...])
        }
        guard let kind = Kind(rawValue: name) else {
            throw Self.objection("begin it with http://, https://, socks5:// or socks5h://.")
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains(where: { "/?#".contains($0) }) else {
            throw Self.objection("it ends with its host and port; write a slash in a password as %2F.")
        }
        let at = rest.lastIndex(of: "@")
        login = try at.map { at throws(RepriseError) in try Self.login(rest[..<at], for: kind) }
        let place = at.map { rest[rest.index(after: $0)...] } ?? rest
        guard let address = try? ResourceURL("http://\(place)") else {
            throw Self.objection("write its host and its port, such as http://proxy.example:3128.")
        }
        let hasPort = place.split(separator: "]").last?.contains(":") == true && !place.hasSuffix(":")
        endpoint = Endpoint(
            scheme: kind == .https ? .https : .http, host: address.host,
            port: hasPort && !place.hasSuffix("]") ? address.port : kind.defaultPort)
        self.kind = kind
    }

    private static func login(_ text: Substring, for kind: Kind) throws(RepriseError) -> Login {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && !"<>\"\u{7F}".unicodeScalars.contains($0) }),
            let user = parts[0].removingPercentEncoding,
            let password = parts.count > 1 ? parts[1].removingPercentEncoding : "",
            !(user + password).unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { throw objection("write other characters of user name and password in percent-encoding, such as %40.") }
        // RFC 7617 §2; RFC 1929 §2.
        let isPossible =
            switch kind {
            case .http, .https: !user.contains(":")
            case .socks5, .socks5h: [user, password].allSatisfy { (1...255).contains($0.utf8.count) }
            }
        guard isPossible else { throw objection("no such user name and password can be sent to it.") }
        return Login(user: user, password: password)
    }

    private static func objection(_ advice: String) -> RepriseError {
        RepriseError(.invalidURL, "That is no URL of a proxy: \(advice)")
    }

    /// The URL without user name and password.
    public var description: String { "\(kind.rawValue)://\(endpoint.name)" }

    /// Whether it is an HTTP proxy, so that http requests go to it in absolute form (RFC 9112 §3.2.2).
    var speaksHTTP: Bool { kind == .http || kind == .https }

    /// The value of `Proxy-Authorization` for the log-in; RFC 7617 §2.
    var authorization: String? {
        login.map { "Basic " + Data("\($0.user):\($0.password)".utf8).base64EncodedString() }
    }

    /// `text` without what may be a password in it.
    ///
    /// A URL that is read again is none, so that nothing takes the replacement for a password.
    package static func withoutPassword(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return text }
        let start = text.range(of: "://").flatMap { $0.upperBound <= at ? $0.upperBound : nil } ?? text.startIndex
        guard let colon = text[start..<at].firstIndex(of: ":") else { return text }
        return String(text[...colon]) + "<hidden>" + text[at...]
    }
}

extension Endpoint {
    fileprivate init(scheme: ResourceURL.Scheme, host: String, port: Int) {
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }
}
