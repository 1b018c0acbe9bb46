internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A port of 127.0.0.1 that no other test gets, while a socket that shares it may listen there.
///
/// Only on Linux: elsewhere the system may give a connection to the socket of this class, which takes none.
final class HeldPort: Sendable {
    #if os(Linux)
        let number: Int
        private let descriptor: Int32

        init() throws {
            #if canImport(Musl)
                let type = SOCK_STREAM | SOCK_CLOEXEC
            #else
                let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            #endif
            let descriptor = socket(AF_INET, type, 0)
            guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
            var (one, address, size) = (Int32(1), sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
                }
            }
            guard isBound else {
                defer { close(descriptor) }
                throw IOError(errnoCode: errno, reason: "bind")
            }
            self.descriptor = descriptor
            number = Int(UInt16(bigEndian: address.sin_port))
        }

        deinit { close(descriptor) }
    #else
        /// Any port.
        let number = 0

        init() throws {}
    #endif
}
