import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The file of an access log, or a pipe or terminal in its place.
///
/// Each line is there as a whole, or not at all: what the disk had no room for is taken away again.
struct LogFile {
    /// Why it cannot be opened or written.
    struct Failure: Error, Equatable, CustomStringConvertible { let description: String }

    private let descriptor: Int32
    /// Whether a line lacks its end, because the rest could not be written and what was there could not be taken away.
    private var isTorn = false

    /// Opens the file at `path`, or makes it, for its user only; `-` stands for standard output.
    ///
    /// Never waits: a pipe that no program reads is a failure.
    init(_ path: String) throws(Failure) {
        if path == "-" { try self.init(duplicating: STDOUT_FILENO) } else { self.init(try Self.opened(path)) }
    }

    /// A copy of `descriptor`, which may be one that never waits.
    init(duplicating descriptor: Int32) throws(Failure) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw Self.failure(errno) }
        self.init(copy)
    }

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    private static func opened(_ path: String) throws(Failure) -> Int32 {
        // Without O_NONBLOCK, the call waits for a reader of the pipe.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw errno == ENXIO ? unread : failure(errno) }
        // Writing waits, so that a pipe that is read slowly gets all lines.
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) == 0 else {
            let error = errno
            _ = systemClose(descriptor)
            throw failure(error)
        }
        return descriptor
    }

    private static let unread = Failure(
        description: "it is a socket, or a pipe that no program reads; start its reader first")

    /// Closes it; nothing may be written afterwards.
    func close() { _ = systemClose(descriptor) }

    /// Writes `lines`, each with its end; returns how many bytes of them are in the file, as whole lines, and why the
    /// rest is not.
    ///
    /// Waits for a pipe that is not read.
    mutating func write(_ lines: [UInt8]) -> (count: Int, failure: Failure?) {
        if isTorn {
            let (count, error) = append([UInt8(ascii: "\n")])
            guard count == 1 else { return (0, Self.failure(error ?? EIO)) }
            isTorn = false
        }
        let before = size
        let (count, error) = append(lines)
        guard let error else { return (count, nil) }
        let whole = lines[..<count].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if count > whole {
            let end = Self.end(of: size, before: before, written: count, whole: whole)
            isTorn = end.map { ftruncate(descriptor, off_t($0)) != 0 } ?? true
        }
        return (whole, Self.failure(error))
    }

    /// Where a file of `size` is cut off, so that of `written` bytes only the `whole` lines remain.
    ///
    /// `nil` if it must not be cut: it is no regular file, or its size shows that others have written to it.
    static func end(of size: Int64?, before: Int64?, written: Int, whole: Int) -> Int64? {
        guard let size, let before, size == before + Int64(written) else { return nil }
        return before + Int64(whole)
    }

    private func append(_ bytes: [UInt8]) -> (count: Int, error: Int32?) {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR || errno == EAGAIN && waitUntilWritable() { continue }
                guard count > 0 else { return (done, count < 0 ? errno : EIO) }
                done += count
            }
            return (done, nil)
        }
    }

    /// Waits for the reader of a pipe or terminal that never waits itself, as standard output may be; false if it
    /// cannot.
    private func waitUntilWritable() -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            // Also returns if the reader is gone; the next write says so.
            if poll(&wanted, 1, -1) >= 0 { return true }
            guard errno == EINTR else { return false }
        }
    }

    /// The size of a regular file.
    private var size: Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    private static func failure(_ error: Int32) -> Failure { Failure(description: String(cString: strerror(error))) }
}

// Within the type, its own methods have these names.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
