package import Foundation
import Reprise

/// Disk usage of a directory, as `du` counts it.
package enum DiskUse {
    /// Bytes of the blocks of all files under `path`; files that vanish during the count are ignored.
    package static func bytes(under path: String) -> Int64 {
        let disk = SystemFileSystem()
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.reduce(0) { sum, name in
            guard !isDirectory("\(path)/\(name)"), let status = try? disk.status(of: "\(path)/\(name)") else {
                return sum
            }
            return sum + status.allocated
        }
    }

    /// The blocks of each file under `path`, a line each.
    package static func list(_ path: String) -> String {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { !isDirectory("\(path)/\($0)") }.sorted().map { name in
            "\((try? SystemFileSystem().status(of: "\(path)/\(name)"))?.allocated ?? 0) \(name)"
        }.joined(separator: "\n")
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    /// The minimum of several counts: files change during one, so that a count may include files that never existed at
    /// the same time.
    package static func bytes(under path: String, unless isPlausible: (Int64) -> Bool) -> Int64 {
        var least = bytes(under: path)
        for _ in 0..<5 where !isPlausible(least) { least = min(least, bytes(under: path)) }
        return least
    }

    /// The data files of the cache in `directory`.
    package static func mediaFiles(of directory: String) -> [String] {
        let root = directory + "/media"
        return (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? [])
            .filter { $0.contains("-") }.map { root + "/" + $0 }.sorted()
    }

    /// The bytes of every file under `path`, by their path from there.
    package static func contents(of path: String) throws -> [String: Data] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        let files = names.filter { !isDirectory("\(path)/\($0)") }
        return try Dictionary(
            uniqueKeysWithValues: files.map { ($0, try Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)"))) })
    }
}
