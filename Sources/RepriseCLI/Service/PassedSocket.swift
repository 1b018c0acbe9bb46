import Foundation
import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A listening socket that the service manager passes on (sd_listen_fds(3)): clients that connect while the server
/// restarts wait in it.
struct PassedSocket: Equatable {
    let descriptor: Int32
    /// The address that it listens on, without brackets.
    let host: String
    let port: Int

    /// The first passed descriptor.
    private static let first: Int32 = 3

    /// The socket that was passed to `process`; `nil` if none was.
    ///
    /// Throws if what was passed is something else than one socket that listens for TCP.
    init?(_ environment: [String: String], process: Int32) throws(RepriseError) {
        guard environment["LISTEN_PID"] == "\(process)", let text = environment["LISTEN_FDS"] else { return nil }
        guard text == "1" else {
            throw RepriseError(
                .invalidArgument, "LISTEN_FDS is \"\(text)\"; this server takes one socket: leave one ListenStream=.")
        }
        try self.init(listening: Self.first)
    }

    /// The socket `descriptor`, which programs that this one starts do not inherit.
    init(listening descriptor: Int32) throws(RepriseError) {
        guard Self.listens(descriptor), let (host, port) = Self.address(of: descriptor) else {
            throw RepriseError(
                .invalidArgument,
                "Descriptor \(descriptor), which LISTEN_FDS passes, is no listening TCP socket: use ListenStream= with a port."
            )
        }
        self.descriptor = descriptor
        self.host = host
        self.port = port
        _ = fcntl(descriptor, F_SETFD, fcntl(descriptor, F_GETFD) | FD_CLOEXEC)
    }

    private static func listens(_ descriptor: Int32) -> Bool {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0 && isListening != 0
    }

    private static func address(of descriptor: Int32) -> (host: String, port: Int)? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> (String, Int)? in
                guard getsockname(descriptor, pointer, &size) == 0 else { return nil }
                let family = Int32(pointer.pointee.sa_family)
                guard family == AF_INET || family == AF_INET6 else { return nil }
                var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
                let result = getnameinfo(
                    pointer, size, &host, socklen_t(host.count), &port, socklen_t(port.count),
                    NI_NUMERICHOST | NI_NUMERICSERV)
                guard result == 0, let number = Int(text(port)) else { return nil }
                return (text(host), number)
            }
        }
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
