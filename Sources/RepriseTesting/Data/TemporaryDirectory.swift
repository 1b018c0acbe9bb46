internal import Foundation

/// A temporary directory for one test, under the system's temporary directory.
///
/// Removed with its contents by ``remove()``, or when the last reference is released. A process that is killed leaves
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
        // Without intermediate directories, a name that is taken is an error, so the directory is new.
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

    /// Removes the directory and its contents; does nothing if it is gone.
    public func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
