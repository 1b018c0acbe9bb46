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
              reprise remove --all
            """)

    @OptionGroup var cache: CacheOptions
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
                let wanted = all ? entries : entries.filter { $0.isNamed(by: urls) }
                let missing = urls.first { url in !entries.contains { $0.isNamed(by: [url]) } }
                return (wanted.count, try await store.remove(wanted.map(\.key)), missing)
            }
            print("Removed \(count) \(count == 1 ? "entry" : "entries"), \(ByteCount(freed)).")
            if let missing {
                throw RepriseError(.notStored, "Nothing is stored for \(missing). See: reprise list")
            }
        }
    }
}

extension CacheEntry {
    /// Whether one of `names` is its URL or its key.
    func isNamed(by names: [String]) -> Bool { names.contains(url.description) || names.contains(key.text) }
}
