import ArgumentParser
import Reprise

/// `reprise prune`.
struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove the least recently used entries.",
        discussion: """
            Pinned ones stay. The proxy must not be running on the same directory. Stopped by a signal, it says how much
            was freed.

            Examples:
              reprise prune --to 500MB
              reprise prune --older-than 30d
            """)

    @OptionGroup var cache: CacheOptions
    @Option(help: ArgumentHelp("Remove until the media occupy at most so much.", valueName: "size"))
    var to: ByteCount?
    @Option(help: ArgumentHelp("Remove what was not used for so long, such as 12h or 30d.", valueName: "time"))
    var olderThan: TimeSpan?

    func validate() throws {
        if to == nil, olderThan == nil { throw ValidationError("Say --to SIZE, --older-than TIME, or both.") }
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let result = try await cache.withCache { store in
                await signals.interrupting {
                    let (freed, problem) = await store.pruned(toSize: to?.bytes, olderThan: olderThan?.duration)
                    let left = store.allocatedBytes.media
                    let report = "Freed \(ByteCount(freed)); \(ByteCount(left)) are left."
                    if Task.isCancelled {
                        throw StopSignals.Interruption(
                            message: "Stopped. \(report) Run the same command again to go on.")
                    }
                    return (report, left, problem)
                }
            }
            let (report, left, problem) = try signals.get(result)
            try Terminal.print(report)
            if let problem { throw problem }
            if let to, left > to.bytes {
                Terminal.error("reprise: What is left is pinned or a download. See: reprise list")
            }
        }
    }
}
