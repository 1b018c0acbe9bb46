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
              reprise prune --tag news --older-than 2d
            """)

    @OptionGroup var cache: CacheOptions
    @Option(help: ArgumentHelp("Remove until the media occupy at most so much.", valueName: "size"))
    var to: ByteCount?
    @Option(help: ArgumentHelp("Remove what was not used for so long, such as 12h or 30d.", valueName: "time"))
    var olderThan: TimeSpan?

    @Option(help: "Only titles with this tag.")
    var tag: String?

    func validate() throws {
        if tag == "" { throw ValidationError("--tag is empty.") }
        if to == nil, olderThan == nil { throw ValidationError("Say --to SIZE, --older-than TIME, or both.") }
        if let olderThan, olderThan.duration <= .zero {
            throw ValidationError("--older-than takes a time above zero, such as 12h or 30d.")
        }
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let result = try await cache.withCache { store in
                await signals.interrupting {
                    let (freed, problem) = try await prune(store)
                    let left = try await occupied(in: store)
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
                Terminal.error(
                    "reprise: What is left is pinned, a download, or a beginning that is kept. See: reprise list")
            }
        }
    }

    private func prune(_ store: MediaCache) async throws -> (freed: Int64, problem: RepriseError?) {
        guard let tag else { return await store.pruned(toSize: to?.bytes, olderThan: olderThan?.duration) }
        return try await store.prunedTitles(tagged: tag, toSize: to?.bytes, olderThan: olderThan?.duration)
    }

    /// Bytes that the media occupy, of all titles or of those with the tag.
    private func occupied(in store: MediaCache) async throws -> Int64 {
        guard let tag else { return store.allocatedBytes.media }
        return try await store.titles().reduce(0) { $0 + ($1.tag == tag ? $1.allocatedBytes : 0) }
    }
}
