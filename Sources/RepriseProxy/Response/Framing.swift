import HTTPTypes
import NIOCore

/// How the end of a response's body is marked, and whether the connection stays open (RFC 9112 §6.3, §9.3).
struct Framing {
    /// Whether the body is sent in chunks.
    let isChunked: Bool
    /// Whether the connection can take another request.
    let keepsAlive: Bool

    init(isChunked: Bool, keepsAlive: Bool) {
        self.isChunked = isChunked
        self.keepsAlive = keepsAlive
    }

    /// The framing of a response to `head` that is passed on with `fields`.
    init(of fields: HTTPFields, status: Int, to head: ClientHead) {
        guard Self.mayHaveBody(status), head.method != .head else {
            self.init(isChunked: false, keepsAlive: head.keepsAlive)
            return
        }
        let hasLength = fields[.contentLength] != nil
        self.init(isChunked: !hasLength && head.isHTTP11, keepsAlive: head.keepsAlive && (hasLength || head.isHTTP11))
    }

    func write(to buffer: inout ByteBuffer) {
        if isChunked { buffer.writeStaticString("Transfer-Encoding: chunked\r\n") }
        if !keepsAlive { buffer.writeStaticString("Connection: close\r\n") }
    }

    /// Whether a response with this status may have a body (RFC 9110 §15.3.5, §15.3.6, §15.4.5).
    static func mayHaveBody(_ status: Int) -> Bool { status >= 200 && ![204, 205, 304].contains(status) }
}
