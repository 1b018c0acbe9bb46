import ArgumentParser
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

/// The URLs that a command transfers.
struct URLSources: ParsableArguments {
    @Argument(help: "URLs of files and streams.")
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also take the URLs in this file, one on each line; - for standard input. May be repeated.",
            discussion: "Blank lines and lines that begin with # are skipped, so that an .m3u of songs is such a file.",
            valueName: "file"))
    var from: [String] = []

    /// Whether the command line names neither a URL nor a file.
    var isEmpty: Bool { urls.isEmpty && from.isEmpty }
    /// Whether it is one URL on the command line.
    var isSingle: Bool { urls.count == 1 && from.isEmpty }

    func validate() throws {
        if from.contains("") { throw ValidationError("--from is empty; name a file, or - for standard input.") }
        if from.count(where: { $0 == "-" }) > 1 { throw ValidationError("Standard input can be read only once.") }
    }

    /// The URLs of the command line and of the files, each replaced by the URL that an address of the own server means.
    ///
    /// Throws if there is none, and the exit code if one of them is invalid, after printing a message.
    func checked(in cache: CacheOptions, output: TransferOutput) async throws -> [String] {
        var list = URLList(urls)
        for path in from { try await list.add(from: path) }
        let behind = try await cache.behindOwn(list.items.map(\.url))
        guard !behind.isEmpty else {
            throw RepriseError(
                .invalidArgument,
                "There is no URL in \(from.map { $0 == "-" ? "standard input" : $0 }.joined(separator: ", ")).")
        }
        for (url, place) in zip(behind, list.items.map(\.place)) {
            do throws(RepriseError) { _ = try ResourceURL(url) } catch {
                guard let reason = Failure.reason(error) else { throw error }
                let message = (place.map { "\($0): " } ?? "") + reason.message
                let placed = Failure.Reason(code: reason.code, name: reason.name, message: message)
                if output.json {
                    try Terminal.printJSON(FetchMeter(url: url, output: output).report("failed", failure: placed))
                }
                Failure.report(placed, of: url, amongOthers: behind.count > 1 && place == nil)
                throw reason.code
            }
        }
        return behind
    }
}
