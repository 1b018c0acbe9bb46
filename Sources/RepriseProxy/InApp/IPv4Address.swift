#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An IPv4 address.
package struct IPv4Address: Sendable, Hashable, CustomStringConvertible {
    /// The address as a number, its first byte in the highest bits.
    let bits: UInt32

    init(bits: UInt32) { self.bits = bits }

    /// The address of four decimal numbers with dots between them; `nil` for other texts.
    package init?(_ text: String) {
        var address = in_addr()
        guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
        bits = UInt32(bigEndian: address.s_addr)
    }

    /// 127.0.0.1.
    static let loopback = IPv4Address(bits: 0x7F00_0001)

    /// Whether it is of a private network (RFC 1918).
    var isPrivate: Bool {
        bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8
    }

    /// Four decimal numbers with dots between them.
    package var description: String {
        [24, 16, 8, 0].map { "\(bits >> UInt32($0) & 0xFF)" }.joined(separator: ".")
    }
}

/// An IPv4 address with a port, for the system's calls, and what those are called on each system.
struct IPv4SocketAddress {
    private var address = sockaddr_in()

    init(_ host: IPv4Address, port: Int) {
        #if canImport(Darwin)
            address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        #endif
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = host.bits.bigEndian
    }

    /// Calls `bind` or `connect`.
    func call(_ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ descriptor: CInt) -> CInt {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The port that a socket is bound to; `nil` if it is not a socket.
    static func port(of descriptor: CInt) -> Int? { port { getsockname(descriptor, $0, $1) } }

    /// The address that a socket is bound to; `nil` if it is not a socket.
    static func host(of descriptor: CInt) -> IPv4Address? {
        address { getsockname(descriptor, $0, $1) }.map { IPv4Address(bits: UInt32(bigEndian: $0.sin_addr.s_addr)) }
    }

    /// The port that a socket is connected to; `nil` if it is to none.
    static func peerPort(of descriptor: CInt) -> Int? { port { getpeername(descriptor, $0, $1) } }

    private static func port(
        _ function: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> Int? {
        address(function).map { Int(UInt16(bigEndian: $0.sin_port)) }
    }

    private static func address(
        _ function: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> sockaddr_in? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { function($0, &size) }
        }
        return result == 0 ? address : nil
    }

    static var datagram: CInt {
        #if canImport(Darwin)
            SOCK_DGRAM
        #else
            CInt(SOCK_DGRAM.rawValue)
        #endif
    }

    static var stream: CInt {
        #if canImport(Darwin)
            SOCK_STREAM
        #else
            CInt(SOCK_STREAM.rawValue)
        #endif
    }

    static func accept(
        _ descriptor: CInt, _ address: UnsafeMutablePointer<sockaddr>, _ size: UnsafeMutablePointer<socklen_t>
    ) -> CInt {
        #if canImport(Darwin)
            Darwin.accept(descriptor, address, size)
        #else
            Glibc.accept(descriptor, address, size)
        #endif
    }

    /// Makes writes to a peer that has left fail instead of ending the process; false if it has left already.
    ///
    /// On Linux SwiftNIO asks for that with each write.
    static func toleratesLeavingPeer(_ descriptor: CInt) -> Bool {
        #if canImport(Darwin)
            var isOn: CInt = 1
            return setsockopt(
                descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size)) == 0
        #else
            return true
        #endif
    }
}
