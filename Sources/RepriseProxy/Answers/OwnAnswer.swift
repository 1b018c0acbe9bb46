import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// A short answer of the proxy's own: an error, a hint, or an empty one.
struct OwnAnswer {
    private static let methods = "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"

    let status: Int
    var fields: [(String, String)] = []
    /// The body, plain text; `nil` for none.
    var text: String?

    init(status: Int, fields: [(String, String)] = [], text: String? = nil) {
        self.status = status
        self.fields = fields
        self.text = text
    }

    init(_ refusal: Refusal) {
        self.init(status: refusal.status, text: refusal.reason + "\n")
        if refusal.namesMethods { fields.append(("Allow", Self.methods)) }
        if let seconds = refusal.retryAfter { fields.append(("Retry-After", "\(seconds)")) }
    }

    /// The methods that are answered (RFC 9110 §9.3.7).
    static let options = OwnAnswer(status: 204, fields: [("Allow", methods)])

    /// The answer to a preflight of an allowed page: it may read (Fetch standard §4.8), also where this machine is no public
    /// address and the page is (Private Network Access).
    static func preflight(_ head: ClientHead) -> OwnAnswer {
        var fields = [
            ("Access-Control-Allow-Methods", "GET, HEAD"),
            (
                "Access-Control-Allow-Headers",
                "Accept, Accept-Language, Authorization, Cache-Control, If-Match, If-Modified-Since, If-None-Match, "
                    + "If-Range, If-Unmodified-Since, Pragma, Range"
            ),
            ("Access-Control-Max-Age", "7200"),
        ]
        if head.value("access-control-request-private-network") == "true" {
            fields.append(("Access-Control-Allow-Private-Network", "true"))
        }
        return OwnAnswer(status: 204, fields: fields)
    }

    /// The whole answer to `head`.
    func buffer(to head: ClientHead) -> ByteBuffer {
        buffer(for: head.audience, keepsAlive: head.keepsAlive, isHead: head.method == .head)
    }

    /// The whole answer to a request that could not be read.
    func buffer(for audience: Audience = .player, keepsAlive: Bool = false, isHead: Bool = false) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStatusLine(status)
        buffer.writeString("Date: \(HTTPDate(secondsSince1970: Int64(CacheClock.system.wallClock())))\r\n")
        if let text {
            buffer.writeStaticString("Content-Type: text/plain; charset=utf-8\r\n")
            buffer.writeLine("Content-Length: ", Int64(text.utf8.count))
        }
        for (name, value) in fields { buffer.writeString("\(name): \(value)\r\n") }
        audience.writeGuards(beside: [:], to: &buffer)
        Framing(isChunked: false, keepsAlive: keepsAlive).write(to: &buffer)
        buffer.writeStaticString("\r\n")
        if let text, !isHead { buffer.writeString(text) }
        return buffer
    }
}
