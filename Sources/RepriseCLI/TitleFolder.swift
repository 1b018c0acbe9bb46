import ArgumentParser
import Foundation
import Reprise

/// A folder with a file for each title, which holds the title's address on the server (`.strm`, as Kodi reads it).
struct TitleFolder {
    private let path: String
    private let address: PlayerAddress

    /// The file with the names of the files that were written, one in each line.
    private static let list = ".reprise"
    /// The longest address in a file.
    private static let largest = 64 << 10
    /// The most bytes of a name, so that a number and the extension fit into the 255 of most file systems.
    private static let longestName = 200

    /// The folder at `path`, which is created if it does not exist.
    init(_ path: String, address: PlayerAddress) throws {
        (self.path, self.address) = ((path as NSString).expandingTildeInPath, address)
        do {
            // The addresses may have a token.
            try FileManager.default.createDirectory(
                atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw Self.cannotWrite(self.path) }
    }

    /// Writes a file for each of `titles`, and removes the files of other titles; returns the number of those.
    ///
    /// Files that an earlier call did not write, or that hold no address of the server any more, are left as they are.
    func write(_ titles: [(name: String, url: ResourceURL)]) throws -> Int {
        var own: [String: String] = [:]
        var taken: Set<String> = []
        // Without a list, no file was written before.
        let list = try? String(contentsOfFile: "\(path)/\(Self.list)", encoding: .utf8)
        let written = Set(list?.split(separator: "\n").map(String.init) ?? [])
        for file in try files() {
            if written.contains(file), let text = ownText(of: file) {
                own[file] = text
            } else {
                // Case counts in some file systems only.
                taken.insert(file.lowercased())
            }
        }
        var names: [String] = []
        // In an order that does not depend on use, so that titles with the same name keep their files.
        for title in titles.sorted(by: { $0.url.description < $1.url.description }) {
            let name = Self.name(title.name, besides: taken)
            taken.insert(name.lowercased())
            names.append(name)
            let text = address(title.url) + "\n"
            if own.removeValue(forKey: name) != text { try write(text, to: name) }
        }
        try write(names.map { $0 + "\n" }.joined(), to: Self.list)
        for file in own.keys where !taken.contains(file.lowercased()) {
            guard unlink("\(path)/\(file)") == 0 else { throw Self.cannotWrite("\(path)/\(file)") }
        }
        return own.keys.count { !taken.contains($0.lowercased()) }
    }

    private func files() throws -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: path) } catch { throw Self.cannotWrite(path) }
    }

    /// The text of `file` if it is one of these files; `nil` for every other file, link or folder.
    private func ownText(of file: String) -> String? {
        var status = stat()
        let place = "\(path)/\(file)"
        guard file.hasSuffix(Self.suffix), lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Self.largest, let data = FileManager.default.contents(atPath: place),
            let text = String(data: data, encoding: .utf8), text.hasSuffix("\n"),
            !text.dropLast().contains("\n"), address.isOwn(String(text.dropLast()))
        else { return nil }
        return text
    }

    private func write(_ text: String, to file: String) throws {
        // The name is free, or its file is replaced.
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(file)"), options: .atomic) } catch {
            throw Self.cannotWrite("\(path)/\(file)")
        }
    }

    private static let suffix = ".strm"

    /// The name of the file for a title called `title`; `taken` has the names that are not free, in lower case.
    static func name(_ title: String, besides taken: Set<String>) -> String {
        let base = base(title)
        var (name, number) = (base + suffix, 2)
        while taken.contains(name.lowercased()) { (name, number) = ("\(base) \(number)\(suffix)", number + 1) }
        return name
    }

    /// `title` without the extension of a media file, the characters that file systems and shares refuse, and a leading
    /// or trailing dot.
    private static func base(_ title: String) -> String {
        var plain = (title.removingPercentEncoding ?? title).printable
        let end = (plain as NSString).pathExtension.lowercased()
        if MediaContainer(extension: end) != nil || ["m3u8", "mpd"].contains(end) {
            plain = (plain as NSString).deletingPathExtension
        }
        var base = String(plain.map { "/\\:*?\"<>|".contains($0) ? "-" : $0 })
        while base.utf8.count > longestName { base.removeLast() }
        base = base.trimmingCharacters(in: CharacterSet(charactersIn: ". "))
        return base.isEmpty ? "title" : base
    }

    private static func cannotWrite(_ path: String) -> Failure.Reason {
        Failure.Reason(
            code: ExitCode(73), name: "outputUnavailable",
            message: "Cannot write \(path.printable): \(String(cString: strerror(errno))).")
    }
}
