import Foundation

/// Programs that the user has installed.
enum Programs {
    /// Where the program `name` is, as a shell would find it; `nil` if there is none.
    static func path(of name: String) -> String? {
        if name.contains("/") { return isProgram(name) ? name : nil }
        let directories = (CacheOptions.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return directories.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
