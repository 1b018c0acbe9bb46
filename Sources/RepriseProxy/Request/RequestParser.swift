import HTTPSemantics
package import NIOCore
import Reprise

/// Extracts request heads from the bytes received on a connection.
///
/// Strict where leniency is dangerous: lines end with CRLF, names are tokens, there is no line folding, there are no
/// control characters, and everything has a limit.
package struct RequestParser: Sendable {
    /// Maximum length of the request line, in bytes; beyond it 414.
    static let maximumLine = 16 << 10
    /// Maximum length of the head, in bytes; beyond it 431.
    static let maximumHead = 64 << 10
    /// Maximum length of the head from a client that has not shown a token where one is needed, in bytes.
    static let maximumHeadOfStranger = 32 << 10
    /// Maximum number of fields; beyond it 431.
    static let maximumFields = 100

    /// Creates a parser for the requests that the server of this name gets.
    package init(serverName: String = CacheStatus.cacheName) { self.serverName = serverName }

    private let serverName: String
    private var buffer = ByteBuffer()
    /// Number of bytes already searched for the end of the head.
    private var searched = 0

    /// Maximum length of the next head, in bytes.
    var maximumHead = Self.maximumHead

    /// Number of bytes received and not parsed yet.
    var bufferedBytes: Int { buffer.readableBytes }
    /// Number of bytes of memory that they take.
    var heldBytes: Int { buffer.readableBytes == 0 ? 0 : buffer.storageCapacity }

    package mutating func append(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// The next complete head; `nil` until all of it has arrived.
    package mutating func next() throws(Refusal) -> ClientHead? {
        skipEmptyLines()
        let looked = max(0, searched - 1)
        guard let length = headLength() else {
            if hasBareLineFeed(from: looked) { throw Self.malformed("Lines end with CR LF (RFC 9112 §2.2).") }
            if buffer.readableBytes > maximumHead { throw Refusal(status: 431, reason: "The header is too long.") }
            if searched > Self.maximumLine, !hasLine() {
                throw Refusal(status: 414, reason: "The request line is too long.")
            }
            compact()
            return nil
        }
        guard length <= maximumHead, let head = buffer.readSlice(length: length) else {
            throw Refusal(status: 431, reason: "The header is too long.")
        }
        searched = 0
        discard()
        return try parse(head)
    }

    /// Releases memory of which only a small part is used.
    private mutating func compact() {
        guard buffer.storageCapacity > 4 * buffer.readableBytes + 2048 else { return }
        buffer = buffer.readableBytes == 0 ? ByteBuffer() : ByteBuffer(bytes: buffer.readableBytesView)
    }

    private mutating func discard() {
        if buffer.readableBytes == 0 { buffer = ByteBuffer() } else { buffer.discardReadBytes() }
    }

    /// The complete body; `nil` until all of it has arrived, with the received part in `body`.
    mutating func take(_ body: inout RequestBody) throws(Refusal) -> [UInt8]? {
        defer {
            searched = 0
            discard()
        }
        switch body {
        case .sized(let count): return buffer.readBytes(length: count)
        case .chunked(var chunks):
            // Not kept twice, because a second reference would copy all earlier bytes with each piece.
            body = .sized(0)
            let isComplete = try chunks.take(from: &buffer)
            body = .chunked(chunks)
            return isComplete ? chunks.bytes : nil
        }
    }

    /// RFC 9112 §2.2: a server should ignore at least one empty line before the request line.
    private mutating func skipEmptyLines() {
        while let two = buffer.getInteger(at: buffer.readerIndex, as: UInt16.self), two == 0x0D0A {
            buffer.moveReaderIndex(forwardBy: 2)
            searched = max(0, searched - 2)
        }
    }

    private mutating func headLength() -> Int? {
        let start = max(0, searched - 3)
        let found: Int? = buffer.withUnsafeReadableBytes { raw in
            guard raw.count >= 4 else { return nil }
            var index = start
            while index + 3 < raw.count {
                if raw[index + 3] == 0x0A, raw[index + 2] == 0x0D, raw[index + 1] == 0x0A, raw[index] == 0x0D {
                    return index + 4
                }
                index += 1
            }
            return nil
        }
        searched = buffer.readableBytes
        return found
    }

    /// Whether a line that began after `start` ends with LF alone; its head would never be complete.
    private func hasBareLineFeed(from start: Int) -> Bool {
        buffer.withUnsafeReadableBytes { raw in
            (start..<raw.count).contains { raw[$0] == 0x0A && ($0 == 0 || raw[$0 - 1] != 0x0D) }
        }
    }

    private func hasLine() -> Bool {
        buffer.withUnsafeReadableBytes { $0.prefix(Self.maximumLine).contains(0x0A) }
    }

    // MARK: - One head

    private func parse(_ head: ByteBuffer) throws(Refusal) -> ClientHead {
        let result: Result<ClientHead, Refusal> = head.withUnsafeReadableBytes { raw in
            do throws(Refusal) { return .success(try parse(raw, head: head)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func parse(_ raw: UnsafeRawBufferPointer, head: ByteBuffer) throws(Refusal) -> ClientHead {
        guard let lineEnd = Self.lineEnd(raw, from: 0) else { throw Self.malformed("The request line is malformed.") }
        guard lineEnd <= Self.maximumLine else { throw Refusal(status: 414, reason: "The request line is too long.") }
        let line = raw[0..<lineEnd]
        guard let first = line.firstIndex(of: 0x20), let last = line.lastIndex(of: 0x20), first < last, first > 0 else {
            throw Self.malformed("The request line is not \"METHOD TARGET HTTP/1.1\".")
        }
        let target = raw[first + 1..<last]
        guard line[..<first].allSatisfy(Self.isToken), !target.isEmpty, target.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else {
            throw Self.malformed(
                "The request line has control characters, which must be percent-encoded (RFC 3986 §2.1).")
        }
        let isHTTP11 = try Self.version(line[(last + 1)...])
        var places: [ClientHead.Place] = []
        var position = lineEnd + 2
        while let end = Self.lineEnd(raw, from: position), end > position {
            guard places.count < Self.maximumFields else {
                throw Refusal(status: 431, reason: "There are too many header fields.")
            }
            places.append(try Self.place(raw, in: position..<end))
            position = end + 2
        }
        guard position + 2 == raw.count else { throw Self.malformed("A header line is malformed.") }
        return ClientHead(
            method: Self.method(line[..<first]), target: ResourceURL.visible(target), isHTTP11: isHTTP11,
            bytes: head, places: places, serverName: serverName)
    }

    /// Where the line that begins at `start` ends (at its CR); `nil` for a bare CR or LF.
    private static func lineEnd(_ raw: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index + 1 < raw.count {
            if raw[index] == 0x0D { return raw[index + 1] == 0x0A ? index : nil }
            if raw[index] == 0x0A { return nil }
            index += 1
        }
        return nil
    }

    private static func place(_ raw: UnsafeRawBufferPointer, in line: Range<Int>) throws(Refusal) -> ClientHead.Place {
        guard let colon = raw[line].firstIndex(of: 0x3A), colon > line.lowerBound else {
            throw malformed("A header line has no name.")
        }
        guard raw[line.lowerBound..<colon].allSatisfy(isToken) else {
            throw malformed("A header name has characters that are not allowed (RFC 9110 §5.1).")
        }
        var start = colon + 1
        var end = line.upperBound
        while start < end, isBlank(raw[start]) { start += 1 }
        while end > start, isBlank(raw[end - 1]) { end -= 1 }
        guard raw[start..<end].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw malformed("A header value has control characters (RFC 9110 §5.5).")
        }
        return ClientHead.Place(nameStart: line.lowerBound, nameEnd: colon, valueStart: start, valueEnd: end)
    }

    private static func version(_ bytes: Slice<UnsafeRawBufferPointer>) throws(Refusal) -> Bool {
        switch String(decoding: bytes, as: UTF8.self) {
        case "HTTP/1.1": return true
        case "HTTP/1.0": return false
        case let text where text.hasPrefix("HTTP/"):
            throw Refusal(status: 505, reason: "Only HTTP/1.1 and 1.0 are supported.")
        default: throw malformed("The request line does not end with HTTP/1.1.")
        }
    }

    private static func method(_ bytes: Slice<UnsafeRawBufferPointer>) -> ClientHead.Method {
        switch String(decoding: bytes, as: UTF8.self) {
        case "GET": .get
        case "HEAD": .head
        case "OPTIONS": .options
        case let name: .other(name)
        }
    }

    private static func malformed(_ reason: String) -> Refusal { Refusal(status: 400, reason: reason) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
