import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A socket that listens, and may be closed under its owner's feet.
///
/// The system does that to an app that it suspends, so no call here takes the descriptor for granted.
struct ListeningSocket {
    /// What became of an attempt to accept a connection.
    enum Accepted {
        /// A connection, and the address and port of its client.
        case connection(CInt, from: IPv4Address, port: Int)
        /// There is none, or it has gone again.
        case none
        /// There is no descriptor or memory for it now.
        case crowded
        /// The socket does not listen any more.
        case broken
    }

    /// Number of connections that the system accepts while nothing takes them: an app may be suspended for a moment.
    private static let backlog: CInt = 128

    let descriptor: CInt
    /// A duplicate of ``descriptor``, which keeps the socket open and wakes its thread if the system closes that.
    let spare: CInt
    let port: Int
    /// The number of the socket among the system's files; 0 on systems that do not number sockets.
    private let number: UInt64

    private var descriptors: [CInt] { [descriptor, spare] }

    /// Listens on `port` of an address of this machine, or on any port if it is 0.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument`.
    init(at host: IPv4Address, port: Int) throws(RepriseError) {
        let descriptor = socket(AF_INET, IPv4SocketAddress.stream, 0)
        guard descriptor >= 0 else { throw Self.failure(errno, host, port: port) }
        var isReusing: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusing, socklen_t(MemoryLayout<CInt>.size))
        guard IPv4SocketAddress(host, port: port).call(bind, descriptor) == 0, listen(descriptor, Self.backlog) == 0,
            Self.prepare(descriptor), let bound = IPv4SocketAddress.port(of: descriptor)
        else {
            let code = errno
            close(descriptor)
            throw Self.failure(code, host, port: port)
        }
        let spare = dup(descriptor)
        guard spare >= 0, Self.prepare(spare), let number = Self.number(of: descriptor) else {
            let code = errno
            for descriptor in [descriptor, spare] where descriptor >= 0 { close(descriptor) }
            throw Self.failure(code, host, port: port)
        }
        self.init(descriptor: descriptor, spare: spare, port: bound, number: number)
    }

    private init(descriptor: CInt, spare: CInt, port: Int, number: UInt64) {
        self.descriptor = descriptor
        self.spare = spare
        self.port = port
        self.number = number
    }

    private static func failure(_ code: CInt, _ host: IPv4Address, port: Int) -> RepriseError {
        let place = port == 0 ? "\(host)" : "\(host), port \(port)"
        return RepriseError(.invalidArgument, "Cannot listen on \(place): \(String(cString: strerror(code))).")
    }

    /// Makes calls return at once, and keeps programs that this one starts from inheriting the descriptor.
    static func prepare(_ descriptor: CInt) -> Bool {
        fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
            && fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
    }

    /// Whether both descriptors are still this socket, and it listens.
    var isListening: Bool { descriptors.allSatisfy(isListening) }

    private func isListening(_ descriptor: CInt) -> Bool {
        var isAccepting: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        // Another file may have got the number of a descriptor that was closed.
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isAccepting, &size) == 0 && isAccepting != 0
            && IPv4SocketAddress.port(of: descriptor) == port
    }

    /// The same socket with a new descriptor in place of a closed one; `nil` if none or both are closed.
    ///
    /// Unlike a new socket, it keeps the clients in its backlog.
    func mended() -> ListeningSocket? {
        let usable = descriptors.filter(isListening)
        guard usable.count == 1 else { return nil }
        let added = dup(usable[0])
        guard added >= 0 else { return nil }
        guard Self.prepare(added) else {
            close(added)
            return nil
        }
        return ListeningSocket(descriptor: added, spare: usable[0], port: port, number: number)
    }

    /// Accepts one connection; never waits.
    ///
    /// Also returns `broken` if one descriptor is closed, so that the owner calls ``mended()``.
    func accept() -> Accepted { isListening ? Self.accept(descriptor) : .broken }

    private static func accept(_ descriptor: CInt) -> Accepted {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let client = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                IPv4SocketAddress.accept(descriptor, address, &size)
            }
        }
        guard client >= 0 else { return meaning(of: errno) }
        guard prepare(client), IPv4SocketAddress.toleratesLeavingPeer(client) else {
            close(client)
            return .none
        }
        return .connection(
            client, from: IPv4Address(bits: UInt32(bigEndian: address.sin_addr.s_addr)),
            port: Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func meaning(of code: CInt) -> Accepted {
        switch code {
        case EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED, EPROTO: .none
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: .crowded
        default: .broken
        }
    }

    /// Closes each descriptor, unless it is closed or belongs to something else by now.
    func closeIfOwn() {
        for descriptor in descriptors where isOwn(descriptor) { close(descriptor) }
    }

    private func isOwn(_ descriptor: CInt) -> Bool {
        guard Self.number(of: descriptor) == number else { return false }
        // Where sockets have no numbers, a connection that was accepted here may have got the descriptor.
        return IPv4SocketAddress.peerPort(of: descriptor) == nil
            && IPv4SocketAddress.port(of: descriptor).map { $0 == port } ?? true
    }

    /// The number of the file that a descriptor stands for; `nil` if it is closed or no socket.
    private static func number(of descriptor: CInt) -> UInt64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return UInt64(status.st_ino)
    }
}
