import Primitives

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Keeps other processes out of a cache directory, with an advisory lock that ends with its process.
final class DirectoryLock: Sendable {
    /// Fulfilled when the lock is released.
    let released = Promise<Void>()
    private let file: Mutex<(any OpenFile)?>

    #if os(iOS) || os(tvOS) || os(visionOS)
        private static let suspendsApps = true
    #else
        private static let suspendsApps = false
    #endif

    /// Locks `directory` for this process alone.
    ///
    /// Throws ``RepriseError`` with code `storageLocked`, naming the process that holds the lock, or `invalidArgument`
    /// for a directory in an app-group container on systems that suspend apps: they terminate an app that is suspended
    /// while it holds a lock there (0xdead10cc).
    init(
        directory: String, in fileSystem: any FileSystem, suspendsApps: Bool = suspendsApps
    ) throws(RepriseError) {
        guard !suspendsApps || !Self.isInGroupContainer(directory) else {
            throw RepriseError(
                .invalidArgument,
                "\(directory) lies in an app-group container, where the system ends a suspended app that holds a lock. "
                    + "Choose a directory in the app's own container.")
        }
        guard Self.contents(in: directory, fileSystem: fileSystem) != .foreign else { throw Self.isForeign(directory) }
        let file: any OpenFile
        do throws(SystemError) {
            file = try fileSystem.open(Self.path(directory), create: true)
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot write in \(directory).", cause: error)
        }
        // Before it is locked: it may have appeared since.
        guard Self.contents(of: file) != .foreign else { throw Self.isForeign(directory) }
        try Self.lock(file, kind: LOCK_EX, in: directory)
        let text = "\(getpid())\(Self.mark)"
        _ = ftruncate(file.descriptor, 0)
        _ = text.withCString { pwrite(file.descriptor, $0, strlen($0), 0) }
        self.file = Mutex(file)
    }

    /// Keeps writers out of `directory`, which can only be read; `nil` if it has no lock, and so no writer.
    ///
    /// Throws ``RepriseError`` with code `storageLocked`, naming the process that writes.
    init?(reading directory: String, in fileSystem: any FileSystem) throws(RepriseError) {
        guard let file = try? fileSystem.open(readOnly: Self.path(directory)) else { return nil }
        try Self.lock(file, kind: LOCK_SH, in: directory)
        self.file = Mutex(file)
    }

    deinit { release() }

    /// Releases the lock.
    ///
    /// Further calls do nothing.
    func release() {
        file.withLock { file in
            // Unlocks now and not with the last reference, because others may be waiting for the lock.
            if let file { flock(file.descriptor, LOCK_UN) }
            file = nil
        }
        released.fulfill()
    }

    /// Whether the directory is shared by several apps of one developer.
    static func isInGroupContainer(_ directory: String) -> Bool {
        (directory + "/").contains("/Containers/Shared/AppGroup/")
    }

    /// What a file called `lock` holds.
    enum Contents {
        /// There is none, or an empty one.
        case nothing
        /// The number of a process and the mark of a cache.
        case marked
        /// A number alone: an earlier version's, or another program's.
        case number
        /// Anything else, which was there before the cache; a symbolic link, which leads to a file of someone else's.
        case foreign
    }

    /// What follows the number in the lock of a cache.
    private static let mark = " reprise\n"

    /// What the lock in `directory` holds.
    ///
    /// A file that cannot be read counts as empty: opening it says why.
    static func contents(in directory: String, fileSystem: any FileSystem) -> Contents {
        var status = stat()
        guard lstat(path(directory), &status) == 0 else { return .nothing }
        guard status.st_mode & S_IFMT == S_IFREG else { return .foreign }
        return (try? fileSystem.open(readOnly: path(directory))).map(contents) ?? .nothing
    }

    private static func contents(of file: any OpenFile) -> Contents {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(file.descriptor, &buffer, buffer.count, 0)
        let text = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        guard !text.isEmpty else { return .nothing }
        let rest = text.drop { ("0"..."9").contains($0) }
        if rest == mark, rest.startIndex != text.startIndex { return .marked }
        return rest.isEmpty || rest == "\n" ? .number : .foreign
    }

    /// The error for a `lock` that is not a cache's.
    static func isForeign(_ directory: String) -> RepriseError {
        RepriseError(
            .storageUnavailable,
            "\(path(directory)) is not the lock of a cache, and stays as it is. Choose another directory, or move the file "
                + "away.")
    }

    private static func path(_ directory: String) -> String { directory + "/lock" }

    private static func lock(_ file: any OpenFile, kind: Int32, in directory: String) throws(RepriseError) {
        guard flock(file.descriptor, kind | LOCK_NB) != 0 else { return }
        let remedy =
            switch holder(file.descriptor) {
            case getpid(): "open in this process (\(getpid())) already. Close that cache first"
            case let process?: "in use by process \(process). Stop it"
            case nil: "in use by another process. Stop it"
            }
        throw RepriseError(
            .storageLocked, "The cache in \(directory) is \(remedy), or choose another directory.")
    }

    private static func holder(_ descriptor: Int32) -> pid_t? {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let digits = buffer.prefix(max(count, 0)).prefix { (0x30...0x39).contains($0) }
        return pid_t(String(decoding: digits, as: UTF8.self))
    }
}
