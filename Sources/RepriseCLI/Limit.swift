import ArgumentParser
import Reprise

/// `reprise limit`.
struct Limit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Limit how much the titles with a tag occupy, or list tags.",
        discussion: """
            A tag (reprise title --tag) may occupy at most so much, whatever the limit of the cache is. The least \
            recently used titles with the tag go first. Pinned titles and downloads stay, and so does what a title \
            without the tag needs.

            Examples:
              reprise limit
              reprise limit news 2GB --dry-run
              reprise limit news 2GB
              reprise limit news none
              reprise limit --json | jq -r 'select(.limit != null) | .tag'
            """)

    @Argument(help: "The tag; without one, all tags are listed.")
    var tag: String?
    @Argument(
        help: ArgumentHelp("Most that its titles occupy on disk, or none for no limit.", valueName: "size"),
        transform: Size.read)
    var size: Size?
    @Flag(help: "Only say what would go under this limit; change nothing.")
    var dryRun = false
    @Flag(help: "One JSON object per line.")
    var json = false
    @OptionGroup var cache: CacheOptions

    /// A number of bytes, or none.
    enum Size: Measure, Equatable {
        case none
        case bytes(ByteCount)

        static let rule = "takes none, or a size with its unit, \(ByteCount.units), such as 2GB."

        init?(argument: String) {
            if argument.lowercased() == "none" {
                self = .none
            } else if let count = ByteCount(argument: argument) {
                self = .bytes(count)
            } else {
                return nil
            }
        }

        /// The number of bytes; `nil` for no limit.
        var limit: Int64? { if case .bytes(let count) = self { count.bytes } else { nil } }
    }

    /// A tag in JSON, with sizes in bytes.
    private struct Report: Encodable {
        let tag: String
        let limit: Int64?
        let titles: Int
        let storedBytes, allocatedBytes, keptBytes: Int64

        init(_ tag: TitleTag) {
            (self.tag, limit, titles) = (tag.name, tag.limit, tag.titleCount)
            (storedBytes, allocatedBytes, keptBytes) = (tag.storedBytes, tag.allocatedBytes, tag.keptBytes)
        }
    }

    func validate() throws {
        if tag == "" { throw ValidationError("The tag is empty.") }
        if dryRun, size == nil { throw ValidationError("--dry-run goes with a tag and a limit.") }
    }

    func run() async throws {
        try await Failure.reporting {
            if dryRun { return try await forecast() }
            let tags = try await size == nil ? listed() : changed()
            if json {
                for tag in tags { try Terminal.printJSON(Report(tag)) }
            } else if tags.isEmpty {
                try Terminal.print(
                    tag.map { "No title is tagged #\($0), and it has no limit." }
                        ?? "No title has a tag. To give one: reprise title URL --tag TAG")
            } else {
                for line in Self.table(tags) { try Terminal.print(line) }
            }
        }
    }

    /// Prints what would go under the limit.
    private func forecast() async throws {
        let bytes = size?.limit ?? .max
        let outcome = try await cache.perform(PruneOperation(size: bytes, olderThan: nil, tag: tag, dry: true))
        if json { return try Terminal.printJSON(outcome) }
        try outcome.dry?.print()
        try Terminal.print(Prune.report(outcome))
    }

    private func listed() async throws -> [TitleTag] {
        try await cache.inspector().tags().filter { tag == nil || $0.name == tag }
    }

    /// Sets the limit; returns the tag as it is then.
    private func changed() async throws -> [TitleTag] {
        guard let tag, let size else { return [] }
        _ = try await cache.perform(LimitOperation(tag: tag, limit: size.limit))
        return try await listed()
    }

    /// A heading and a line for each tag.
    static func table(_ tags: [TitleTag]) -> [String] {
        let heading = line("stored", "limit", "kept", "titles", "tag")
        return [heading]
            + tags.map { tag in
                line(
                    "\(ByteCount(tag.allocatedBytes))", tag.limit.map { "\(ByteCount($0))" } ?? "none",
                    "\(ByteCount(tag.keptBytes))", "\(tag.titleCount)", "#\(tag.name.printable)")
            }
    }

    private static func line(
        _ stored: String, _ limit: String, _ kept: String, _ titles: String, _ tag: String
    ) -> String {
        [stored.leftPadded(9), limit.leftPadded(9), kept.leftPadded(9), titles.leftPadded(6), tag]
            .joined(separator: "  ")
    }
}
