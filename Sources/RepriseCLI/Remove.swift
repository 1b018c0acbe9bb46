import ArgumentParser
import Reprise

/// `reprise remove`.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove entries from the cache.",
        discussion: """
            The proxy must not be running on the same directory.

            Examples:
              reprise remove https://example.com/film.mp4
              reprise remove --drop-query-item signature "https://example.com/film.mp4?signature=1f"
              reprise remove --all
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var names: NameOptions
    @Argument(help: "URLs, or cache keys, of the entries.")
    var urls: [String] = []
    @Flag(help: "Remove everything.")
    var all = false

    func validate() throws {
        if urls.isEmpty != all { throw ValidationError("Name the URLs to remove, or give --all.") }
    }

    func run() async throws {
        try await Failure.reporting {
            let (count, freed, missing) = try await cache.withCache { store in
                let entries = try await store.entries()
                let wanted = all ? entries : entries.filter { entry in urls.contains { names.matches($0, entry) } }
                let missing = urls.first { url in !entries.contains { names.matches(url, $0) } }
                return (wanted.count, try await store.remove(wanted.map(\.key)), missing)
            }
            print("Removed \(count) \(count == 1 ? "entry" : "entries"), \(ByteCount(freed)).")
            if let missing {
                throw NameOptions.nothingStored(missing)
            }
        }
    }
}
