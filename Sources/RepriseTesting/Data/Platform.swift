internal import NIOCore

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
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
}
