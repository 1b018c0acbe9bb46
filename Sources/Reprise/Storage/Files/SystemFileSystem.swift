import CFiles
import Foundation
import Primitives

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The system's file operations.
package struct SystemFileSystem: FileSystem {
    /// The largest page in which the system may cache part of a file, in bytes.
    static let largestPage: Int64 = {
        #if os(Linux)
            let path = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
            let text = try? String(contentsOfFile: path, encoding: .ascii)
            let size = text.flatMap { Int64($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            guard let size, size > 0, size.nonzeroBitCount == 1 else { return 2 << 20 }
            return size
        #else
            return 16 << 10
        #endif
    }()

    package init() {}

    package func open(_ path: String, create: Bool) throws(SystemError) -> any OpenFile {
        try open(path, flags: O_RDWR | (create ? O_CREAT : 0))
    }

    package func open(readOnly path: String) throws(SystemError) -> any OpenFile { try open(path, flags: O_RDONLY) }

    /// Opens a file that does not belong to the cache: links are followed, and it may have several names.
    static func open(foreign path: String) throws(SystemError) -> any OpenFile { try descriptor(path, flags: O_RDONLY) }

    private func open(_ path: String, flags: Int32) throws(SystemError) -> any OpenFile {
        let file = try Self.descriptor(path, flags: flags | O_NOFOLLOW)
        try file.checkIsOwn(forWriting: flags & O_RDWR != 0)
        return file
    }

    private static func descriptor(_ path: String, flags: Int32) throws(SystemError) -> SystemFile {
        // Opening a pipe would wait for its other end.
        let flags = flags | O_CLOEXEC | O_NONBLOCK
        #if canImport(Darwin)
            let descriptor = Darwin.open(path, flags, 0o600)
        #else
            let descriptor = Glibc.open(path, flags, 0o600)
        #endif
        guard descriptor >= 0 else { throw SystemError(errno) }
        return SystemFile(descriptor: descriptor)
    }

    package func makeDirectory(_ path: String) throws(SystemError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError(errno)
        }
        try makeDirectory(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError(errno) }
    }

    package func remove(_ path: String) throws(SystemError) {
        guard unlink(path) == 0 else { throw SystemError(errno) }
    }

    package func rename(_ path: String, to destination: String) throws(SystemError) {
        #if canImport(Darwin)
            let result = Darwin.rename(path, destination)
        #else
            let result = Glibc.rename(path, destination)
        #endif
        guard result == 0 else { throw SystemError(errno) }
    }

    package func names(in directory: String) throws(SystemError) -> [String] {
        guard let stream = opendir(directory) else { throw SystemError(errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // Distinguishes the end of the directory from an error.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw SystemError(errno) }
        return names
    }

    package func status(of path: String) throws(SystemError) -> FileStatus {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw SystemError(errno) }
        return FileStatus(status)
    }

    /// On Apple's systems, does not count space that the system could purge.
    package func freeBytes(at path: String) throws(SystemError) -> Int64 {
        let disk = try Disk(containing: path)
        return disk.bytes(disk.available)
    }

    /// Disks that grow as they are used, and some in the network, say that they have no blocks.
    package func capacity(at path: String) throws(SystemError) -> Int64? {
        let disk = try Disk(containing: path)
        let reserved = disk.free - min(disk.free, disk.available)
        return disk.blocks > reserved ? disk.bytes(disk.blocks - reserved) : nil
    }

    package func isUnreadableWhileLocked(_ path: String) -> Bool {
        #if canImport(Darwin) && !os(macOS)
            let readable: [FileProtectionType] = [.none, .completeUntilFirstUserAuthentication]
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let protection = attributes?[.protectionKey] as? FileProtectionType else { return false }
            return !readable.contains(protection)
        #else
            return false
        #endif
    }

    @discardableResult package func makeReadableWhileLocked(_ path: String) -> Bool {
        #if canImport(Darwin) && !os(macOS)
            let attributes = [FileAttributeKey.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
            do { try FileManager.default.setAttributes(attributes, ofItemAtPath: path) } catch { return false }
        #endif
        return true
    }

    /// What the system says of a disk, in blocks.
    private struct Disk {
        let blocks: UInt64
        let free: UInt64
        /// Those of the free ones that ordinary users may use.
        let available: UInt64
        private let blockSize: UInt64

        init(containing path: String) throws(SystemError) {
            #if canImport(Darwin)
                // Darwin's statvfs counts blocks in 32 bits, which is too few above 16 TiB.
                var status = statfs()
                guard statfs(path, &status) == 0 else { throw SystemError(errno) }
                blockSize = UInt64(status.f_bsize)
            #else
                var status = statvfs()
                guard statvfs(path, &status) == 0 else { throw SystemError(errno) }
                blockSize = UInt64(status.f_frsize)
            #endif
            (blocks, free, available) = (UInt64(status.f_blocks), UInt64(status.f_bfree), UInt64(status.f_bavail))
        }

        func bytes(_ blocks: UInt64) -> Int64 {
            let (bytes, overflow) = blocks.multipliedReportingOverflow(by: blockSize)
            return overflow ? .max : Int64(clamping: bytes)
        }
    }
}

/// An open file of the system.
///
/// Never memory-mapped: a full disk must be an error, not SIGBUS.
private final class SystemFile: OpenFile {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Throws unless it is a regular file with one name, and of this user if it is going to be written.
    ///
    /// Any other one was put in the place of a file of the cache, and what it leads to belongs to something else.
    func checkIsOwn(forWriting: Bool) throws(SystemError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError(errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else { throw .foreignFile }
        // The superuser looks after the caches of others.
        guard !forWriting || status.st_uid == geteuid() || geteuid() == 0 else { throw SystemError(EACCES) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        while true {
            let count = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError(errno) }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError(errno) }
        }
    }

    func readResident(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int? {
        let count = reprise_read_resident(descriptor, buffer.baseAddress, buffer.count, offset)
        if count >= 0 { return count }
        switch errno {
        case EAGAIN: return nil
        case EOPNOTSUPP, ENOSYS, EINVAL: return try read(into: buffer, at: offset)
        case let code: throw SystemError(code)
        }
    }

    func punch(_ range: Range<Int64>) throws(SystemError) {
        guard !range.isEmpty else { return }
        let result = reprise_punch_hole(descriptor, range.lowerBound, range.upperBound - range.lowerBound)
        guard result == 0 else { throw SystemError(result) }
    }

    func truncate(to length: Int64) throws(SystemError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw SystemError(errno) }
    }

    func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError(errno) }
        return FileStatus(status)
    }
}

extension FileStatus {
    /// `st_blocks` counts units of 512 bytes, whatever the file system's block size is.
    fileprivate init(_ status: stat) {
        self.init(
            size: Int64(status.st_size), allocated: Int64(status.st_blocks) * 512,
            isRegular: status.st_mode & S_IFMT == S_IFREG)
    }
}

extension SystemError {
    package var description: String { "\(String(cString: strerror(code))), errno \(code)" }

    /// Whether the disk is full, so that eviction helps.
    package var isLackOfRoom: Bool { code == ENOSPC || code == EDQUOT }
    /// Whether the file does not exist, or a link or something else stands in its place.
    package var isMissingFile: Bool { code == ENOENT || isForeignFile }
    /// Whether something other than a file of the cache stands in its place, such as a link.
    var isForeignFile: Bool { code == ELOOP || code == EMLINK }
    /// Whether the process or the system has run out of descriptors.
    var isLackOfDescriptors: Bool { Descriptors.areMissing(code) }
    /// Whether the error concerns one file, its size or its name, and not the disk.
    var concernsOneFile: Bool {
        isMissingFile || isLackOfDescriptors || code == EFBIG || code == EINVAL || code == EOVERFLOW
    }
    /// Whether only writing is forbidden; the file may still be readable.
    var forbidsWriting: Bool { code == EROFS || code == EACCES || code == EPERM }
}

extension SystemError {
    /// A write that wrote nothing.
    static var noRoom: SystemError { SystemError(ENOSPC) }
    /// Something other than a file with one name.
    static var foreignFile: SystemError { SystemError(EMLINK) }
    /// A change to a read-only file system.
    static var readOnly: SystemError { SystemError(EROFS) }
}
