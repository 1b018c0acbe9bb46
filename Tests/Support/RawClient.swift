import Dispatch
import Foundation

/// A client on a plain socket: sends exactly what it is given, reads exactly as much as requested, and leaves at any
/// time.
///
/// Blocking calls run on a separate queue, and end after five minutes in which nothing comes. One caller at a time.
public final class RawClient: Sendable {
    /// A response's head.
    public struct Head: Sendable {
        /// The status code.
        public let status: Int
        /// The fields by lower-case name.
        public let fields: [String: String]
        /// Content-Length, if there is one.
        public var length: Int? { fields["content-length"].flatMap { Int($0) } }
    }

    /// The cause of a failure.
    public enum Failure: Error { case connect(Int32), closed, malformed(String) }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "raw client")

    /// Connects to 127.0.0.1.
    ///
    /// `receiveBufferSize` is SO_RCVBUF, in bytes; without it the kernel lets the buffer grow by many megabytes.
    public init(port: Int, receiveBufferSize: Int32? = nil) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        if var size = receiveBufferSize {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        endSilence()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure.connect(errno) }
    }

    /// Connects to the socket at `path`.
    public init(path: String) throws {
        do { descriptor = try UnixAddress.connect(path) } catch let error as POSIXError {
            throw Failure.connect(error.code.rawValue)
        }
        endSilence()
    }

    /// Ends calls that receive nothing for five minutes.
    private func endSilence() {
        var silence = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &silence, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    private func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Sends `text` as it is.
    public func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Sends `bytes`.
    public func send(_ bytes: [UInt8]) async throws {
        try await run { [descriptor] in
            var done = 0
            while done < bytes.count {
                let count = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { throw Failure.closed }
                done += count
            }
        }
    }

    /// Sends a GET.
    public func get(_ target: String, _ fields: [String] = [], method: String = "GET") async throws {
        let lines = (["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n")
        try await send(lines + "\r\n\r\n")
    }

    /// Reads a head, byte by byte up to its empty line.
    public func head() async throws -> Head {
        let lines = try await headLines()
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Failure.malformed(lines.first ?? "")
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            fields[name.lowercased()] = fields[name.lowercased()].map { $0 + ", " + value } ?? value
        }
        return Head(status: status, fields: fields)
    }

    /// Reads a head, byte by byte; returns its lines.
    public func headLines() async throws -> [String] {
        try await run { [descriptor] in
            var bytes: [UInt8] = []
            while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
                var byte: UInt8 = 0
                guard recv(descriptor, &byte, 1, 0) == 1 else { throw Failure.closed }
                bytes.append(byte)
            }
            return String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n").filter { !$0.isEmpty }
        }
    }

    /// Reads exactly `count` bytes; throws if the connection ends before.
    public func body(_ count: Int) async throws -> [UInt8] {
        let bytes = try await upTo(count)
        guard bytes.count == count else { throw Failure.closed }
        return bytes
    }

    /// Reads `count` bytes; fewer if the connection ends before.
    public func upTo(_ count: Int) async throws -> [UInt8] {
        try await run { [descriptor] in
            var bytes = [UInt8](repeating: 0, count: count)
            var done = 0
            while done < count {
                let got = bytes.withUnsafeMutableBytes {
                    recv(descriptor, $0.baseAddress.map { $0 + done }, count - done, 0)
                }
                guard got > 0 else { break }
                done += got
            }
            return Array(bytes.prefix(done))
        }
    }

    /// Reads and discards `count` bytes; returns how many were received.
    public func skip(_ count: Int) async throws -> Int {
        try await run { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var done = 0
            while done < count {
                let got = recv(descriptor, &buffer, min(buffer.count, count - done), 0)
                guard got > 0 else { break }
                done += got
            }
            return done
        }
    }

    /// Sends as much of `text` as the kernel accepts without waiting; returns the number of bytes.
    public func sendAvailable(_ text: String) async throws -> Int {
        try await run { [descriptor] in
            let bytes = Array(text.utf8)
            var done = 0
            while done < bytes.count {
                let count = bytes[done...].withUnsafeBytes {
                    Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
                }
                guard count > 0 else { break }
                done += count
            }
            return done
        }
    }

    /// Whether the connection is open and nothing arrives within 10 ms.
    public func receivesNothing() async throws -> Bool {
        try await run { [descriptor] in
            var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&events, 1, 10) == 0
        }
    }

    /// Whether the kernel accepts more within `milliseconds`; false also if the connection is closed.
    public func canSend(within milliseconds: Int32) async throws -> Bool {
        try await run { [descriptor] in
            var events = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            return poll(&events, 1, milliseconds) == 1 && events.revents == Int16(POLLOUT)
        }
    }

    /// Shuts down sending; answers can still be read.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes the connection now; the kernel notifies the peer.
    public func disconnect() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// One exchange on a separate connection.
    public static func exchange(
        port: Int, _ target: String, _ fields: [String] = [], method: String = "GET"
    ) async throws -> (head: Head, body: [UInt8]) {
        let client = try RawClient(port: port)
        try await client.get(target, fields + ["Connection: close"], method: method)
        let head = try await client.head()
        let hasBody = method != "HEAD" && head.status != 204 && head.status != 304
        return (head, hasBody ? try await client.upTo(head.length ?? 1 << 22) : [])
    }
}
