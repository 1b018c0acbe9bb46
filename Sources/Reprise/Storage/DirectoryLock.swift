import Locks

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Keeps other processes out of a cache directory: an advisory lock that dies with its process.
final class DirectoryLock: Sendable {
    private let descriptor: Int32
    private let isReleased = Mutex(false)

    #if os(iOS) || os(tvOS) || os(visionOS)
        private static let suspendsApps = true
    #else
        private static let suspendsApps = false
    #endif

    /// Locks `directory`.
    ///
    /// Throws ``RepriseError`` with code `storageLocked` naming the holder's process, or `invalidArgument` for a directory in
    /// an app-group container where the system suspends apps: it ends one that then holds a lock there (0xdead10cc).
    init(directory: String, suspendsApps: Bool = suspendsApps) throws(RepriseError) {
        guard !suspendsApps || !Self.isInGroupContainer(directory) else {
            throw RepriseError(
                .invalidArgument,
                "\(directory) lies in an app-group container, where the system ends a suspended app that holds a lock. "
                    + "Choose a directory in the app's own container.")
        }
        let path = directory + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw RepriseError(.storageUnavailable, "Cannot write in \(directory).", cause: SystemError(errno))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.holder(descriptor)
            close(descriptor)
            throw RepriseError(
                .storageLocked,
                "The cache in \(directory) is in use by \(holder). Stop it, or choose another directory.")
        }
        self.descriptor = descriptor
        let text = "\(getpid())\n"
        _ = ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    deinit { release() }

    /// Lets the next process in.
    ///
    /// Once is enough.
    func release() {
        isReleased.withLock { isReleased in
            if !isReleased { close(descriptor) }
            isReleased = true
        }
    }

    /// Whether several apps of one developer share what lies there.
    static func isInGroupContainer(_ directory: String) -> Bool {
        (directory + "/").contains("/Containers/Shared/AppGroup/")
    }

    private static func holder(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let digits = buffer.prefix(max(count, 0)).prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? "another process" : "process \(String(decoding: digits, as: UTF8.self))"
    }
}
