import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The length of an open file in bytes; `nil` if it has none.
func lengthOfFile(descriptor: CInt) -> Int64? {
    let length = lseek(descriptor, 0, SEEK_END)
    return length < 0 ? nil : Int64(length)
}

extension Channel {
    /// Closes the connection with RST, dropping what the kernel has not sent.
    func reset() {
        guard let socket = self as? any SocketOptionProvider else { return close(promise: nil) }
        // Lingering for zero seconds makes the kernel send RST instead of FIN.
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in self.close(promise: nil) }
    }

    /// Bytes that the kernel has accepted but not sent, because the peer's window is closed.
    ///
    /// On loopback one segment, and so the send queue, holds 64 KiB however small SO_SNDBUF is.
    var hasUnsentBytes: Bool {
        var count: CInt = 0
        let result = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            #if canImport(Darwin)
                var size = socklen_t(MemoryLayout<CInt>.size)
                return getsockopt($0, SOL_SOCKET, SO_NWRITE, &count, &size)
            #else
                return ioctl($0, 0x894B, &count)  // SIOCOUTQNSD of <linux/sockios.h>, which Swift does not import
            #endif
        }
        return result == 0 && count > 0
    }
}
