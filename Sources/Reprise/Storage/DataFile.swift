#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The sparse file of one generation: offset in the file = offset in the representation.
///
/// Only throwing calls, never a mapping: a full disk must be an error, not SIGBUS. The descriptor lives as long as this
/// object, so a piece that is on its way to a socket stays readable after the file's name is gone.
package final class DataFile: Sendable {
    /// The open descriptor, for `sendfile`.
    ///
    /// Valid while the object lives.
    package let descriptor: Int32
    /// Where the file lies.
    package let path: String

    /// Opens the file at `path`, creating it if `create` says so; missing directories are made then.
    init(path: String, create: Bool) throws(RepriseError) {
        self.path = path
        var descriptor = Self.open(path, create)
        if descriptor < 0, create, errno == ENOENT, let slash = path.lastIndex(of: "/") {
            _ = mkdir(String(path[..<slash]), 0o700)
            descriptor = Self.open(path, create)
        }
        guard descriptor >= 0 else {
            throw RepriseError(.storageUnavailable, "Cannot open \(path).", cause: SystemError(errno))
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func open(_ path: String, _ create: Bool) -> Int32 {
        #if canImport(Darwin)
            Darwin.open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0o600)
        #else
            Glibc.open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0o600)
        #endif
    }

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RepriseError) {
        var done = 0
        while done < bytes.count {
            let written = pwrite(
                descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + off_t(done))
            if written > 0 {
                done += written
            } else if written == 0 || errno != EINTR {
                let reason = SystemError(written == 0 ? ENOSPC : errno)
                throw RepriseError(.storageUnavailable, "Cannot write \(path).", cause: reason)
            }
        }
    }

    /// Reads up to `count` bytes at `offset` into fresh memory; fewer only at the end of the file.
    package func read(at offset: Int64, count: Int) throws(RepriseError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count {
                let got = pread(
                    descriptor, buffer.baseAddress.map { $0 + initialized }, count - initialized,
                    off_t(offset) + off_t(initialized))
                if got > 0 {
                    initialized += got
                } else if got == 0 {
                    return
                } else if errno != EINTR {
                    failure = errno
                    return
                }
            }
        }
        guard failure == 0 else {
            throw RepriseError(.storageUnavailable, "Cannot read \(path).", cause: SystemError(failure))
        }
        return bytes
    }
}

/// An `errno` value with the system's words for it.
package struct SystemError: Error, CustomStringConvertible {
    package let code: Int32

    package init(_ code: Int32) { self.code = code }

    package var description: String { "\(String(cString: strerror(code))), errno \(code)" }
}
