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
              reprise export https://example.com/film.mp4 --output - | ffprobe -
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var names: NameOptions
    @Argument(help: "URL, or cache key, of the entry.")
    var url: String
    @Option(
        name: .shortAndLong,
        help:
            "File to write, which appears when it is whole; - for standard output. A pipe or device is written in place."
    )
    var output: String
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if output.isEmpty { throw ValidationError("--output is empty; name a file, or - for standard output.") }
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let inspector = try cache.inspector()
            let entry = try names.entry(url, in: inspector)
            let output = Output(output, force: options.force, cache: cache)
            let result = await signals.interrupting {
                let file = try await output.open(signals)
                do {
                    // All of it on one thread: a pipe may be read slowly, or not at all.
                    try await onThread { try inspector.read(entry) { try file.write($0) } }
                    try file.finish()
                } catch is CancellationError {
                    file.discard()
                    throw StopSignals.Interruption(
                        message: "Stopped. \(output.name) is not whole; run the same command again.")
                } catch {
                    file.discard()
                    throw error
                }
            }
            try signals.get(result)
            try output.print("\(output.name)  \(ByteCount(entry.storedBytes))")
        }
    }
}
