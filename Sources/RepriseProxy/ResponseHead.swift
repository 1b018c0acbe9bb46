import HTTPSemantics
import HTTPTypes
import NIOCore
import NIOHTTP1
import Reprise

/// Heads of responses, as bytes.
enum ResponseHead {
    /// Fields of the origin's response that are not repeated: the proxy makes its own, or they speak of another hop.
    private static let own = Set(
        [
            "Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Age", "Cache-Status", "Alt-Svc",
            "Strict-Transport-Security",
        ].compactMap { HTTPField.Name($0) })

    /// The entity tag that clients see: the origin's if it is strong, else one made of the generation.
    ///
    /// Players need a strong and stable tag: some strip `W/` and then fail on `If-Match` (RFC 9110 §13.1.1).
    static func entityTag(_ information: ContentInformation) -> EntityTag? {
        if let tag = information.validators.strongETag { return tag }
        return information.generation.isEmpty
            ? information.validators.etag : EntityTag("\"reprise-\(information.generation)\"")
    }

    /// The lines that are the same for every response from one generation.
    static func commonFields(_ information: ContentInformation) -> ByteBuffer {
        var buffer = ByteBuffer()
        for field in information.fields where !own.contains(field.name) { write(field, to: &buffer) }
        if let tag = entityTag(information) { buffer.writeString("ETag: \(tag)\r\n") }
        buffer.writeString("Accept-Ranges: bytes\r\n")
        return buffer
    }

    static func writeStatus(_ status: Int, to buffer: inout ByteBuffer) {
        buffer.writeString("HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\n")
    }

    /// The head of a response with `range` of a representation, complete but for the empty line.
    ///
    /// `end` is `nil` while the length is unknown: then the body is chunked.
    static func media(
        _ common: ByteBuffer, isPartial: Bool, range: (start: Int64, end: Int64?), completeLength: Int64?, status: CacheStatus,
        information: ContentInformation, keepAlive: Bool, now: Double
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(common.readableBytes + 256)
        buffer.writeStaticString(isPartial ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n")
        buffer.writeImmutableBuffer(common)
        if let end = range.end {
            if isPartial, let completeLength {
                buffer.writeString("Content-Range: bytes \(range.start)-\(end - 1)/\(completeLength)\r\n")
            }
            buffer.writeString("Content-Length: \(end - range.start)\r\n")
        }
        if status.handling == .hit, let stored = information.responseTime {
            buffer.writeString("Age: \(max(0, Int64(now) - stored))\r\n")
        }
        buffer.writeString("Cache-Status: \(status.appended(to: information.fields[cacheStatus]))\r\n")
        if !keepAlive { buffer.writeStaticString("Connection: close\r\n") }
        return buffer
    }

    private static let cacheStatus = HTTPField.Name("Cache-Status") ?? .age

    static func write(_ field: HTTPField, to buffer: inout ByteBuffer) {
        buffer.writeString(field.name.rawName)
        buffer.writeStaticString(": ")
        buffer.writeString(field.value)
        buffer.writeStaticString("\r\n")
    }

    /// A short answer in plain text: an error, or a hint.
    static func text(
        _ status: Int, _ text: String, fields: [(String, String)] = [], keepAlive: Bool, isHead: Bool = false
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        writeStatus(status, to: &buffer)
        buffer.writeStaticString("Content-Type: text/plain; charset=utf-8\r\n")
        for (name, value) in fields { buffer.writeString("\(name): \(value)\r\n") }
        buffer.writeString("Content-Length: \(text.utf8.count)\r\n")
        buffer.writeString(keepAlive ? "\r\n" : "Connection: close\r\n\r\n")
        if !isHead { buffer.writeString(text) }
        return buffer
    }
}
