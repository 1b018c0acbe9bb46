import Reprise

/// What an access log says of a request: nothing that may be a secret.
final class LoggedRequest: Sendable {
    /// When its turn came, in seconds since 1970.
    let time: Double
    /// The address of the client; `nil` if the system does not know it.
    let client: String?
    let method: String
    /// The URL of the file, or the path of what the proxy itself has; without query and token.
    let url: String
    let version: String
    let range: String?
    let userAgent: String?
    /// The trace to which the request belongs (W3C Trace Context §3.2.2.3).
    let trace: String?

    init(
        _ head: borrowing ClientHead, hiding tokens: TokenTexts = TokenTexts([]), from client: String?, at time: Double
    ) {
        self.time = time
        self.client = client
        method = tokens.hidden(in: head.method.name)
        url = LoggedTarget.text(head.target, hiding: tokens.texts)
        version = head.isHTTP11 ? "HTTP/1.1" : "HTTP/1.0"
        range = head.value("range").map(tokens.hidden)
        userAgent = head.value("user-agent").map(tokens.hidden)
        trace = head.value("traceparent").flatMap(Self.traceID)
    }

    /// A request that could not be parsed.
    init(malformedFrom client: String?, at time: Double) {
        self.time = time
        self.client = client
        (method, url, version) = ("-", "-", "HTTP/1.1")
        (range, userAgent, trace) = (nil, nil, nil)
    }

    /// The trace in a `traceparent`; `nil` if it is malformed, or of a version that is none (W3C Trace Context §3.2.2).
    static func traceID(_ field: String) -> String? {
        let parts = field.split(separator: "-", omittingEmptySubsequences: false)
        let isHexadecimal: (Substring) -> Bool = { text in
            text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        guard parts.count == 4 || parts.count > 4 && parts[0] != "00", parts[0] != "ff",
            zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.utf8.count == $1 && isHexadecimal($0) }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return String(parts[1])
    }
}

extension ClientHead.Method {
    /// The method as received.
    var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .options: "OPTIONS"
        case .other(let name): name
        }
    }
}
