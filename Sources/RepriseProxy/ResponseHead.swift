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

    /// The entity tag that clients see: the origin's if it is strong or not of media, else one made of the generation.
    ///
    /// Players need a strong and stable tag: some strip `W/` and then fail on `If-Match` (RFC 9110 §13.1.1).
    static func entityTag(_ information: ContentInformation) -> EntityTag? {
        if let tag = information.validators.strongETag { return tag }
        if information.generation.isEmpty || !information.isMedia { return information.validators.etag }
        return EntityTag("\"reprise-\(information.generation)\"")
    }

    /// The lines that are the same for every response from one generation.
    static func commonFields(_ information: ContentInformation) -> ByteBuffer {
        var buffer = ByteBuffer()
        for field in information.fields where !own.contains(field.name) { write(field, to: &buffer) }
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
        _ multipart: Multipart, _ information: ContentInformation, status: CacheStatus, keepAlive: Bool, now: Double
    ) -> ByteBuffer {
        var information = information
        information.fields[.contentType] = "multipart/byteranges; boundary=\(multipart.boundary)"
        var buffer = media(
            commonFields(information), isPartial: true, range: (0, nil), completeLength: nil, status: status,
            information: information, keepAlive: keepAlive, now: now)
        buffer.writeString("Content-Length: \(multipart.contentLength)\r\n\r\n")
        return buffer
    }

    /// Seconds since the response was made or validated at the origin (RFC 9111 §4.2.3).
    static func age(_ information: ContentInformation, _ now: Double) -> Int64? {
        information.freshness.map { min($0.currentAge(now: HTTPDate(secondsSince1970: Int64(now))), 1 << 31) }
    }

    /// The lines that are the same for every hit of one generation.
    static func hitFields(_ information: ContentInformation) -> ByteBuffer {
        var buffer = commonFields(information)
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
        _ status: Int, _ text: String, fields: [(String, String)] = [], keepAlive: Bool, isHead: Bool = false
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        writeStatus(status, to: &buffer)
        let now = HTTPDate(secondsSince1970: Int64(CacheClock.system.wallClock()))
        buffer.writeString("Date: \(now)\r\nContent-Type: text/plain; charset=utf-8\r\n")
        for (name, value) in fields { buffer.writeString("\(name): \(value)\r\n") }
        buffer.writeString("Content-Length: \(text.utf8.count)\r\n")
        buffer.writeString(keepAlive ? "\r\n" : "Connection: close\r\n\r\n")
        if !isHead { buffer.writeString(text) }
        return buffer
    }
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
