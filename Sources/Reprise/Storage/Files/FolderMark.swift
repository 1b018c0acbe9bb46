import Foundation

/// The file by which a folder is known that an ``OutputFolder`` wrote: it names the others.
///
/// Only such folders are replaced, and only if nothing else was put into them.
enum FolderMark {
    /// What is in a folder.
    enum Content: Equatable {
        case empty
        /// Nothing but what was written.
        case written
        /// Something else, named here.
        case foreign(String)
    }

    /// The name of the file.
    static let name = ".reprise-export"
    private static let firstLine = "Written by reprise export, which replaces this folder only if it holds these files:"
    /// What the Finder leaves in folders that were looked at.
    private static let ignored = ".DS_Store"

    /// The bytes of the file, which names `files`.
    static func text(of files: [String]) -> [UInt8] {
        Array(([firstLine] + files.sorted()).map { $0 + "\n" }.joined().utf8)
    }

    /// What is in the folder at `path`; one that cannot be read counts as foreign.
    static func content(of path: String) -> Content {
        guard let found = try? FileManager.default.subpathsOfDirectory(atPath: path) else { return .foreign(path) }
        guard let first = found.min() else { return .empty }
        guard let files = written(in: path) else { return .foreign(first) }
        let folders = Set(files.compactMap { folder(of: $0) })
        for item in found.sorted() where item.split(separator: "/").last.map(String.init) != ignored {
            let isExpected = isFolder("\(path)/\(item)") ? folders.contains(item) : files.contains(item)
            if !isExpected { return .foreign(item) }
        }
        return .written
    }

    /// Removes the folder at `path` with what the mark names, and nothing else.
    static func remove(_ path: String) {
        guard let files = written(in: path) else { return }
        var folders = Set([path])
        for file in files {
            unlink("\(path)/\(file)")
            if let folder = folder(of: file) { folders.insert("\(path)/\(folder)") }
        }
        for folder in folders.sorted(by: >) {
            unlink("\(folder)/\(ignored)")
            // Stays if something else was put into it.
            rmdir(folder)
        }
    }

    /// What the mark in the folder at `path` names, itself included; `nil` without a mark.
    private static func written(in path: String) -> Set<String>? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { return nil }
        var lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        guard lines.first == firstLine else { return nil }
        lines.removeFirst()
        guard lines.allSatisfy({ !$0.hasPrefix("/") && !$0.split(separator: "/").contains("..") }) else { return nil }
        return Set(lines + [name])
    }

    private static func folder(of file: String) -> String? {
        file.lastIndex(of: "/").map { String(file[..<$0]) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
