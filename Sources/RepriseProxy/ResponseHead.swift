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
            "Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Age", "Cache-Status",
            "Set-Cookie",
        ].compactMap { HTTPField.Name($0) })

    /// The entity tag that clients see: the origin's if it is strong or not of media, else one of Reprise's own.
    ///
    /// Players need a strong and stable tag: some strip `W/` and then fail on `If-Match` (RFC 9110 §13.1.1). Where the
    /// representation has a strong date, every cache of it makes the same tag; otherwise nothing but this store tells
    /// its bytes from others under the same weak tag, or none, and the tag names the generation.
    static func entityTag(_ information: ContentInformation) -> EntityTag? {
        if let tag = information.validators.strongETag { return tag }
        if information.generation.isEmpty || !information.isMedia { return information.validators.etag }
        return information.validators.tagOfStrongDate(completeLength: information.completeLength)
            ?? EntityTag("\"reprise-\(information.generation)\"")
    }

    /// The lines that are the same for every response from one generation to `audience`.
    ///
    /// A stored `Set-Cookie` was meant for the client whose request brought it, and is not among them.
    static func commonFields(_ information: ContentInformation, for audience: Audience) -> ByteBuffer {
        var buffer = ByteBuffer()
        let fields = information.fields.handedOn(to: audience)
        for field in fields where !own.contains(field.name) { write(field, to: &buffer) }
        audience.writeGuards(beside: fields, to: &buffer)
        if information.fields[.date] == nil, let time = information.responseTime, time > 0 {
            // A recipient with a clock adds the time at which the response came (RFC 9110 §6.6.1).
            buffer.writeString("Date: \(HTTPDate(secondsSince1970: time))\r\n")
        }
        if let tag = entityTag(information) { buffer.writeString("ETag: \(tag)\r\n") }
        buffer.writeStaticString("Via: 1.1 reprise\r\n")
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
        _ common: ByteBuffer, isPartial: Bool, range: (start: Int64, end: Int64?), completeLength: Int64?,
        status: CacheStatus,
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
        if !isPartial, let stray = information.fields[.contentRange] {
            // It means nothing in a 200, but a cache leaves out no field of what it stored (RFC 9111 §3.1).
            buffer.writeString("Content-Range: \(stray)\r\n")
        }
        if let age = age(information, now) { buffer.writeString("Age: \(age)\r\n") }
        buffer.writeString("Cache-Status: \(status.appended(to: information.fields[cacheStatus]))\r\n")
        if !keepAlive { buffer.writeStaticString("Connection: close\r\n") }
        return buffer
    }

    /// The head of a response with several parts, complete.
    static func multipart(
        _ multipart: Multipart, _ information: ContentInformation, for audience: Audience, status: CacheStatus,
        keepAlive: Bool, now: Double
    ) -> ByteBuffer {
        var information = information
        information.fields[.contentType] = "multipart/byteranges; boundary=\(multipart.boundary)"
        var buffer = media(
            commonFields(information, for: audience), isPartial: true, range: (0, nil), completeLength: nil,
            status: status,
            information: information, keepAlive: keepAlive, now: now)
        buffer.writeString("Content-Length: \(multipart.contentLength)\r\n\r\n")
        return buffer
    }

    /// Seconds since the response was made or validated at the origin (RFC 9111 §4.2.3).
    static func age(_ information: ContentInformation, _ now: Double) -> Int64? {
        information.freshness.map { min($0.currentAge(now: HTTPDate(secondsSince1970: Int64(now))), 1 << 31) }
    }

    /// The lines that are the same for every hit of one generation by `audience`.
    static func hitFields(_ information: ContentInformation, for audience: Audience) -> ByteBuffer {
        var buffer = commonFields(information, for: audience)
        buffer.writeString("Cache-Status: \(CacheStatus(.hit).appended(to: information.fields[cacheStatus]))\r\n")
        return buffer
    }

    /// The whole head of a hit, on the path on which every microsecond counts.
    static func hit(
        _ fields: ByteBuffer, range: Range<Int64>, isPartial: Bool, information: ContentInformation, keepAlive: Bool,
        now: Double, roomForBody: Int
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(fields.readableBytes + 192 + roomForBody)
        buffer.writeStaticString(isPartial ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n")
        buffer.writeImmutableBuffer(fields)
        if !isPartial, let stray = information.fields[.contentRange] {
            buffer.writeString("Content-Range: \(stray)\r\n")
        } else if isPartial, let completeLength = information.completeLength {
            buffer.writeStaticString("Content-Range: bytes ")
            buffer.writeDecimal(range.lowerBound)
            buffer.writeStaticString("-")
            buffer.writeDecimal(range.upperBound - 1)
            buffer.writeStaticString("/")
            buffer.writeDecimal(completeLength)
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("Content-Length: ")
        buffer.writeDecimal(range.upperBound - range.lowerBound)
        if let age = age(information, now) {
            buffer.writeStaticString("\r\nAge: ")
            buffer.writeDecimal(age)
        }
        buffer.writeStaticString(keepAlive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n")
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
        _ status: Int, _ text: String, fields: [(String, String)] = [], audience: Audience = .player, keepAlive: Bool,
        isHead: Bool = false
    ) -> ByteBuffer {
        let length = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", "\(text.utf8.count)")]
        var buffer = empty(status, fields: length + fields, audience: audience, keepAlive)
        if !isHead { buffer.writeString(text) }
        return buffer
    }

    /// An answer of the proxy's own that is complete with its head.
    static func empty(
        _ status: Int, fields: [(String, String)], audience: Audience, _ keepAlive: Bool
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        writeStatus(status, to: &buffer)
        buffer.writeString("Date: \(HTTPDate(secondsSince1970: Int64(CacheClock.system.wallClock())))\r\n")
        for (name, value) in fields { buffer.writeString("\(name): \(value)\r\n") }
        audience.writeGuards(beside: [:], to: &buffer)
        buffer.writeString(keepAlive ? "\r\n" : "Connection: close\r\n\r\n")
        return buffer
    }

    /// The answer to a preflight of an allowed page: it may read (Fetch standard §4.8), also where this machine is no public
    /// address and the page is (Private Network Access).
    static func preflight(of page: String, _ head: RequestHead) -> ByteBuffer {
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
        return empty(204, fields: fields, audience: .page(page), head.keepsAlive)
    }

    /// Fields of an origin's response that say how its body ends, as this status has them (RFC 9110 §8.6, RFC 9112 §6.3).
    ///
    /// 204 and 304 end with their head, 205 with an empty body.
    static func frame(_ fields: inout HTTPFields, status: Int) {
        switch status {
        case 204, 304: fields[.contentLength] = nil
        case 205: fields[.contentLength] = "0"
        default: break
        }
    }

    /// Whether a response with this status may have a body (RFC 9110 §15.3.5, §15.3.6, §15.4.5).
    static func mayHaveBody(_ status: Int) -> Bool { status >= 200 && ![204, 205, 304].contains(status) }
}

extension ByteBuffer {
    /// Reads the bytes of `region` into the buffer if no disk is needed for that; false otherwise.
    mutating func writeResidentBytes(of region: StoredRegion) throws -> Bool {
        try writeWithUnsafeMutableBytes(minimumWritableBytes: region.count) { room in
            try region.readResident(into: UnsafeMutableRawBufferPointer(rebasing: room[..<region.count]))
                ? region.count : 0
        } == region.count
    }

    /// Writes `number`, which is not negative, in decimal digits.
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
