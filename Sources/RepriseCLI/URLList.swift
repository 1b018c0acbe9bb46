import Foundation
import Primitives
import Reprise

/// URLs to fetch: those on the command line, then those in files with one on each line.
///
/// Blank lines and lines that begin with `#` are skipped, so that a playlist of songs (.m3u) is such a file, too.
struct URLList: Sendable {
    /// A URL, and where it stands.
    struct Item: Sendable, Equatable {
        let url: String
        /// The file and its line; `nil` for the command line.
        var place: String?
    }

    private(set) var items: [Item]

    /// Most bytes of a file: more than a hundred thousand URLs.
    static let largestFile = 16 << 20

    init(_ urls: [String]) { items = urls.map { Item(url: $0) } }

    /// Adds the URLs in the file at `path`; - stands for standard input.
    ///
    /// Waits for the end of a pipe. Throws ``RepriseError`` with code `invalidArgument` if it cannot be read or is no
    /// text.
    mutating func add(from path: String) async throws {
        let name = path == "-" ? "standard input" : path
        let bytes = try await onThread {
            try SmallFile.read(path, named: name, limit: Self.largestFile, content: "a URL on each line")
        }
        guard let text = String(utf8: bytes) else {
            throw Self.isWrong("\(name) is no text in UTF-8; it takes a URL on each line.")
        }
        items += Self.items(in: text, named: name)
    }

    /// The URLs in `text`, each on a line.
    static func items(in text: String, named name: String) -> [Item] {
        let lines = text.drop { $0 == "\u{FEFF}" }.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.enumerated().compactMap { number, line in
            let url = line.trimmingCharacters(in: .whitespaces)
            return url.isEmpty || url.hasPrefix("#") ? nil : Item(url: url, place: "\(name), line \(number + 1)")
        }
    }

    private static func isWrong(_ message: String) -> RepriseError { RepriseError(.invalidArgument, message) }
}
