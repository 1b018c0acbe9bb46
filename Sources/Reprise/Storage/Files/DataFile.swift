import Primitives

/// The sparse file of one generation: offset in the file = offset in the representation.
///
/// Opened when needed, and closed while it is not read or written and other files need the descriptor. The result of
/// ``open()`` retains the descriptor: a piece on its way to a socket stays readable after the file's name is gone.
package final class DataFile: Sendable {
    /// The path of the file.
    package let path: String
    /// The ranges being read.
    let leases = LeaseTable()
    private let fileSystem: any FileSystem
    private let openFiles: OpenFiles?

    private struct State {
        var file: (any OpenFile)?
        /// The file that was closed here, if it is still retained elsewhere, so that it is not opened twice.
        weak var last: (any OpenFile)?
        /// Whether it was used since the table of open files last checked.
        var wasUsed = true
        /// Whether it must stay open, because its name is gone or about to be.
        var isHeld = false
    }

    /// Held while the file is opened; ``OpenFiles`` touches only other files then, because this one enters its queue
    /// only once it is open.
    private let state: Mutex<State>

    /// Opens the file at `path`; if `create` is true, creates it and missing directories.
    ///
    /// A file that must not be written is opened for reading; writes to it fail.
    init(
        path: String, create: Bool, in fileSystem: any FileSystem, openFiles: OpenFiles? = nil
    ) throws(RepriseError) {
        self.path = path
        self.fileSystem = fileSystem
        self.openFiles = openFiles
        let file = try Self.open(path, create: create, fileSystem: fileSystem, openFiles: openFiles)
        state = Mutex(State(file: file, last: file))
        openFiles?.noteOpened(self)
    }

    deinit { if state.withLock({ $0.file != nil }) { openFiles?.noteClosed() } }

    /// The open file, reopened if necessary, which may wait for the disk.
    func open() throws(RepriseError) -> any OpenFile {
        let (file, isNew) = try state.withLock { state throws(RepriseError) in
            state.wasUsed = true
            if let file = state.file { return (file, false) }
            let file =
                if let last = state.last { last } else {
                    try Self.open(path, create: false, fileSystem: fileSystem, openFiles: openFiles)
                }
            (state.file, state.last) = (file, file)
            return (file, true)
        }
        if isNew { openFiles?.noteOpened(self) }
        return file
    }

    /// The file if it is open now.
    var opened: (any OpenFile)? {
        state.withLock { state in
            state.wasUsed = true
            return state.file
        }
    }

    /// Keeps the file open from now on as long as this object lives, because its name is removed while it is being
    /// read.
    func hold() {
        // If it cannot be opened, there is nothing to keep; its readers will notice.
        _ = try? open()
        state.withLock { $0.isHeld = true }
    }

    /// The outcome of an attempt to close it.
    enum Closing { case closed, used, held }

    /// Closes the file unless it was used since the last attempt or is being read.
    func closeUnlessUsed() -> Closing {
        let isRead = !leases.isEmpty
        return state.withLock { state in
            if state.isHeld { return .held }
            // It was closed and reopened since: it is in the queue twice.
            guard state.file != nil else { return .held }
            guard !state.wasUsed, !isRead else {
                state.wasUsed = false
                return .used
            }
            state.file = nil
            return .closed
        }
    }

    private static func open(
        _ path: String, create: Bool, fileSystem: any FileSystem, openFiles: OpenFiles?
    ) throws(RepriseError) -> any OpenFile {
        do throws(SystemError) {
            do throws(SystemError) {
                return try open(path, create: create, fileSystem: fileSystem)
            } catch {
                guard error.isLackOfDescriptors, let openFiles else { throw error }
                openFiles.closeHalf()
                Descriptors.process.release()
                return try open(path, create: create, fileSystem: fileSystem)
            }
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot open \(path).", cause: error)
        }
    }

    private static func open(
        _ path: String, create: Bool, fileSystem: any FileSystem
    ) throws(SystemError) -> any OpenFile {
        do throws(SystemError) {
            return try fileSystem.open(path, create: create)
        } catch {
            if !create, error.forbidsWriting { return try fileSystem.open(readOnly: path) }
            guard create, error.isMissingFile, let slash = path.lastIndex(of: "/") else { throw error }
            try fileSystem.makeDirectory(String(path[..<slash]))
            return try fileSystem.open(path, create: true)
        }
    }

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RepriseError) {
        let file = try open()
        var done = 0
        while done < bytes.count {
            do throws(SystemError) {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = try file.write(rest, at: offset + Int64(done))
                guard count > 0 else { throw SystemError.noRoom }
                done += count
            } catch {
                throw RepriseError(.storageUnavailable, "Cannot write \(path).", cause: error)
            }
        }
    }

    /// Reads up to `count` bytes at `offset` into new memory; fewer only at the end of the file.
    package func read(at offset: Int64, count: Int) throws(RepriseError) -> [UInt8] {
        var failure: RepriseError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(RepriseError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Fills `buffer` with the bytes at `offset` and returns their number; fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(RepriseError) -> Int {
        let file = try open()
        var count = 0
        while count < buffer.count {
            do throws(SystemError) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                let got = try file.read(into: rest, at: offset + Int64(count))
                if got == 0 { break }
                count += got
            } catch {
                throw RepriseError(.storageUnavailable, "Cannot read \(path).", cause: error)
            }
        }
        return count
    }

    /// Frees the blocks in `range`; false if the file system cannot.
    func punch(_ range: Range<Int64>) -> Bool { (try? open().punch(range)) != nil }

    /// Frees all blocks of a file whose name is gone and that is no longer read, although its descriptor may still be
    /// held.
    func empty() {
        guard let file = state.withLock({ $0.file ?? $0.last }) else { return }
        try? file.truncate(to: 0)
    }

    /// The file's sizes; `nil` if they cannot be read.
    var status: FileStatus? { try? open().status() }
}
