import ArgumentParser
import Reprise
import RepriseHTTPClient

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
            let origin = NIOOrigin()
            let store = try await MediaCache.open(directory: cache.directory, origin: origin)
            var missing: [String] = []
            var freed: Int64 = 0
            let entries = try await store.entries()
            let wanted =
                all
                ? entries
                : urls.flatMap { url in
                    // Several where the responses vary with the request.
                    let found = entries.filter { $0.url.description == url || $0.key.text == url }
                    if found.isEmpty { missing.append(url) }
                    return found
                }
            for entry in wanted { freed += try await store.remove(entry.key) }
            await store.close()
            await origin.shutdown()
            print("Removed \(wanted.count) \(wanted.count == 1 ? "entry" : "entries"), \(ByteCount(freed)).")
            if let first = missing.first {
                throw RepriseError(.notStored, "Nothing is stored for \(first). See: reprise list")
            }
        }
    }
}
