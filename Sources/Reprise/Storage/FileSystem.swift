/// The file operations that the store needs, so that tests can make each of them fail.
///
/// Paths are absolute. Every call may block.
package protocol FileSystem: Sendable {
    /// Opens the file at `path` for reading and writing, creating it with mode 0600 if `create` says so.
    func open(_ path: String, create: Bool) throws(SystemError) -> any OpenFile
    /// Opens the file at `path` for reading only: its disk, or its owner, lets nothing be written.
    func open(readOnly path: String) throws(SystemError) -> any OpenFile
    /// Creates the directory at `path` with mode 0700, and those above it; none of it is an error if it is there.
    func makeDirectory(_ path: String) throws(SystemError)
    /// Removes the file at `path`.
    func remove(_ path: String) throws(SystemError)
    /// Puts the file at `path` in the place of `destination`.
    func rename(_ path: String, to destination: String) throws(SystemError)
    /// Names in a directory, in no order.
    func names(in directory: String) throws(SystemError) -> [String]
    /// What is known of the file at `path`.
    func status(of path: String) throws(SystemError) -> FileStatus
    /// Bytes that an ordinary user may still write where `path` lies.
    func freeBytes(at path: String) throws(SystemError) -> Int64
}

/// An open file; closed when the last reference goes.
package protocol OpenFile: AnyObject, Sendable {
    /// For `sendfile`; valid while the object lives.
    var descriptor: Int32 { get }
    /// Writes a prefix of `bytes`, at least one byte unless it is empty; returns its length.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
    /// Reads up to `buffer.count` bytes; 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int
    /// Reads as ``read(into:at:)`` does, but only what is in memory; `nil` if the disk would have to be waited for.
    ///
    /// May return fewer bytes for that reason. Where the system cannot tell, it reads and may wait.
    func readResident(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int?
    /// Gives the blocks that lie wholly in `range` back; the range reads as zeros afterwards.
    func punch(_ range: Range<Int64>) throws(SystemError)
    /// Cuts the file off at `length`.
    func truncate(to length: Int64) throws(SystemError)
    /// What is known of the file.
    func status() throws(SystemError) -> FileStatus
}

/// Another file system, of which nothing can be changed.
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
    /// Bytes that it occupies on the disk: less than its length if it has holes.
    package var allocated: Int64

    package init(size: Int64, allocated: Int64) {
        self.size = size
        self.allocated = allocated
    }
}

/// An `errno` value with the system's words for it.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    package let code: Int32

    package init(_ code: Int32) { self.code = code }
}
