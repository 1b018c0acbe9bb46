import HTTPTypes
import NIOCore
import NIOHTTP1

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

extension ByteBuffer {
    mutating func writeStatusLine(_ status: Int) {
        writeString("HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\n")
    }

    mutating func writeField(_ field: HTTPField) {
        writeString(field.name.rawName)
        writeStaticString(": ")
        field.withUnsafeBytesOfValue { _ = writeBytes($0) }
        writeStaticString("\r\n")
    }

    /// Writes `beginning`, `number` and the end of the line.
    mutating func writeLine(_ beginning: StaticString, number: Int64) {
        writeStaticString(beginning)
        writeDecimal(number)
        writeStaticString("\r\n")
    }

    /// Writes `number`, which must not be negative, in decimal digits.
    mutating func writeDecimal(_ number: Int64) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var rest = number.magnitude
        withUnsafeMutableBytes(of: &digits) { buffer in
            var index = buffer.count
            repeat {
                index -= 1
                buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            writeBytes(UnsafeRawBufferPointer(rebasing: buffer[index...]))
        }
    }
}
