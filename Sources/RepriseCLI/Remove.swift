import ArgumentParser
import Reprise

/// `reprise remove`.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove titles from the cache.",
        discussion: """
            With the URL of a stream all its files go, except those that another title has, too. Pins and names go, too,
            also those of URLs of which nothing is stored yet.

            Examples:
              reprise remove https://example.com/film.mp4
              reprise remove --drop-query-item signature "https://example.com/film.mp4?signature=1f"
              reprise remove --all
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var names: NameOptions
    @Argument(help: "URLs, or cache keys, of the titles or of single files.")
    var urls: [String] = []
    @Flag(help: "Remove everything.")
    var all = false

    func validate() throws {
        if urls.isEmpty != all { throw ValidationError("Name the URLs to remove, or give --all.") }
    }

    func run() async throws {
        try await Failure.reporting {
            let outcome = try await cache.perform(
                RemoveOperation(urls: all ? nil : urls, names: try names.names(cache)))
            let (entries, pins) = (outcome.entries, outcome.pins)
            let released = pins == 0 ? "" : ", and \(pins) \(pins == 1 ? "pin" : "pins")"
            try Terminal.print(
                "Removed \(entries) \(entries == 1 ? "file" : "files"), \(ByteCount(outcome.freedBytes))\(released).")
            if let problem = outcome.problem { throw problem.error }
            if let missing = outcome.missing { throw NameOptions.nothingStored(missing) }
        }
    }
}
