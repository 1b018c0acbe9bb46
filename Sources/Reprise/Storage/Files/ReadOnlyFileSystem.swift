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
    package func capacity(at path: String) throws(SystemError) -> Int64? { try base.capacity(at: path) }
    package func isUnreadableWhileLocked(_ path: String) -> Bool { base.isUnreadableWhileLocked(path) }
    @discardableResult package func makeReadableWhileLocked(_ path: String) -> Bool { false }
}
