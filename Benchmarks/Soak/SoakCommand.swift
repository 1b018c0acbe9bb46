import ArgumentParser
import Dispatch
import Foundation
import RepriseTesting

/// Plays through `reprise serve` for a long time and says what goes wrong and what grows.
@main
struct SoakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Play through the proxy for a long time, from origins with faults, and say what goes wrong or grows.",
        discussion: """
            First stage, --plain-seconds: honest origins and no eviction, for the exact ratio of origin bytes to \
            distinct bytes. Second stage, MINUTES: faults, changes, restarts, a limit that evicts all the time, \
            read-ahead, downloads, live streams, and hostile playlists.

            Ends with status 1 when a byte or an answer was wrong, a client got no answer or a request hung, a \
            response ended without a reason at the origin, the server died, or its memory, descriptors or threads \
            grow. Ctrl-C ends it with the verdict so far. Sizes of the server are read from /proc: elsewhere than on \
            Linux they are left out.
            """)

    @Argument(help: "How long the second stage takes, in minutes.")
    var minutes = 10.0

    @Option(help: "How many clients play at once.")
    var clients = 200

    @Option(help: "How many origins there are, each on a port of its own.")
    var origins = 4

    @Option(help: "How many files the origins have; about 4 MB each.")
    var files = 120

    @Option(help: "Limit of the cache in the second stage, in MB.")
    var limit = 128

    @Option(help: "What all clients together play on average, in MB a second.")
    var rate = 16.0

    @Option(help: "Share of the origins' answers that are faulty.")
    var faults = 0.01

    @Option(help: "How far every second origin's files are read ahead in the second stage, as `serve --read-ahead`.")
    var readAhead = "all"

    @Option(help: "Seconds without a byte after which a request hangs, unless its origin is at fault.")
    var patience = 60.0

    @Option(help: "Seconds between two changes of a file.")
    var changes = 3.0

    @Option(help: "Length of the first stage, in seconds; 0 leaves it out.")
    var plainSeconds = 60.0

    @Option(help: "Seconds between two lines.")
    var every = 60.0

    @Option(help: "Decides the files, the faults and what clients do; printed when it is left out.")
    var seed: UInt64?

    @Option(help: "The `reprise` to test. (default: the one beside this program)")
    var server: String?

    @Flag(help: "Test the rules of a shared cache (`serve --shared`).")
    var shared = false

    @Flag(inversion: .prefixedNo, help: "Request hostile playlists in the second stage.")
    var hostile = true

    @Flag(help: "Test an encrypted cache.")
    var encrypted = false

    @Flag(help: "20 s with 40 clients, to see whether everything works.")
    var smoke = false

    func validate() throws {
        guard minutes > 0, clients > 0, origins > 0, files > 0, limit >= 8, rate > 0, every > 0 else {
            throw ValidationError("Numbers must be above 0, the limit at least 8 MB.")
        }
        guard (0...1).contains(faults) else { throw ValidationError("--faults is a share, 0 to 1.") }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        var command = self
        if smoke { (command.minutes, command.clients, command.plainSeconds, command.every) = (1.0 / 3, 40, 5, 5) }
        let seed = seed ?? .random(in: 0...UInt64(UInt32.max))
        say("soak: seed \(seed), \(command.clients) clients, \(Report.text(command.minutes, 1)) minutes")
        let failures = try Soak(command, seed: seed, executable: server ?? Self.neighbor).run()
        for failure in failures { say("FAILED: \(failure)") }
        if !failures.isEmpty { throw ExitCode(1) }
        say("PASSED")
    }

    /// The `reprise` of the same build.
    private static var neighbor: String {
        let own = Bundle.main.executablePath ?? CommandLine.arguments[0]
        return (own as NSString).deletingLastPathComponent + "/reprise"
    }
}
