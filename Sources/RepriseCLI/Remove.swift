import ArgumentParser
import Reprise
import RepriseStreams

/// `reprise remove`.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove titles from the cache.",
        discussion: """
            With the URL of a stream all its files go, except those that another title has, too. Pins and names go, too,
            also those of URLs of which nothing is stored yet. The proxy must not be running on the same directory.

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
            let (entries, pins, outcome, missing) = try await cache.withCache { store in
                func isWanted(_ key: CacheKey, url: ResourceURL) -> Bool {
                    all || urls.contains { names.matches($0, for: key, url: url) }
                }
                let entries = try await store.entries().map { ($0.key, $0.url) }
                // Pins of URLs of which nothing is stored yet, and names.
                let pins = try await store.awaitedEntries().map { ($0.key, $0.url) }
                let named = try await store.titles().map { ($0.key, $0.url) }
                let missing = urls.first { url in
                    !(entries + pins + named).contains { names.matches(url, for: $0, url: $1) }
                }
                let wanted = (entries + pins + named).filter(isWanted).map(\.0)
                if !all {
                    store.learnFiles(
                        of: wanted, in: try StoredFiles(try cache.inspector(), policy: names.policy))
                }
                let outcome = try await store.removedTitles(wanted)
                let rest = try await store.entries().count
                return (entries.count - rest, pins.count(where: isWanted), outcome, missing)
            }
            let released = pins == 0 ? "" : ", and \(pins) \(pins == 1 ? "pin" : "pins")"
            try Terminal.print(
                "Removed \(entries) \(entries == 1 ? "file" : "files"), \(ByteCount(outcome.freed))\(released).")
            if let problem = outcome.problem { throw problem }
            if let missing { throw NameOptions.nothingStored(missing) }
        }
    }
}
