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
    /// Bytes that the disk which contains `path` has for ordinary users, the used ones included; `nil` where that is
    /// unknown.
    func capacity(at path: String) throws(SystemError) -> Int64?
    /// Whether the file or directory at `path` cannot be read while the device is locked, and so neither what is
    /// created in that directory; false where the system protects no data.
    func isUnreadableWhileLocked(_ path: String) -> Bool
    /// Makes the file or directory at `path`, and what is created in that directory from now on, readable from the
    /// first unlock of the device on; false if that fails.
    @discardableResult func makeReadableWhileLocked(_ path: String) -> Bool
}
