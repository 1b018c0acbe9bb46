#if canImport(Darwin)
    package import Darwin
#else
    package import Glibc
#endif

/// Calls for sockets of the file system.
package enum UnixSocket {
    /// A descriptor that is connected to the socket at `path`; `nil` if that fails, with the reason in `errno`.
    ///
    /// A path that is too long for an address is reached through its folder, where the system has such paths.
    package static func connect(to path: String) -> Int32? {
        #if os(Linux)
            if path.utf8.count > ControlPlace.longestPath, let slash = path.lastIndex(of: "/") {
                let folder = Glibc.open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard folder >= 0 else { return nil }
                defer { close(folder) }
                return connect(toShort: "/proc/self/fd/\(folder)\(path[slash...])")
            }
        #endif
        return connect(toShort: path)
    }

    private static func connect(toShort path: String) -> Int32? {
        guard let descriptor = open(.stream) else { return nil }
        let result = withAddress(path.utf8) { address, size in
            #if canImport(Darwin)
                Darwin.connect(descriptor, address, size)
            #else
                Glibc.connect(descriptor, address, size)
            #endif
        }
        guard result == 0 else {
            let reason = errno
            close(descriptor)
            errno = reason
            return nil
        }
        return descriptor
    }

    /// What a socket carries.
    package enum Kind {
        case stream
        case datagrams
    }

    /// A socket without an address, which programs that this one starts do not inherit; `nil` if there is none, with
    /// the reason in `errno`.
    package static func open(_ kind: Kind) -> Int32? {
        #if canImport(Darwin)
            let descriptor = socket(AF_UNIX, kind == .stream ? SOCK_STREAM : SOCK_DGRAM, 0)
        #else
            let type = kind == .stream ? SOCK_STREAM : SOCK_DGRAM
            let descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
        return descriptor >= 0 ? descriptor : nil
    }

    /// Bytes of the longest name of a socket, and one that ends it.
    package static let longestName = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// Calls `body` with the address of a socket: `name` is a path, or a zero byte and a name outside the file system.
    ///
    /// `nil` if `name` is too long, with that in `errno`.
    package static func withAddress<Result>(
        _ name: some Collection<UInt8>, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        var address = sockaddr_un()
        guard name.count < longestName, let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else {
            errno = ENAMETOOLONG
            return nil
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // A name outside the file system ends with the address, and not with a zero byte.
        let size = socklen_t(start + name.count + (name.first == 0 ? 0 : 1))
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }

    /// Sends as much of `bytes` as the kernel takes; a peer that has left is an error, and no signal.
    package static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        #if canImport(Darwin)
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
            return Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #else
            return Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }

    /// The user at the other end of a connected socket; `nil` if the kernel does not say.
    package static func peer(of descriptor: Int32) -> uid_t? {
        #if os(Linux)
            var credentials = PeerCredentials()
            var size = socklen_t(MemoryLayout<PeerCredentials>.size)
            guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
            return credentials.user
        #else
            var (user, group): (uid_t, gid_t) = (0, 0)
            return getpeereid(descriptor, &user, &group) == 0 ? user : nil
        #endif
    }

    #if os(Linux)
        /// `struct ucred` (unix(7)), which Glibc's module declares for GNU sources only.
        private struct PeerCredentials {
            var process: pid_t = 0
            var user: uid_t = .max
            var group: gid_t = .max
        }
    #endif

    /// Whether `user` may control a server of this user: the same, or the one who may do everything.
    static func mayControl(_ user: uid_t) -> Bool { user == geteuid() || user == 0 }
}
