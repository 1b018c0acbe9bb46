import Foundation
import Primitives

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A file outside the cache, named by the caller, that is written from beginning to end.
///
/// A regular file takes its name when it is complete; until then it is a hidden file with a random name in the same
/// directory. Everything else (a pipe, a device, a descriptor of this process such as `/dev/stdout`) is written in
/// place. A symbolic link is preserved: its target is written. A file for which ``finish()`` was not called leaves
/// nothing behind.
package final class OutputFile: Sendable {
    /// What happens to a regular file that already has the name.
    package enum Existing: Sendable {
        /// It stays, and ``Failure/Reason/exists`` is thrown.
        case kept
        /// It is replaced, whether writable or not; the new file gets its mode and, if possible, its owner.
        case replaced
    }

    /// An error that prevents the file from being written.
    package struct Failure: Error {
        /// The kind of failure.
        package enum Reason: Sendable {
            /// A file has the name and must not be replaced.
            case exists
            /// Nothing can be written under that name.
            case cannotCreate
            /// A byte could not be written, or the file could not take its name.
            case cannotWrite
            /// The pipe's reader has closed its end.
            case readerIsGone
        }

        package let reason: Reason
        /// What happened, for people.
        package let message: String

        init(_ reason: Reason, _ message: String) {
            self.reason = reason
            self.message = message
        }
    }

    private enum Place {
        /// Bytes are written in place.
        case direct
        /// `temporary` becomes `destination`.
        case beside(temporary: String, destination: String, existing: Existing)
    }

    /// The name given by the caller.
    package let name: String
    private let descriptor: Int32
    private let place: Place

    private struct State {
        var hasEnded = false
        /// Whether this object has to close the descriptor.
        var isOpen: Bool
    }
    private let state: Mutex<State>

    /// Writes to `descriptor`, which stays open; `name` is for messages.
    package init(descriptor: Int32, name: String) {
        self.name = name
        self.descriptor = descriptor
        place = .direct
        state = Mutex(State(isOpen: false))
    }

    /// Prepares the file at `path`.
    ///
    /// `onWait` is called before opening a pipe without a reader, which blocks until there is one.
    package init(path: String, existing: Existing, onWait: () -> Void = {}) throws(Failure) {
        name = path
        let destination = try Self.end(ofLink: path)
        if let descriptor = Self.descriptor(named: destination) {
            self.descriptor = descriptor
            place = .direct
            state = Mutex(State(isOpen: false))
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0 else { throw Self.refusal(path, code: errno) }
            // Descriptors that this process opened itself, such as the index's, are closed on exec; inherited ones are
            // not.
            guard flags & FD_CLOEXEC == 0 else { throw Self.refusal(path, code: EBADF) }
            return
        }
        var status = stat()
        let isThere = stat(path, &status) == 0
        if !isThere, errno == ENAMETOOLONG { throw Self.refusal(path, code: errno) }
        if isThere, status.st_mode & S_IFMT == S_IFDIR {
            throw Failure(.cannotCreate, "\(path) is a directory. Name a file in it.")
        }
        state = Mutex(State(isOpen: true))
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            descriptor = try Self.open(inPlace: path, isPipe: status.st_mode & S_IFMT == S_IFIFO, onWait)
            place = .direct
            return
        }
        if isThere, existing == .kept { throw Self.exists(path) }
        let made = try Self.make(in: Self.directory(of: destination), for: path, like: isThere ? status : nil)
        descriptor = made.descriptor
        place = .beside(temporary: made.path, destination: destination, existing: existing)
    }

    deinit {
        discard()
        if state.withLock({ $0.isOpen }) { close(descriptor) }
    }

    /// Where the bytes of a regular file are until it takes its name; `nil` for everything else.
    package var temporaryPath: String? { if case .beside(let temporary, _, _) = place { temporary } else { nil } }

    /// Whether bytes are written in place, so that a call may block until they are read.
    package var isDirect: Bool { if case .direct = place { true } else { false } }

    /// Appends all of `bytes`.
    package func write(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.write($0, to: descriptor) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // A process that shares the descriptor made it non-blocking.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wanted, 1, -1)
            case EPIPE: throw Failure(.readerIsGone, "Nothing reads \(name) any more.")
            case let code: throw Self.failure(name, code: code)
            }
        }
    }

    /// Gives the file its name.
    ///
    /// If existing files are kept, this includes a file that took the name in the meantime.
    package func finish() throws(Failure) {
        let (isFirst, isOpen) = state.withLock { state in
            defer { state = State(hasEnded: true, isOpen: false) }
            return (!state.hasEnded, state.isOpen)
        }
        guard isFirst else { return }
        var written = stat()
        let isKnown = fstat(descriptor, &written) == 0
        // Some file systems report a lack of room only here.
        let code = isOpen && close(descriptor) != 0 ? errno : 0
        guard case .beside(let temporary, let destination, let existing) = place else {
            guard code == 0 else { throw Self.failure(name, code: code) }
            return
        }
        var found = stat()
        guard isKnown, lstat(temporary, &found) == 0, found.st_ino == written.st_ino, found.st_dev == written.st_dev
        else {
            // Whatever has the name now is not this command's.
            throw Failure(.cannotWrite, "Cannot write \(name): another program took its unfinished file away.")
        }
        defer { unlink(temporary) }
        guard code == 0 else { throw Self.failure(name, code: code) }
        switch existing {
        case .replaced: try move(temporary, to: destination)
        case .kept:
            if link(temporary, destination) == 0 { return }
            if errno == EEXIST { throw Self.exists(name) }
            // Some file systems have no links.
            var status = stat()
            if lstat(destination, &status) == 0 { throw Self.exists(name) }
            try move(temporary, to: destination)
        }
    }

    /// Removes the unfinished file; may be called from any thread.
    ///
    /// Does nothing once the file is finished.
    package func discard() {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isFirst, case .beside(let temporary, _, _) = place { unlink(temporary) }
    }

    private func move(_ temporary: String, to destination: String) throws(Failure) {
        guard rename(temporary, destination) == 0 else { throw Self.failure(name, code: errno) }
    }

    // MARK: - Names

    /// Whether `path` leads to a file that a cache made for itself: the one in `directory`, or any other.
    package static func isOfCache(_ path: String, in directory: String) -> Bool {
        guard let target = try? end(ofLink: path), let place = resolved(Self.directory(of: target)) else {
            return false
        }
        let own = resolved(directory)
        func isCache(_ path: String) -> Bool {
            path == own || DirectoryClaim.hasIndex(path, fileSystem: SystemFileSystem())
        }
        let name = target.split(separator: "/").last.map(String.init) ?? ""
        if name == "lock" || name.hasPrefix("catalogue.") || name.hasPrefix("index."), isCache(place) { return true }
        // Data files lie in folders of `media`.
        return [place, Self.directory(of: place)].contains { folder in
            folder.hasSuffix("/media") && isCache(String(folder.dropLast("/media".count)))
        }
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The descriptor of this process that `path` leads to, as `/dev/stdout` does; `nil` if it leads to none.
    package static func descriptor(ledToBy path: String) -> Int32? {
        (try? end(ofLink: path)).flatMap { descriptor(named: $0) }
    }

    /// The descriptor of this process that `path` names, if it names one.
    ///
    /// Opening the path instead would write a file behind the descriptor from its beginning.
    private static func descriptor(named path: String) -> Int32? {
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
        }
        return nil
    }

    /// Follows symbolic links at the end of `path`, up to a path that is not a link or names a descriptor of this
    /// process.
    static func end(ofLink path: String) throws(Failure) -> String {
        var path = path
        for _ in 0..<40 {
            guard descriptor(named: path) == nil,
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            else { return path }
            path = target.hasPrefix("/") ? target : directory(of: path) + "/" + target
        }
        throw refusal(path, code: ELOOP)
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    // MARK: - Opening

    private static func open(inPlace path: String, isPipe: Bool, _ onWait: () -> Void) throws(Failure) -> Int32 {
        if isPipe {
            // Fails without a reader, where the call below would block. The descriptor stays open, because the reader
            // takes the close of the first writer for the end of the file.
            let descriptor = open(path, flags: O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0, fcntl(descriptor, F_SETFL, O_WRONLY) == 0 { return descriptor }
            if descriptor < 0, errno == ENXIO { onWait() }
        }
        while true {
            let descriptor = open(path, flags: O_WRONLY | O_CLOEXEC | O_NOCTTY)
            if descriptor >= 0 { return descriptor }
            if errno != EINTR { throw refusal(path, code: errno) }
        }
    }

    /// Creates an empty file with a random name, with the owner and mode of `old`, or those of a new file.
    private static func make(
        in directory: String, for name: String, like old: stat?
    ) throws(Failure) -> (descriptor: Int32, path: String) {
        while true {
            let path = "\(directory)/.reprise-\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
            let descriptor = open(
                path, flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: old == nil ? 0o666 : 0o600)
            guard descriptor >= 0 else {
                if errno == EEXIST || errno == EINTR { continue }
                throw refusal(name, code: errno)
            }
            if let old {
                _ = fchown(descriptor, old.st_uid, old.st_gid)
                _ = fchmod(descriptor, old.st_mode & 0o777)
            }
            return (descriptor, path)
        }
    }

    static func open(_ path: String, flags: Int32, mode: mode_t = 0) -> Int32 {
        #if canImport(Darwin)
            Darwin.open(path, flags, mode)
        #else
            Glibc.open(path, flags, mode)
        #endif
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    /// The failure for an output that must not be replaced.
    package static func exists(_ name: String) -> Failure { Failure(.exists, "\(name) exists already.") }

    static func refusal(_ name: String, code: Int32) -> Failure {
        Failure(.cannotCreate, "Cannot create \(name): \(words(code)).")
    }

    static func failure(_ name: String, code: Int32) -> Failure {
        Failure(.cannotWrite, "Cannot write \(name): \(words(code)).")
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
