import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Standard output that takes nothing: what a command was asked for is lost, and it says so.
@Suite(.limit(minutes: 3)) struct StandardOutputTests {
    /// Commands that print what they were asked for, or what they did.
    private static func commands(_ url: String) -> [[String]] {
        [
            ["fetch", url], ["fetch", "--json", url], ["list"], ["list", "--json"], ["limit"],
            ["limit", "news", "1GB"], ["limit", "--json"], ["show", url],
            ["show", "--json", url],
            ["stats"], ["stats", "--json"], ["verify"], ["verify", "--json"], ["pin", url], ["prune", "--to", "1GB"],
            ["remove", url],
        ]
    }

    /// Runs each command with its standard output as `redirection` makes it.
    private static func run(
        _ redirection: String, _ check: (ChildProcess.Outcome, [String]) throws -> Void
    ) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let url = site.origin.url("/film.mp4")
            try await Command.run("fetch", site.directory, [url])
            let pipe = site.directory.path(of: "pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            for command in commands(url) {
                let outcome = try await ChildProcess.run(
                    "/bin/sh",
                    ["-c", "pipe=$1; shift; \(redirection)", Command.path, pipe] + [command[0], "--cache-dir"]
                        + [site.directory.path] + command.dropFirst(),
                    environment: Command.environment())
                try check(outcome, command)
            }
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))) func aFullDiskIs74() async throws {
        try await Self.run("exec \"$0\" \"$@\" >/dev/full") { outcome, command in
            #expect(outcome.exit == .status(74), "\(command): \(outcome)")
            let message = "reprise: Cannot write standard output: No space left on device.\n"
            #expect(outcome.errors.hasSuffix(message), "\(command): \(outcome)")
        }
    }

    @Test("help is a result, too", arguments: [["help"], ["--version"], ["serve", "--help"], ["help", "fetch"]])
    func helpThatCannotBeWrittenIs74(arguments: [String]) async throws {
        let path = try Command.path
        let full = try await ChildProcess.run(
            "/bin/sh", ["-c", "exec \"$0\" \"$@\" >&-", path] + arguments, environment: Command.environment())
        #expect(full.exit == .status(74), "\(full)")
        let shown = try await Command.run(arguments)
        #expect(shown.exit == .status(0) && !shown.output.isEmpty, "\(shown)")
    }

    @Test func aClosedOneIs74() async throws {
        try await Self.run("exec \"$0\" \"$@\" >&-") { outcome, command in
            #expect(outcome.exit == .status(74), "\(command): \(outcome)")
            let message = "reprise: Cannot write standard output: Bad file descriptor.\n"
            #expect(outcome.errors.hasSuffix(message), "\(command): \(outcome)")
        }
    }

    @Test("a reader that has left ends a command quietly, as by SIGPIPE", arguments: [false, true])
    func readerThatLeft(isIgnored: Bool) async throws {
        // The pipe opens when it has a reader; the command starts when that is gone.
        let trap = isIgnored ? "trap '' PIPE; " : ""
        try await Self.run("\(trap)(: <\"$pipe\") & exec >\"$pipe\"; wait $!; exec \"$0\" \"$@\"") { outcome, command in
            #expect(outcome.exit == .signal(SIGPIPE), "\(command): \(outcome)")
            #expect(!outcome.errors.contains("reprise:"), "\(command): \(outcome)")
        }
    }

    @Test("no file of the cache gets the number of a standard stream", arguments: ["<&- >&- 2>&-", "<&-", "2>&-"])
    func closedStreams(redirection: String) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let url = site.origin.url("/film.mp4")
            let isOutputClosed = redirection.contains(" >&-")
            for command in [["fetch", url], ["download", url], ["fetch", url + "/no"], ["verify"]] {
                let outcome = try await ChildProcess.run(
                    "/bin/sh",
                    ["-c", "exec \"$0\" \"$@\" \(redirection)", Command.path, command[0], "--cache-dir"]
                        + [site.directory.path] + command.dropFirst(),
                    environment: Command.environment())
                let status: Int32 = command == ["fetch", url + "/no"] ? 69 : isOutputClosed ? 74 : 0
                #expect(outcome.exit == .status(status), "\(command): \(outcome)")
            }
            let verify = try await Command.run("verify", site.directory)
            #expect(verify.output == "1 entry, 100 kB sound, 0 B damaged, 0 without their file.\n", "\(verify)")
            for (path, data) in try DiskUse.contents(of: site.directory.path) {
                for text in ["film.mp4  ", "reprise: ", "sound,"] {
                    #expect(data.range(of: Data(text.utf8)) == nil, "\(path) holds \"\(text)\"")
                }
            }
        }
    }
}
