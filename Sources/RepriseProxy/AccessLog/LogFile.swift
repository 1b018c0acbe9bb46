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
    init(_ path: String) throws(Failure) {
        descriptor =
            path == "-"
            ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
            : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno) }
    }

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
        let (count, error) = append(lines)
        guard let error else { return (count, nil) }
        let whole = lines[..<count].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if count > whole { isTorn = !cut(count - whole) }
        return (whole, Self.failure(error))
    }

    private func append(_ bytes: [UInt8]) -> (count: Int, error: Int32?) {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return (done, count < 0 ? errno : EIO) }
                done += count
            }
            return (done, nil)
        }
    }

    /// Takes the last `count` bytes of a regular file away.
    private func cut(_ count: Int) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return ftruncate(descriptor, max(0, status.st_size - off_t(count))) == 0
    }

    private static func failure(_ error: Int32) -> Failure { Failure(description: String(cString: strerror(error))) }
}

// Within the type, its own methods have these names.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
