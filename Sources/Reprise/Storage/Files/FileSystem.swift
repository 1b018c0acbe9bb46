/// The file operations that the store needs; tests make each of them fail.
///
/// Paths are absolute. Every call may block.
package protocol FileSystem: Sendable {
    /// Opens the file at `path` for reading and writing; if `create` is true, creates it with mode 0600.
    func open(_ path: String, create: Bool) throws(SystemError) -> any OpenFile
    /// Opens the file at `path` for reading only, because its disk or its owner forbids writing.
    func open(readOnly path: String) throws(SystemError) -> any OpenFile
    /// Creates the directory at `path` and those above it, with mode 0700; existing ones are not an error.
    func makeDirectory(_ path: String) throws(SystemError)
    /// Removes the file at `path`.
    func remove(_ path: String) throws(SystemError)
    /// Renames the file at `path` to `destination`, replacing a file there.
    func rename(_ path: String, to destination: String) throws(SystemError)
    /// The names in a directory, in no particular order.
    func names(in directory: String) throws(SystemError) -> [String]
    /// The sizes of the file at `path`.
    func status(of path: String) throws(SystemError) -> FileStatus
    /// Bytes that an ordinary user may still write to the disk that contains `path`.
    func freeBytes(at path: String) throws(SystemError) -> Int64
}

/// An open file; closed when the last reference is released.
package protocol OpenFile: AnyObject, Sendable {
    /// The descriptor, for `sendfile`; valid while the object lives.
    var descriptor: Int32 { get }
    /// Writes a prefix of `bytes`, at least one byte unless it is empty; returns its length.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
    /// Reads up to `buffer.count` bytes; 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
    /// Reads as ``read(into:at:)`` does, but only bytes in memory; `nil` if it would have to wait for the disk.
    ///
    /// May return fewer bytes for that reason. Where the system cannot tell, it reads and may wait.
    func readResident(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int?
    /// Frees the blocks that lie wholly in `range`; the range reads as zeros afterwards.
    func punch(_ range: Range<Int64>) throws(SystemError)
    /// Truncates the file to `length` bytes.
    func truncate(to length: Int64) throws(SystemError)
    /// The sizes of the file.
    func status() throws(SystemError) -> FileStatus
}

/// A file system that rejects all changes.
package struct ReadOnlyFileSystem: FileSystem {
    private let base: any FileSystem

    package init(_ base: any FileSystem) { self.base = base }

    package func open(_ path: String, create: Bool) throws(SystemError) -> any OpenFile { throw .readOnly }
    package func open(readOnly path: String) throws(SystemError) -> any OpenFile { try base.open(readOnly: path) }
    package func makeDirectory(_ path: String) throws(SystemError) {
        guard (try? base.status(of: path)) == nil else { return }
        throw .readOnly
    }
    package func remove(_ path: String) throws(SystemError) { throw .readOnly }
    package func rename(_ path: String, to destination: String) throws(SystemError) { throw .readOnly }
    package func names(in directory: String) throws(SystemError) -> [String] { try base.names(in: directory) }
    package func status(of path: String) throws(SystemError) -> FileStatus { try base.status(of: path) }
    package func freeBytes(at path: String) throws(SystemError) -> Int64 { try base.freeBytes(at: path) }
}

extension OpenFile {
    package func readResident(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(SystemError) -> Int? {
        try read(into: buffer, at: offset)
    }
}

/// Sizes of a file.
package struct FileStatus: Sendable, Equatable {
    /// Length in bytes.
    package var size: Int64
    /// Bytes that it occupies on disk; less than its length if it has holes.
    package var allocated: Int64

    package init(size: Int64, allocated: Int64) {
        self.size = size
        self.allocated = allocated
    }
}

/// An `errno` value with the system's description.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    package let code: Int32

    package init(_ code: Int32) { self.code = code }
}
