import Foundation

/// Sockets of the file system, as tests need them beside those of the product.
public enum UnixAddress {
    /// A stream's socket that listens nowhere yet, or one for datagrams, at `name`: a path, or a zero byte and a name
    /// outside the file system.
    public static func bind(_ name: some Collection<UInt8>, takesDatagrams: Bool = false) throws -> Int32 {
        try open(name, takesDatagrams: takesDatagrams) { descriptor, address, size in
            #if canImport(Darwin)
                Darwin.bind(descriptor, address, size)
            #else
                Glibc.bind(descriptor, address, size)
            #endif
        }
    }

    /// A socket that is connected to the one at `path`.
    public static func connect(_ path: String) throws -> Int32 {
        try open(path.utf8, takesDatagrams: false) { descriptor, address, size in
            #if canImport(Darwin)
                Darwin.connect(descriptor, address, size)
            #else
                Glibc.connect(descriptor, address, size)
            #endif
        }
    }

    private static func open(
        _ name: some Collection<UInt8>, takesDatagrams: Bool,
        _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        var address = sockaddr_un()
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        #if canImport(Darwin)
            let descriptor = socket(AF_UNIX, takesDatagrams ? SOCK_DGRAM : SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_UNIX, Int32((takesDatagrams ? SOCK_DGRAM : SOCK_STREAM).rawValue), 0)
        #endif
        let size = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + name.count)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(descriptor, $0, size) }
        }
        guard result == 0 else {
            let reason = errno
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: reason) ?? .EIO)
        }
        return descriptor
    }
}
