import ArgumentParser
import Reprise

/// `reprise prune`.
struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove the least recently used entries.",
        discussion: """
            Pinned ones, downloads and what is being played stay; reprise remove takes those, too. Stopped by a signal, it \
            says how much was freed.

            Examples:
              reprise prune --to 500MB
              reprise prune --older-than 30d
              reprise prune --tag news --older-than 2d
              reprise prune --to 500MB --dry-run
            """)

    @Option(
        help: ArgumentHelp("Remove until the media occupy at most so much.", valueName: "size"),
        transform: ByteCount.read)
    var to: ByteCount?
    @Option(
        help: ArgumentHelp("Remove what was not used for so long, such as 12h or 30d.", valueName: "time"),
        transform: TimeSpan.read)
    var olderThan: TimeSpan?

    @Option(help: "Only titles with this tag.")
    var tag: String?
    @Flag(help: "Only say what would go; remove nothing.")
    var dryRun = false
    @Flag(help: "The outcome as one JSON object.")
    var json = false
    @OptionGroup var cache: CacheOptions

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
            let operation = PruneOperation(
                size: to?.bytes, olderThan: olderThan?.duration.components.seconds, tag: tag,
                dry: dryRun ? true : nil)
            let result = try await cache.withAccess(signals: signals) { access in
                await signals.interrupting {
                    let outcome = try await access.perform(operation)
                    guard !Task.isCancelled else {
                        throw StopSignals.Interruption(
                            message: "Stopped. \(Self.report(outcome)) Run the same command again to go on.")
                    }
                    return outcome
                }
            }
            let outcome = try signals.get(result)
            if json {
                try Terminal.printJSON(outcome)
            } else {
                try outcome.dry?.print()
                try Terminal.print(Self.report(outcome))
            }
            if let problem = outcome.problem { throw problem.error }
            if let to, outcome.leftBytes > to.bytes {
                let others = tag == nil ? "" : ", belongs to other titles, too,"
                Terminal.error(
                    "reprise: What is left is pinned, a download, or of a title whose beginning is kept\(others) or is "
                        + "being played. See: reprise list")
            }
        }
    }

    static func report(_ outcome: PruneOperation.Outcome) -> String {
        let (freed, left) = (ByteCount(outcome.freedBytes), ByteCount(outcome.leftBytes))
        return outcome.dry == nil ? "Freed \(freed); \(left) are left." : "Would free \(freed) and leave \(left)."
    }
}
