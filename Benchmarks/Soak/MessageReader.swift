import Foundation

/// Reads HTTP/1.1 messages from a socket.
struct MessageReader {
    /// Why a message is incomplete.
    enum Failure: Error, Equatable { case closed, silent, malformed(String) }

    /// The first line of a message, and its fields by lower-case name.
    struct Head {
        let line: String
        let fields: [String: String]

        /// The status code of a response.
        var status: Int? { line.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

        /// The value of a field, its lines joined.
        subscript(_ name: String) -> String? { fields[name] }

        init(_ text: String) {
            let lines = text.components(separatedBy: "\r\n")
            line = lines[0]
            var fields: [String: String] = [:]
            for line in lines.dropFirst() where !line.isEmpty {
                let name = line.prefix { $0 != ":" }.lowercased()
                let value = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
                fields[name] = fields[name].map { "\($0), \(value)" } ?? value
            }
            self.fields = fields
        }
    }

    /// How the end of a body is marked (RFC 9112 §6.3).
    enum Framing: Equatable { case length(Int64), chunked, untilClose }

    let socket: Socket
    /// Sees how long it waits for bytes.
    private let vigil: Watchdog.Vigil?
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var start = 0
    private var end = 0

    init(_ socket: Socket, _ vigil: Watchdog.Vigil? = nil) { (self.socket, self.vigil) = (socket, vigil) }

    /// Bytes received but not passed on.
    var waitingBytes: Int { end - start + socket.waitingBytes }

    /// The next head; `nil` if the connection ends before it.
    mutating func head() throws(Failure) -> Head? {
        var searched = 0
        while true {
            if let length = Self.headLength(buffer[start..<end], from: searched) {
                defer { start += length }
                return Head(String(decoding: buffer[start..<start + length - 4], as: UTF8.self))
            }
            searched = end - start
            do throws(Failure) {
                try fill(buffer.count)
            } catch {
                if error == .closed, start == end { return nil }
                throw error
            }
        }
    }

    /// Passes a body on in pieces of at most `most` bytes.
    mutating func body(
        _ framing: Framing, most: Int, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        switch framing {
        case .length(let length): try bytes(length, most: most, take)
        case .untilClose:
            do { try bytes(.max, most: most, take) } catch Failure.closed { return }
        case .chunked:
            while true {
                let line = try line()
                guard let size = Int64(line.prefix { $0 != ";" }, radix: 16) else { throw Failure.malformed(line) }
                try bytes(size, most: most, take)
                let rest = try self.line()
                guard rest.isEmpty else { throw Failure.malformed(rest) }
                if size == 0 { return }
            }
        }
    }

    private mutating func bytes(
        _ count: Int64, most: Int, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var left = count
        while left > 0 {
            if start == end { try fill(most) }
            let count = Int(min(left, Int64(min(most, end - start))))
            let piece = start..<start + count
            start += count
            left -= Int64(count)
            try buffer.withUnsafeBytes { try take(UnsafeRawBufferPointer(rebasing: $0[piece])) }
        }
    }

    private mutating func line() throws(Failure) -> String {
        var bytes: [UInt8] = []
        while bytes.last != 10 {
            if start == end { try fill(buffer.count) }
            bytes.append(buffer[start])
            start += 1
            guard bytes.count < 1024 else { throw .malformed("a line of a chunked body has no end") }
        }
        return String(decoding: bytes.dropLast(2), as: UTF8.self)
    }

    /// Receives behind the unread bytes, at most `most` bytes.
    private mutating func fill(_ most: Int) throws(Failure) {
        if start > 0 {
            buffer.replaceSubrange(0..<end - start, with: buffer[start..<end])
            end -= start
            start = 0
        }
        guard end < buffer.count else { throw .malformed("a head of more than 64 KiB") }
        vigil?.waits(at: Uptime.seconds)
        let received = buffer.withUnsafeMutableBytes { bytes in
            socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: bytes[end..<min(bytes.count, end + most)]))
        }
        if case .bytes(let count) = received { vigil?.received(count) } else { vigil?.received(0) }
        switch received {
        case .bytes(let count): end += count
        case .end: throw .closed
        case .nothingInTime: throw .silent
        }
    }

    /// The length of the head, its empty line included, at the beginning of `bytes`.
    private static func headLength(_ bytes: ArraySlice<UInt8>, from searched: Int) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in bytes.startIndex + max(0, searched - 3)..<bytes.endIndex - 3
        where bytes[index] == 13 && bytes[index + 1] == 10 && bytes[index + 2] == 13 && bytes[index + 3] == 10 {
            return index + 4 - bytes.startIndex
        }
        return nil
    }
}
