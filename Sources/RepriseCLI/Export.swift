import ArgumentParser
import Reprise

/// `reprise export`.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a stored file out, without asking the origin.",
        discussion: """
            Also works while the proxy runs. The file must be whole; every part is checked on the way.

            Examples:
              reprise export https://example.com/film.mp4 --output film.mp4
            """)

    @OptionGroup var cache: CacheOptions
    @Argument(help: "URL, or cache key, of the entry.")
    var url: String
    @Option(name: .shortAndLong, help: "File to write; it appears when it is whole.")
    var output: String

    func run() async throws {
        try await Failure.reporting {
            let inspector = try cache.inspector()
            guard let entry = try inspector.entries().first(where: { $0.isNamed(by: [url]) }) else {
                throw RepriseError(.notStored, "Nothing is stored for \(url). See: reprise list")
            }
            let file = try OutputFile(path: output)
            do {
                try inspector.read(entry) { try file.write($0) }
                try file.finish()
            } catch {
                file.discard()
                throw error
            }
            print("\(output)  \(ByteCount(entry.storedBytes))")
        }
    }
}
