package import HTTPTypes
package import NIOCore

/// A response that cannot be read as HTTP/1.1.
package struct MalformedResponse: Error, CustomStringConvertible {
    /// The line number in the head, from 1; `nil` for an error in the body.
    package let line: Int?
    let reason: String

    package var description: String { line.map { "Line \($0) of its head \(reason)." } ?? "Its body \(reason)." }
}

/// Parses the responses on one connection into interim heads, a head, the pieces of a body, and its end; RFC 9112.
///
/// Accepts the same malformed responses as curl, ffmpeg, mpv and nginx. After a response that violates RFC 9112,
/// ``leavesConnectionUsable`` is false. Another recipient may disagree about the end of that response, so the bytes
/// after it must not be parsed as the next response. Contradictory lengths are refused.
package struct ResponseReader {
    package enum Part: Equatable {
        case interim(HTTPResponse)
        case head(HTTPResponse)
        case body(ByteBuffer)
        case end
    }

    private enum State {
        /// No response is expected.
        case idle
        case head
        /// Waiting for this many bytes of the body.
        case counted(Int64)
        case chunkSize
        /// Waiting for this many bytes of the chunk.
        case chunk(Int64)
        /// The line break after the data of a chunk.
        case chunkEnd
        /// Trailer fields, which are ignored.
        case trailer
        case untilClose
    }

    /// Maximum size of a head, and of a trailer, in bytes.
    static let maximumHead = 262_144
    /// Maximum length of a chunk-size line, in bytes.
    private static let maximumChunkLine = 16_384
    /// Maximum number of empty lines before a chunk-size line.
    private static let mostEmptyLines = 16

    private var state = State.idle
    private var buffer = ByteBuffer()
    /// Number of bytes at the start of the buffer that have been searched and contain no line feed.
    private var searched = 0
    /// Number of bytes in the lines of the head or trailer so far.
    private var lineBytes = 0
    private var head = ResponseHeadParser()
    private var method = HTTPRequest.Method.get
    private var emptyLines = 0

    /// How the end of the current body is marked.
    private(set) var framing = BodyFraming.none
    private var keepsConnection = false

    package init() {}

    /// A description of the first RFC 9112 violation in the current response; `nil` if there is none.
    package private(set) var oddity: String?

    /// Whether the connection can be reused for another request.
    ///
    /// It can if the response conforms to RFC 9112, no bytes follow it, and the origin keeps the connection open.
    package var leavesConnectionUsable: Bool {
        keepsConnection && framing != .untilClose && oddity == nil && buffer.readableBytes == 0
    }

    /// Starts parsing the response to a request with `method`.
    package mutating func begin(_ method: HTTPRequest.Method) {
        self = ResponseReader()
        self.method = method
        state = .head
    }

    package mutating func receive(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 { buffer = bytes } else { buffer.writeImmutableBuffer(bytes) }
    }

    /// The next part; `nil` until more bytes arrive.
    package mutating func next() throws(MalformedResponse) -> Part? {
        while true {
            switch state {
            case .idle: return nil
            case .head:
                guard let line = try takeLine(atMost: Self.maximumHead) else {
                    try head.check(beginning: buffer.readableBytesView)
                    return nil
                }
                if try head.take(line.readableBytesView) { return try headEnded() }
            case .counted(0): return end()
            case .counted(let rest):
                guard let piece = takePiece(atMost: rest) else { return nil }
                state = .counted(rest - Int64(piece.readableBytes))
                return .body(piece)
            case .untilClose: return takePiece(atMost: .max).map { .body($0) }
            case .chunkSize:
                guard let line = try takeLine(atMost: Self.maximumChunkLine) else { return nil }
                try takeChunkSize(line.readableBytesView)
            case .chunk(0): state = .chunkEnd
            case .chunk(let rest):
                guard let piece = takePiece(atMost: rest) else { return nil }
                state = .chunk(rest - Int64(piece.readableBytes))
                return .body(piece)
            case .chunkEnd:
                guard try takeChunkEnd() else { return nil }
                state = .chunkSize
            case .trailer:
                guard let line = try takeLine(atMost: Self.maximumHead) else { return nil }
                if strippingReturn(line.readableBytesView).isEmpty { return end() }
            }
        }
    }

    /// Notes the end of the connection, and returns whether it completes the body.
    ///
    /// A chunked body is complete after its last chunk, even without a trailer; RFC 9112 §8.
    package mutating func finish() -> Bool {
        switch state {
        case .untilClose, .trailer:
            state = .idle
            return true
        default: return false
        }
    }

    // MARK: Parts

    private mutating func headEnded() throws(MalformedResponse) -> Part {
        let ended = try head.finish(method)
        oddity = oddity ?? head.oddity
        lineBytes = 0
        guard ended.response.status.kind != .informational else {
            head = ResponseHeadParser()
            return .interim(ended.response)
        }
        (framing, keepsConnection) = (ended.framing, ended.keepsConnection)
        state =
            switch framing {
            case .none: .counted(0)
            case .length(let length): .counted(length)
            case .chunked: .chunkSize
            case .untilClose: .untilClose
            }
        return .head(ended.response)
    }

    private mutating func end() -> Part {
        state = .idle
        return .end
    }

    private mutating func takePiece(atMost count: Int64) -> ByteBuffer? {
        guard buffer.readableBytes > 0 else { return nil }
        let piece = buffer.readSlice(length: Int(min(count, Int64(buffer.readableBytes))))
        // Drop our reference, so that the piece uniquely owns its bytes.
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return piece
    }

    /// The next line without its line feed; `nil` until all of it has arrived.
    private mutating func takeLine(atMost limit: Int) throws(MalformedResponse) -> ByteBuffer? {
        let view = buffer.readableBytesView
        let end = view[view.startIndex.advanced(by: searched)...].firstIndex(of: UInt8(ascii: "\n"))
        let length = (end ?? view.endIndex) - view.startIndex
        guard lineBytes + length <= limit else {
            guard case .head = state else {
                throw MalformedResponse(line: nil, reason: "has more than \(limit) bytes between two chunks")
            }
            throw MalformedResponse(
                line: head.number + 1, reason: "makes it longer than \(limit) bytes, and no empty line ends it")
        }
        guard end != nil, let line = buffer.readSlice(length: length) else {
            searched = length
            return nil
        }
        buffer.moveReaderIndex(forwardBy: 1)
        lineBytes += length + 1
        searched = 0
        return line
    }

    // MARK: Chunks

    private static let oddChunks = "Its chunks are not as RFC 9112 §7.1 says."

    private mutating func strippingReturn(_ line: ByteBufferView) -> ByteBufferView {
        if line.last == UInt8(ascii: "\r") { return line.dropLast() }
        oddity = oddity ?? Self.oddChunks
        return line
    }

    /// Parses the size of a chunk, ignoring blanks around it and extensions after a semicolon.
    private mutating func takeChunkSize(_ line: ByteBufferView) throws(MalformedResponse) {
        lineBytes = 0
        let line = strippingReturn(line)
        if line.isEmpty, emptyLines < Self.mostEmptyLines {
            emptyLines += 1
            oddity = oddity ?? Self.oddChunks
            return
        }
        emptyLines = 0
        let padded = line.prefix { $0 != UInt8(ascii: ";") }
        let digits = padded.trimmingBlanks
        if digits.count < padded.count { oddity = oddity ?? Self.oddChunks }
        var size: Int64? = digits.isEmpty ? nil : 0
        for digit in digits.lazy.map(\.hexDigit) {
            size = size.flatMap { size in digit.flatMap { size < 1 << 53 ? size << 4 | Int64($0) : nil } }
        }
        guard let size, size <= 1 << 53 else {
            throw MalformedResponse(line: nil, reason: "has a chunk whose size is not a hexadecimal number up to 2^53")
        }
        state = size == 0 ? .trailer : .chunk(size)
    }

    /// Consumes the line break after a chunk; returns `false` until it has arrived.
    private mutating func takeChunkEnd() throws(MalformedResponse) -> Bool {
        let bytes = buffer.readableBytesView.prefix(2)
        let expected: [UInt8] = bytes.first == UInt8(ascii: "\n") ? [0x0A] : [0x0D, 0x0A]
        guard expected.starts(with: bytes.prefix(expected.count)) else {
            throw MalformedResponse(line: nil, reason: "has a chunk that is longer than its size says")
        }
        guard bytes.count >= expected.count else { return false }
        if expected.count == 1 { oddity = oddity ?? Self.oddChunks }
        buffer.moveReaderIndex(forwardBy: expected.count)
        return true
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without leading and trailing spaces and tabs.
    var trimmingBlanks: SubSequence {
        let rest = drop { $0.isBlank }
        return rest[..<(rest.lastIndex { !$0.isBlank }.map(rest.index(after:)) ?? rest.startIndex)]
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
}
