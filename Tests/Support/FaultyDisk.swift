import Primitives
package import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The real disk, with faults on request: errors, short writes, and writes that a power cut takes back.
package final class FaultyDisk: FileSystem {
    /// What happens to one write.
    package enum Fault: Sendable {
        /// It fails with this `errno`.
        case error(Int32)
        /// It writes at most this many bytes.
        case short(Int)
        /// It is reported as done but does not happen.
        case lost
    }

    fileprivate struct Write {
        let path: String
        let offset: Int64
        let before: [UInt8]
        let count: Int
    }

    fileprivate struct State {
        var writes = 0
        var opens = 0
        var openFiles = 0
        var fault: @Sendable (Int) -> Fault? = { _ in nil }
        var openError: Int32?
        var namesError: Int32?
        var willList: (@Sendable (String) -> Void)?
        var willCreate: (@Sendable () -> Void)?
        var removeError: Int32?
        var statusError: Int32?
        var readError: (@Sendable (Int64) -> Int32?)?
        var keepsJournal = false
        var reporter: [Write] = []
        var freeBytes: (@Sendable () -> Int64)?
        var capacity: Int64?
        var canPunch = true
        var openFileStatus: FileStatus?
        var unreadableWhileLocked: Set<String> = []
        var isLocked = false
    }

    /// Called with the name of each operation that the current task, or a task that it started, runs itself.
    @TaskLocal package static var onUse: (@Sendable (String) -> Void)?

    fileprivate let state = Mutex(State())
    private let real = SystemFileSystem()

    package init() {}

    /// Sets the fault of each write; the argument counts data-file writes from 1.
    package func setFault(_ fault: @escaping @Sendable (Int) -> Fault?) {
        state.withLock { state in
            state.writes = 0
            state.fault = fault
        }
    }

    /// Makes every listing of a folder of data files fail with this `errno`; `nil` for none.
    package func setNamesError(_ error: Int32?) { state.withLock { $0.namesError = error } }

    /// Calls this before each listing of a folder, with its path; the listing waits for it.
    package func setWillList(_ willList: (@Sendable (String) -> Void)?) { state.withLock { $0.willList = willList } }

    /// Calls `willCreate` before a data file is created; `nil` for nothing.
    package func setWillCreate(_ willCreate: (@Sendable () -> Void)?) {
        state.withLock { $0.willCreate = willCreate }
    }

    /// Makes every removal of a data file fail with this `errno`; `nil` for none.
    package func setRemoveError(_ error: Int32?) { state.withLock { $0.removeError = error } }

    /// Makes every look at the sizes of a data file fail with this `errno`; `nil` for none.
    package func setStatusError(_ error: Int32?) { state.withLock { $0.statusError = error } }

    /// Sets the error of each read of a data file by its offset; `nil` for none.
    package func setReadError(_ error: (@Sendable (Int64) -> Int32?)?) { state.withLock { $0.readError = error } }

    /// Makes every opening or creation of a data file fail with this `errno`, with EROFS only those for writing; `nil`
    /// for none.
    package func setOpenError(_ error: Int32?) { state.withLock { $0.openError = error } }

    /// Sets the reported free space; `nil` for the real one.
    package func setFreeBytes(_ bytes: (@Sendable () -> Int64)?) { state.withLock { $0.freeBytes = bytes } }

    /// Sets the reported size of the disk; `nil` for the real one.
    package func setCapacity(_ bytes: Int64?) { state.withLock { $0.capacity = bytes } }

    /// Sets the reported status of every open file; `nil` for the real one.
    package func setOpenFileStatus(_ status: FileStatus?) { state.withLock { $0.openFileStatus = status } }

    /// Sets which files and folders cannot be read while the device is locked, as those of an app with such a data
    /// protection; what is created in such a folder is among them.
    package func setUnreadableWhileLocked(_ paths: Set<String>) {
        state.withLock { $0.unreadableWhileLocked = paths }
    }

    /// The files and folders that cannot be read while the device is locked.
    package var unreadableWhileLocked: Set<String> { state.withLock { $0.unreadableWhileLocked } }

    /// Simulates that the device is locked, so far as the protection of such files cannot be changed; their content
    /// stays readable.
    package func setLocked(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }

    /// Makes punching holes fail, as on exFAT.
    package func forbidPunching() { state.withLock { $0.canPunch = false } }

    /// Records the bytes that each write overwrites, so that ``cutPower(_:)`` can restore them.
    package func keepJournal() { state.withLock { $0.keepsJournal = true } }

    /// Number of data files that are open now.
    package var openFiles: Int { state.withLock { $0.openFiles } }

    /// Number of data-file writes so far.
    package var writeCount: Int { state.withLock { $0.writes } }

    /// Undoes the writes of 4 KiB pages selected by `isLost`, as if they had not reached the disk.
    ///
    /// Returns how many pages were lost. The cache must be closed.
    package func cutPower(_ isLost: (Int) -> Bool) throws -> Int {
        let reporter = state.withLock { $0.reporter }
        var number = 0
        var lost = 0
        for write in reporter.reversed() {
            var offset = 0
            while offset < write.count {
                let end = min(write.count, Int(((write.offset + Int64(offset)) / 4096 + 1) * 4096 - write.offset))
                if isLost(number) {
                    // Removed files took their pages with them.
                    if let file = try? real.open(write.path, create: false) {
                        try write.before[offset..<end].withUnsafeBytes { bytes in
                            _ = try file.write(bytes, at: write.offset + Int64(offset))
                        }
                        lost += 1
                    }
                }
                number += 1
                offset = end
            }
        }
        return lost
    }

    package func open(_ path: String, create: Bool) throws(SystemError) -> any OpenFile {
        Self.onUse?(#function)
        let error = state.withLock { state in
            state.opens += 1
            return path.contains("/media/") ? state.openError : nil
        }
        if let error { throw SystemError(error) }
        if create, path.contains("/media/") { state.withLock { $0.willCreate }?() }
        let isNew = (try? real.status(of: path)) == nil
        let file = try real.open(path, create: create)
        if isNew { inheritProtection(path) }
        return FaultyFile(file, path: path, disk: self)
    }

    package func open(readOnly path: String) throws(SystemError) -> any OpenFile {
        Self.onUse?(#function)
        let error = state.withLock { path.contains("/media/") ? $0.openError : nil }
        if let error, error != EROFS { throw SystemError(error) }
        return FaultyFile(try real.open(readOnly: path), path: path, disk: self)
    }

    package func makeDirectory(_ path: String) throws(SystemError) {
        Self.onUse?(#function)
        let isNew = (try? real.status(of: path)) == nil
        try real.makeDirectory(path)
        if isNew { inheritProtection(path) }
    }

    private func inheritProtection(_ path: String) {
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        state.withLock { state in
            guard state.unreadableWhileLocked.contains(folder) else { return }
            state.unreadableWhileLocked.insert(path)
        }
    }

    package func isUnreadableWhileLocked(_ path: String) -> Bool {
        state.withLock { $0.unreadableWhileLocked.contains(path) }
    }

    @discardableResult package func makeReadableWhileLocked(_ path: String) -> Bool {
        // Folders have no key that a locked device lacks.
        let isFolder = (try? real.names(in: path)) != nil
        return state.withLock { state in
            guard isFolder || !state.isLocked else { return false }
            state.unreadableWhileLocked.remove(path)
            return true
        }
    }

    package func remove(_ path: String) throws(SystemError) {
        Self.onUse?(#function)
        if path.contains("/media/"), let error = state.withLock({ $0.removeError }) { throw SystemError(error) }
        try real.remove(path)
    }
    package func rename(_ path: String, to destination: String) throws(SystemError) {
        Self.onUse?(#function)
        try real.rename(path, to: destination)
    }
    package func names(in directory: String) throws(SystemError) -> [String] {
        Self.onUse?(#function)
        state.withLock { $0.willList }?(directory)
        if directory.contains("/media"), let error = state.withLock({ $0.namesError }) { throw SystemError(error) }
        return try real.names(in: directory)
    }
    package func status(of path: String) throws(SystemError) -> FileStatus {
        Self.onUse?(#function)
        if path.contains("/media/"), let error = state.withLock({ $0.statusError }) { throw SystemError(error) }
        return try real.status(of: path)
    }
    package func freeBytes(at path: String) throws(SystemError) -> Int64 {
        Self.onUse?(#function)
        if let bytes = state.withLock({ $0.freeBytes }) { return bytes() }
        return try real.freeBytes(at: path)
    }
    package func capacity(at path: String) throws(SystemError) -> Int64? {
        Self.onUse?(#function)
        if let bytes = state.withLock({ $0.capacity }) { return bytes }
        return try real.capacity(at: path)
    }
}

private final class FaultyFile: OpenFile {
    private let real: any OpenFile
    private let path: String
    private let disk: FaultyDisk

    init(_ real: any OpenFile, path: String, disk: FaultyDisk) {
        self.real = real
        self.path = path
        self.disk = disk
        if isMedia { disk.state.withLock { $0.openFiles += 1 } }
    }

    deinit { if isMedia { disk.state.withLock { $0.openFiles -= 1 } } }

    private var isMedia: Bool { path.contains("/media/") }

    var descriptor: Int32 { real.descriptor }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        FaultyDisk.onUse?(#function)
        let fault = disk.state.withLock { state in
            state.writes += 1
            return state.fault(state.writes)
        }
        var bytes = bytes
        switch fault {
        case .error(let code): throw SystemError(code)
        case .lost: return bytes.count
        case .short(let count): bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(max(1, count)))
        case nil: break
        }
        if disk.state.withLock({ $0.keepsJournal }) { try keep(bytes.count, offset) }
        return try real.write(bytes, at: offset)
    }

    private func keep(_ count: Int, _ offset: Int64) throws(SystemError) {
        var before = [UInt8](repeating: 0, count: count)
        var failure: SystemError?
        before.withUnsafeMutableBytes { buffer in
            do throws(SystemError) { _ = try real.read(into: buffer, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
        let write = FaultyDisk.Write(path: path, offset: offset, before: before, count: count)
        disk.state.withLock { $0.reporter.append(write) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        FaultyDisk.onUse?(#function)
        if isMedia, let code = disk.state.withLock({ $0.readError })?(offset) {
            throw SystemError(code)
        }
        return try real.read(into: buffer, at: offset)
    }

    func punch(_ range: Range<Int64>) throws(SystemError) {
        FaultyDisk.onUse?(#function)
        guard disk.state.withLock({ $0.canPunch }) else { throw SystemError(EOPNOTSUPP) }
        try real.punch(range)
    }

    func truncate(to length: Int64) throws(SystemError) {
        FaultyDisk.onUse?(#function)
        try real.truncate(to: length)
    }
    func status() throws(SystemError) -> FileStatus {
        if let status = disk.state.withLock({ $0.openFileStatus }) { return status }
        return try real.status()
    }
}
