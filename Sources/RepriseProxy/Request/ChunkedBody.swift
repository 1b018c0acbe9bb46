import NIOCore

/// Assembles a body that is sent in chunks: RFC 9112 §7.1, strictly.
///
/// Chunk extensions and trailers are dropped (§7.1.1, §7.1.2).
struct ChunkedBody {
    private enum State: Equatable {
        /// Before a chunk's size.
        case size
        /// Within a chunk, with this many bytes missing.
        case content(Int)
        /// Before the line end that terminates a chunk.
        case contentEnd
        /// After the last chunk.
        case trailers
    }

    /// The body received so far.
    private(set) var bytes: [UInt8] = []
    private var state = State.size
    /// Number of bytes of extensions and trailers so far.
    private var dropped = 0

    /// Maximum length of a chunk-size line with its extensions, or of a trailer, in bytes.
    private static let maximumLine = 1 << 10
    /// Maximum number of bytes of extensions and trailers in one body.
    private static let maximumDropped = 16 << 10

    /// Consumes the bytes in `buffer`; returns whether the body is complete.
    mutating func take(from buffer: inout ByteBuffer) throws(Refusal) -> Bool {
        while true {
            switch state {
            case .size:
                guard let line = try line(&buffer) else { return false }
                let size = try size(line)
                guard size <= RequestBody.maximum - bytes.count else { throw RequestBody.tooLarge }
                state = size == 0 ? .trailers : .content(size)
            case .content(let missing):
                let here = min(missing, buffer.readableBytes)
                bytes += buffer.readBytes(length: here) ?? []
                guard here == missing else {
                    state = .content(missing - here)
                    return false
                }
                state = .contentEnd
            case .contentEnd:
                guard let end = buffer.getInteger(at: buffer.readerIndex, as: UInt16.self) else { return false }
                guard end == 0x0D0A else { throw Self.malformed }
                buffer.moveReaderIndex(forwardBy: 2)
                state = .size
            case .trailers:
                guard let line = try line(&buffer) else { return false }
                if line.isEmpty { return true }
                try drop(line.count)
            }
        }
    }

    /// The next line without its end; `nil` until it is complete.
    private func line(_ buffer: inout ByteBuffer) throws(Refusal) -> [UInt8]? {
        let view = buffer.readableBytesView.prefix(Self.maximumLine + 2)
        guard let end = view.firstIndex(of: 0x0A) else {
            guard view.count < Self.maximumLine + 2 else { throw Self.malformed }
            return nil
        }
        let line = buffer.readBytes(length: end - view.startIndex + 1) ?? []
        guard line.dropLast().last == 0x0D else { throw Self.malformed }
        let content = Array(line.dropLast(2))
        guard content.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { throw Self.malformed }
        return content
    }

    /// The size of a chunk: hexadecimal digits, optionally followed by extensions.
    private mutating func size(_ line: [UInt8]) throws(Refusal) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        let rest = line.dropFirst(digits.count).drop { $0 == 0x20 || $0 == 0x09 }
        guard !digits.isEmpty, digits.count <= 8, digits.allSatisfy(Self.isHexDigit),
            rest.isEmpty || rest.first == UInt8(ascii: ";"), rest.isEmpty == (digits.count == line.count),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Self.malformed }
        try drop(line.count - digits.count)
        return size
    }

    private mutating func drop(_ count: Int) throws(Refusal) {
        dropped += count
        guard dropped <= Self.maximumDropped else {
            throw Refusal(status: 431, reason: "Chunk extensions or trailers are too long.")
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static let malformed = Refusal(
        status: 400, reason: "The body's chunks are malformed (RFC 9112 §7.1).")
}
