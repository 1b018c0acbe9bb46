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

extension OpenFile {
    package func readResident(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(SystemError) -> Int? {
        try read(into: buffer, at: offset)
    }
}
