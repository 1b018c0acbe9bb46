internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

extension Channel {
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
