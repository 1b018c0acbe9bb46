import ArgumentParser
import Reprise

/// `reprise remove`.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove titles from the cache.",
        discussion: """
            With the URL of a stream all its files go, except those that another title has, too. Pins, downloads and names \
            go, too, also those of URLs of which nothing is stored yet; reprise prune leaves those that are kept.

            --host, --prefix, --tag and --older-than choose titles in place of URLs; of several all must hold. With --host \
            or --prefix, files of streams that lie there go, too, whatever title they belong to.

            Examples:
              reprise remove https://example.com/film.mp4
              reprise remove --drop-query-item sig "https://example.com/film.mp4?sig=1f"
              reprise remove --host .example.com --dry-run
              reprise remove --prefix https://example.com/shows/ --older-than 30d
              reprise remove --all
            """, aliases: ["rm"])

    @Argument(help: "URLs, or cache keys, of the titles or of single files.")
    var urls: [String] = []
    @Option(
        help: ArgumentHelp(
            "Remove what comes from this host; .example.com means its subdomains, too, example.com:8080 one port.",
            valueName: "host"))
    var host: String?
    @Option(
        help: ArgumentHelp(
            "Remove what lies under this URL: the same path, and paths that go on with a slash.", valueName: "url"))
    var prefix: String?
    @Option(help: "Remove titles with this tag.")
    var tag: String?
    @Option(
        help: ArgumentHelp("Remove titles that were not used for so long, such as 12h or 30d.", valueName: "time"),
        transform: TimeSpan.read)
    var olderThan: TimeSpan?
    @Flag(help: "Remove everything.")
    var all = false
    @Flag(help: "Only say what would go; remove nothing.")
    var dryRun = false
    @Flag(help: "The outcome as one JSON object.")
    var json = false
    @OptionGroup var names: NameOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        let isFiltered = host != nil || prefix != nil || tag != nil || olderThan != nil
        guard [!urls.isEmpty, isFiltered, all].count(where: { $0 }) == 1 else {
            throw ValidationError(
                "Say what to remove in one way: by URLs, by --host, --prefix, --tag and --older-than, or by --all.")
        }
        do { try operation(Names(), urls: urls).check() } catch { throw ValidationError(error.message) }
    }

    private func operation(_ names: Names, urls: [String]) -> RemoveOperation {
        RemoveOperation(
            urls: urls.isEmpty ? nil : urls, host: host, prefix: prefix, tag: tag,
            olderThan: olderThan?.duration.components.seconds, all: all ? true : nil, dry: dryRun ? true : nil,
            names: names)
    }

    func run() async throws {
        try await Failure.reporting {
            let outcome = try await cache.perform(
                operation(try names.names(cache), urls: try await cache.behindOwn(urls)))
            if json {
                try Terminal.printJSON(outcome)
            } else {
                try outcome.dry?.print()
                try Terminal.print("\(dryRun ? "Would remove" : "Removed") \(Self.amount(outcome)).")
            }
            if let problem = outcome.problem { throw problem.error }
            if let missing = outcome.missing { throw NameOptions.nothingStored(missing) }
        }
    }

    /// How many files and pins; a pin of which nothing was stored has no file.
    private static func amount(_ outcome: RemoveOperation.Outcome) -> String {
        let (files, pins) = (outcome.entries, outcome.pins)
        let bytes = outcome.freedBytes > 0 || files > 0 || pins == 0 ? ", \(ByteCount(outcome.freedBytes))" : ""
        let released = "\(pins) \(pins == 1 ? "pin" : "pins")"
        guard files > 0 || pins == 0 else { return released + bytes }
        return "\(files) \(files == 1 ? "file" : "files")\(bytes)" + (pins == 0 ? "" : ", and \(released)")
    }
}
