import Foundation

/// Programs that the user has installed.
enum Programs {
    /// Where the program `name` is, as a shell would find it; `nil` if there is none.
    static func path(of name: String) -> String? {
        if name.contains("/") { return isProgram(name) ? name : nil }
        let directories = (CacheOptions.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return directories.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    /// Whether the file at `path` is a text that no first line makes a script of, so that the system cannot start it.
    static func isText(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path), let start = try? file.read(upToCount: 512) else {
            return false
        }
        let hasFirstLine = start.starts(with: Data("#!".utf8))
        return !start.isEmpty && !hasFirstLine && start.allSatisfy { $0 >= 0x20 || (9...13) ~= $0 }
    }

    private static func isProgram(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
