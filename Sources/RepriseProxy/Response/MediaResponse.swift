import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// The head of a response that the cache makes from one representation.
struct MediaResponse {
    enum Content {
        /// The whole; `length` is `nil` while it is unknown.
        case whole(length: Int64?)
        /// One range of a representation of that complete length (RFC 9110 §15.3.7.1).
        case part(Range<Int64>, of: Int64)
        /// Several ranges, in a body of that length (RFC 9110 §15.3.7.2).
        case parts(length: Int64)
        /// RFC 9110 §15.4.5.
        case notModified
        /// RFC 9110 §15.5.13.
        case preconditionFailed
    }

    let content: Content
    /// The result of ``RepresentationFields/lines(of:for:by:status:cookies:)``.
    let lines: ByteBuffer
    let information: ContentInformation
    /// Whether a body without a length is sent in chunks.
    private let isChunked: Bool
    private let keepsAlive: Bool
    private let age: Int64?

    /// A response to `head`, at the wall-clock time `now`.
    init(
        _ content: Content, to head: borrowing ClientHead, information: ContentInformation, lines: ByteBuffer,
        now: Double
    ) {
        self.content = content
        self.lines = lines
        self.information = information
        let hasUnknownLength = if case .whole(nil) = content { head.method != .head } else { false }
        isChunked = hasUnknownLength && head.isHTTP11
        keepsAlive = head.keepsAlive && (!hasUnknownLength || isChunked)
        // RFC 9111 §4.2.3.
        age = information.freshness.map { min($0.currentAge(now: HTTPDate(secondsSince1970: Int64(now))), 1 << 31) }
    }

    var framing: Framing { Framing(isChunked: isChunked, keepsAlive: keepsAlive) }

    /// The head as sent, in a buffer with room for `bodyBytes` more.
    ///
    /// A hit spends most of its time here, so numbers are written without strings.
    func head(roomFor bodyBytes: Int = 0) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(lines.readableBytes + 192 + bodyBytes)
        switch content {
        case .whole: buffer.writeStaticString("HTTP/1.1 200 OK\r\n")
        case .part, .parts: buffer.writeStaticString("HTTP/1.1 206 Partial Content\r\n")
        case .notModified: buffer.writeStaticString("HTTP/1.1 304 Not Modified\r\n")
        case .preconditionFailed: buffer.writeStaticString("HTTP/1.1 412 Precondition Failed\r\n")
        }
        buffer.writeImmutableBuffer(lines)
        switch content {
        case .whole(let length):
            if let stray = information.fields[.contentRange] {
                // It has no meaning in a 200, but a cache omits no field of a stored response (RFC 9111 §3.1).
                buffer.writeString("Content-Range: \(stray)\r\n")
            }
            if let length { buffer.writeLine("Content-Length: ", number: length) }
        case .part(let range, let completeLength):
            buffer.writeStaticString("Content-Range: bytes ")
            buffer.writeDecimal(range.lowerBound)
            buffer.writeStaticString("-")
            buffer.writeDecimal(range.upperBound - 1)
            buffer.writeLine("/", number: completeLength)
            buffer.writeLine("Content-Length: ", number: range.upperBound - range.lowerBound)
        case .parts(let length): buffer.writeLine("Content-Length: ", number: length)
        case .notModified: break
        case .preconditionFailed: buffer.writeStaticString("Content-Length: 0\r\n")
        }
        if let age { buffer.writeLine("Age: ", number: age) }
        framing.write(to: &buffer)
        buffer.writeStaticString("\r\n")
        return buffer
    }
}

/// The delimiters between the parts of a multipart/byteranges body (RFC 9110 §14.6).
struct Multipart {
    let boundary: String
    /// Before each part.
    let heads: [String]
    let end: String
    /// Length of the whole body, in bytes.
    let contentLength: Int64

    init(_ ranges: [Range<Int64>], information: ContentInformation, completeLength: Int64) {
        // Random, so that content cannot be crafted to contain it.
        let boundary = "reprise-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        self.boundary = boundary
        let type = information.mediaType.map { "Content-Type: \($0)\r\n" } ?? ""
        heads = ranges.enumerated().map { index, range in
            let content = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(completeLength)\r\n\r\n"
            return "\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(type)\(content)"
        }
        end = "\r\n--\(boundary)--\r\n"
        contentLength =
            heads.reduce(Int64(end.utf8.count)) { $0 + Int64($1.utf8.count) }
            + ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
    }
}
