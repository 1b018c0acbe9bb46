import Foundation

/// A TCP socket on 127.0.0.1 with blocking calls.
///
/// One thread reads and writes; any thread may cut it.
final class Socket: Sendable {
    /// The system's error number.
    struct Failure: Error { let number: Int32 }

    /// The result of a call to `receive`.
    enum Received { case bytes(Int), end, nothingInTime }

    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        set(IPPROTO_TCP, TCP_NODELAY, Int32(1))
    }

    deinit { close(descriptor) }

    /// Connects to a port; `timeout` is how long a read may wait, in seconds.
    static func connect(port: Int, receiveBuffer: Int, timeout: Int) throws(Failure) -> Socket {
        let socket = try make()
        socket.set(SOL_SOCKET, SO_RCVBUF, Int32(receiveBuffer))
        socket.set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: timeout, tv_usec: 0))
        let result = withAddress(port) { [descriptor = socket.descriptor] in Foundation.connect(descriptor, $0, $1) }
        guard result == 0 else { throw Failure(number: errno) }
        return socket
    }

    /// Listens on a port.
    static func listen(port: Int) throws(Failure) -> Socket {
        let socket = try make()
        socket.set(SOL_SOCKET, SO_REUSEADDR, Int32(1))
        let result = withAddress(port) { [descriptor = socket.descriptor] in bind(descriptor, $0, $1) }
        guard result == 0, Foundation.listen(socket.descriptor, 256) == 0 else { throw Failure(number: errno) }
        return socket
    }

    /// The next connection; `nil` if none comes in a tenth of a second.
    func accept(sendBuffer: Int) -> Socket? {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Foundation.poll(&poll, 1, 100) > 0 else { return nil }
        let accepted = Foundation.accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        let socket = Socket(accepted)
        socket.set(SOL_SOCKET, SO_SNDBUF, Int32(sendBuffer))
        return socket
    }

    /// Sends all bytes; returns how many were sent before the connection failed.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        var done = 0
        while done < bytes.count {
            let count = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    /// Sends a text; returns whether all of it was sent.
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { send($0) } == bytes.count
    }

    /// Waits for bytes.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? .nothingInTime : .end
    }

    /// Bytes that the kernel has accepted but not sent.
    var unsentBytes: Int {
        var count: Int32 = 0
        #if canImport(Darwin)
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? Int(count) : 0
        #else
            // SIOCOUTQNSD of <linux/sockios.h>, which Swift does not import.
            return ioctl(descriptor, 0x894B, &count) == 0 ? Int(count) : 0
        #endif
    }

    /// Bytes that have arrived but were not received.
    var waitingBytes: Int {
        var count: Int32 = 0
        #if canImport(Darwin)
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, SO_NREAD, &count, &size) == 0 ? Int(count) : 0
        #else
            return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
        #endif
    }

    /// Sends FIN: no further requests follow.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends the connection in both directions, and every call that waits on it.
    func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends RST instead of FIN when the socket closes.
    func resetsAtClose() { set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0)) }

    private static func make() throws(Failure) -> Socket {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw Failure(number: errno) }
        return Socket(descriptor)
    }

    private func set<Value: BitwiseCopyable>(_ level: some BinaryInteger, _ name: Int32, _ value: Value) {
        var value = value
        setsockopt(descriptor, Int32(level), name, &value, socklen_t(MemoryLayout<Value>.size))
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
