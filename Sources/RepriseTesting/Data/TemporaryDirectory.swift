internal import Foundation

/// A directory of its own for one test, under the system's temporary directory.
///
/// It is removed with all its content by ``remove()``, or when the last reference goes. A process that is killed leaves
/// it behind.
public final class TemporaryDirectory: Sendable {
    /// The directory's absolute path, without a slash at the end.
    public let path: String

    /// Creates an empty directory, whose name begins with `prefix`.
    ///
    /// Throws Foundation's error if that is not possible.
    public init(prefix: String = "reprise") throws {
        let parent = FileManager.default.temporaryDirectory
        let url = parent.appendingPathComponent("\(prefix)-\(UUID().uuidString)", isDirectory: true)
        // No intermediate directories: then a name that is taken is an error, and the directory is ours alone.
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.resolvingSymlinksInPath().path
    }

    deinit {
        remove()
    }

    /// Returns the absolute path of an item in the directory; creates nothing.
    public func path(of name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file into the directory and returns its path.
    ///
    /// Throws Foundation's error if that is not possible.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path(of: name)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    /// Removes the directory and all that is in it; does nothing if it is gone.
    public func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
