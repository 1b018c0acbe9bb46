import ArgumentParser
import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Each subcommand with a cache of its own, and through the server that has the cache open.
@Suite(.limit(minutes: 5)) struct BesideServerTests {
    /// A command to compare, and the commands before it.
    struct Case: Sendable, CustomTestStringConvertible {
        /// URL stands for that of a file of 100,000 bytes, OTHER for that of one of 50,000, FORBIDDEN for that of one
        /// that must not be stored, NONE for that of none.
        let command: [String]
        var before: [[String]] = []
        let code: Int32

        init(_ command: String, after before: [String] = [], exits code: Int32 = 0) {
            self.command = command.components(separatedBy: " ")
            self.before = before.map { $0.components(separatedBy: " ") }
            self.code = code
        }

        var testDescription: String { command.joined(separator: " ") }

        func arguments(_ words: [String], at site: Site) -> [String] {
            let paths = ["URL": "/a.mp4", "OTHER": "/b.mp4", "FORBIDDEN": "/c.mp4", "NONE": "/none.mp4"]
            return words.map { word in paths[word].map { site.origin.url($0) } ?? word }
        }
    }

    private static let stored = ["fetch URL", "fetch OTHER"]

    static let cases = [
        Case("remove URL", after: stored), Case("remove URL OTHER", after: stored + ["pin URL"]),
        Case("remove URL", after: ["pin URL"]), Case("remove --all", after: stored),
        Case("remove https://nowhere.example/x", after: stored, exits: 66),
        Case("remove --drop-query-item x OTHER", after: stored),
        Case("remove --all --dry-run", after: stored + ["pin URL", "pin NONE"]),
        Case("remove URL NONE --dry-run", after: stored, exits: 66),
        Case("remove --host 127.0.0.1", after: stored + ["pin NONE"]),
        Case("remove --host 127.0.0.1 --dry-run", after: stored + ["title URL --name Film", "pin NONE"]),
        Case("remove --host .example", after: stored), Case("remove --host http://127.0.0.1", after: stored, exits: 64),
        Case("remove --prefix URL", after: stored), Case("remove --prefix URL --dry-run", after: stored),
        Case("remove --prefix URL?x", after: stored, exits: 64), Case("remove --prefix x", after: stored, exits: 64),
        Case("remove --tag news", after: stored + ["title URL --tag news", "pin URL"]),
        Case("remove --tag news --dry-run", after: stored + ["title URL --tag news"]),
        Case("remove --tag news --host 127.0.0.1 --older-than 1h", after: stored + ["title URL --tag news"]),
        Case("remove --older-than 1h", after: stored), Case("remove --older-than 0s", after: stored, exits: 64),
        Case("remove", after: stored, exits: 64), Case("remove --dry-run", after: stored, exits: 64),
        Case("remove URL --all", after: stored, exits: 64), Case("remove URL --tag news", after: stored, exits: 64),
        Case("pin URL", after: stored), Case("pin URL OTHER"), Case("pin URL", after: ["download URL"]),
        Case("pin --for 30d URL", after: ["download URL"]), Case("pin file:///x URL", exits: 64),
        Case("unpin URL OTHER", after: ["pin URL", "pin OTHER"]), Case("unpin URL", after: stored, exits: 66),
        Case("unpin x", exits: 64),
        Case("prune --to 0", after: stored), Case("prune --to 0", after: stored + ["pin OTHER"]),
        Case("prune --older-than 1h", after: stored), Case("prune --older-than 1h --dry-run", after: stored),
        Case("prune --to 0 --dry-run", after: stored + ["pin OTHER"]), Case("prune --to 60kB --dry-run", after: stored),
        Case("prune --tag news --to 0 --dry-run", after: stored + ["title URL --tag news"]),
        Case("prune --tag news --to 0", after: stored + ["title URL --tag news"]),
        Case("title URL --name Film --tag news", after: stored), Case("title URL --name Film"),
        Case("title URL --clear", after: ["title URL --name Film"]), Case("title x --clear", exits: 64),
        Case("limit news 60kB", after: stored + ["title URL --tag news"]), Case("limit news none"),
        Case("downloads", after: ["download URL", "download OTHER"]), Case("downloads"),
        Case("downloads --json", after: ["download URL"]),
        Case("downloads --first OTHER", after: ["download URL", "download OTHER"]),
        Case("downloads --pause URL", after: stored, exits: 66),
        Case("verify", after: stored), Case("verify --json", after: stored), Case("verify"),
        Case("list", after: stored), Case("list --json", after: stored + ["pin URL"]), Case("show URL", after: stored),
        Case("show URL", exits: 66), Case("stats", after: stored),
        Case("export URL -o -", after: ["fetch OTHER"], exits: 66), Case("export URL -o -", after: stored),
    ]

    /// Those that fetch.
    static let fetches = [
        Case("fetch URL"), Case("fetch URL", after: stored), Case("fetch URL OTHER"), Case("fetch --json URL OTHER"),
        Case("fetch -o - URL"), Case("fetch -o - OTHER", after: stored), Case("fetch --header X-Key:1 URL"),
        Case("fetch --drop-query-item x URL"), Case("fetch --first 10kB URL"),
        Case("fetch --first 10kB --json URL OTHER"),
        Case("fetch --first 10kB URL", after: stored),
        Case("fetch --first 10kB URL", after: ["fetch --first 10kB URL"]),
        Case("fetch NONE", exits: 69), Case("fetch --json NONE URL", exits: 69), Case("fetch NONE URL NONE", exits: 69),
        Case("fetch -o - NONE", exits: 69), Case("fetch --first 10kB NONE", exits: 69),
        Case("fetch FORBIDDEN", exits: 74), Case("fetch FORBIDDEN --json", exits: 74),
        Case("fetch -o - FORBIDDEN"), Case("fetch --first 10kB FORBIDDEN", exits: 74),
        Case("fetch file:///x", exits: 64),
        Case("download URL"), Case("download URL OTHER"), Case("download URL", after: stored),
        Case("download URL", after: ["download URL"]),
        Case("download URL", after: stored + ["pin URL"]),
        Case("download NONE", exits: 69), Case("download NONE URL", exits: 69),
        Case("download FORBIDDEN", exits: 74), Case("download file:///x", exits: 64),
        Case("pin --first 10kB URL"), Case("pin --first 10kB URL OTHER", after: stored),
        Case("pin --first 10kB URL", after: ["pin URL"]), Case("pin --first 10kB URL", after: ["download URL"]),
        Case("pin --first 10kB NONE", exits: 69), Case("pin --first 10kB FORBIDDEN", exits: 74),
    ]

    /// What lines about the progress have, and no others.
    private static let progress = ["  connecting to ", "/s  ", "  stalled for ", "\"state\":\"progress\""]

    /// `text` without what differs between two caches, and over time: of an open index its log is a part of its size.
    private static func comparable(_ text: String, _ directory: TemporaryDirectory) -> String {
        text.replacingOccurrences(of: directory.path, with: "DIRECTORY")
            .replacing(/"lastUsed":[0-9.]+/, with: "\"lastUsed\":TIME")
            .replacing(/until [0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+/, with: "until TIME")
            .replacing(/index: [0-9.]+ kB/, with: "index: SIZE")
            .replacing(/free on the disk: [0-9.]+ [kMGT]?B/, with: "free on the disk: SIZE")
            .replacing(/"freeBytes":[0-9]+/, with: "\"freeBytes\":SIZE")
            .replacing(/"seconds":[-0-9.e]+/, with: "\"seconds\":TIME")
            // On a busy machine a file may take so long that its progress is shown.
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in !progress.contains { line.contains($0) } }
            .joined(separator: "\n")
    }

    @Test("Each subcommand is compared that works on a cache, but those that play or are about a server") func all() {
        let names = RepriseCommand.configuration.subcommands.map {
            $0.configuration.commandName ?? "\($0)".lowercased()
        }
        let compared = Set((Self.cases + Self.fetches).map { $0.command[0] })
        #expect(compared.union(["serve", "play", "health", "log-level", "config"]) == Set(names))
    }

    @Test("The same output, errors and exit code with a server as without one", arguments: cases + fetches)
    func sameWithAServer(_ example: Case) async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 100_000)
            site.publish("/b.mp4", length: 50_000)
            site.publish("/c.mp4", length: 50_000, fields: [.cacheControl: "no-store"])
            for words in example.before {
                let arguments = example.arguments(Array(words.dropFirst()), at: site)
                let outcome = try await Command.run(words[0], site.directory, arguments)
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
            let other = try TemporaryDirectory()
            defer { other.remove() }
            try FileManager.default.removeItem(atPath: other.path)
            try FileManager.default.copyItem(atPath: site.directory.path, toPath: other.path)
            let arguments = example.arguments(Array(example.command.dropFirst()), at: site)
            let alone = try await Command.run(example.command[0], site.directory, arguments)
            let serving = try await Serving.run(other) { _ async throws in
                let beside = try await Command.run(example.command[0], other, arguments)
                #expect(beside.exit == alone.exit)
                #expect(Self.comparable(beside.output, other) == Self.comparable(alone.output, site.directory))
                #expect(Self.comparable(beside.errors, other) == Self.comparable(alone.errors, site.directory))
            }
            #expect(alone.exit == .status(example.code), "\(alone)")
            #expect(serving.exit == .status(0), "\(serving)")
            // What was done is the same, too.
            let lists = try await [
                Command.run("list", site.directory, ["--json"]), Command.run("list", other, ["--json"]),
            ].map { try Command.json(Entry.self, $0) }
            func facts(_ list: [Entry]) -> [String] {
                list.map { "\($0.url) \($0.storedBytes) \($0.kept ?? "")" }.sorted()
            }
            #expect(facts(lists[0]) == facts(lists[1]))
        }
    }

    @Test func theNewestBytesAreShown() async throws {
        try await Site.run { site async throws in
            try await Serving.run(site.directory) { serving async throws in
                for number in 0..<5 {
                    site.publish("/\(number).mp4", length: 100_000)
                    #expect(try await serving.get(site.target("/\(number).mp4")).body.count == 100_000)
                    let show = try await Command.run(
                        "show", site.directory, ["--json", site.origin.url("/\(number).mp4")])
                    #expect(show.exit == .status(0), "\(show)")
                    #expect(try Command.json(Entry.self, show).map(\.storedBytes) == [100_000])
                }
            }
        }
    }

    @Test func aServersOwnSettingsAreNotChanged() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let (url, out) = (site.origin.url("/film.mp4"), site.directory.path(of: "out.mp4"))
            try await Serving.run(site.directory) { _ async throws in
                for (options, said) in [
                    (["pin", "--limit", "5MB"], "leave --limit out"),
                    (["fetch", "--limit", "5MB"], "leave --limit out"),
                    (["fetch", "--rate", "2MB"], "leave --rate and --while out"),
                    (["fetch", "--maximum-age", "2d", "--output", out], "leave --maximum-age out"),
                    (["download", "--while", "02:00-06:00"], "leave --rate and --while out"),
                ] {
                    let outcome = try await Command.run(options[0], site.directory, Array(options.dropFirst()) + [url])
                    #expect(outcome.exit == .status(64) && outcome.errors.contains(said), "\(outcome)")
                }
                // What a variable or a file says is for caches that the command opens.
                let quiet = try await Command.run(
                    "fetch", site.directory, [url], environment: ["REPRISE_LIMIT": "5MB", "REPRISE_RATE": "2MB"])
                #expect(quiet.exit == .status(0), "\(quiet)")
            }
            #expect(!FileManager.default.fileExists(atPath: out))
        }
    }

    @Test(
        "Beside a server that is offline, what cannot be fetched is named with what helps",
        arguments: [["fetch"], ["fetch", "--first", "10kB"], ["download"], ["pin", "--first", "10kB"]])
    func offline(words: [String]) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let (name, rest) = (words[0], words.dropFirst() + [site.origin.url("/film.mp4")])
            try await Serving.run(site.directory, ["--offline"]) { _ async throws in
                let outcome = try await Command.run(name, site.directory, Array(rest))
                #expect(outcome.exit == .status(74), "\(outcome)")
                #expect(outcome.errors.contains("film.mp4 cannot be stored"), "\(outcome)")
                #expect(
                    outcome.errors.hasSuffix(
                        ": the server is offline, so no origin is asked for what is missing. Start the server without "
                            + "--offline.\n"), "\(outcome)")
            }
            #expect(site.origin.snapshot.requests.isEmpty)
            // Stored bytes are kept without the origin.
            _ = try await Command.run("fetch", site.directory, [site.origin.url("/film.mp4")])
            try await Serving.run(site.directory, ["--offline"]) { _ async throws in
                let outcome = try await Command.run(name, site.directory, Array(rest))
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
        }
    }

    @Test("A download that an offline server takes up says why it cannot go on") func offlineDownload() async throws {
        try await Site.run { site async throws in
            let url = try await site.beginDownload(of: "/film.mp4")
            try await Serving.run(site.directory, ["--offline"]) { _ async throws in
                var list = try await Command.run("downloads", site.directory)
                try await eventually {
                    list = try await Command.run("downloads", site.directory)
                    return list.output.hasPrefix("failed")
                }
                #expect(
                    list.output.hasSuffix("Start the server without --offline. It is tried again then.\n"), "\(list)")
            }
            let outcome = try await Command.run("download", site.directory, [url])
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
    }

    // MARK: - Interruption

    private static let length: Int64 = 3 << 20
    private static let held: Int64 = 1 << 20

    /// Runs `body` with a server, and a subcommand that fetches through it and has come to a place that the origin
    /// holds.
    private static func runInTheMiddle(
        _ arguments: [String], output: String? = nil,
        _ body: (Site, ChildProcess) async throws -> Void
    ) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: length)
            site.origin.hold("/film.mp4", at: held)
            let cache = site.directory.path(of: "cache")
            try await Serving.run(["--port", "0", "--cache-dir", cache]) { _ async throws in
                let child = try ChildProcess(
                    Command.path,
                    [arguments[0], "--cache-dir", cache] + arguments.dropFirst() + [site.origin.url("/film.mp4")]
                        + (output.map { ["-o", site.directory.path(of: $0)] } ?? []),
                    environment: Command.environment())
                await site.origin.waitUntil { $0.bodyBytesSent >= held }
                try await body(site, child)
            }
        }
    }

    @Test(
        "A signal ends the work in the server, and the same command goes on", arguments: [SIGINT, SIGTERM],
        [["fetch"], ["download"]])
    func signals(signal: Int32, command: [String]) async throws {
        try await Self.runInTheMiddle(command) { site, child async throws in
            _ = await child.errors.wait { $0.contains("1.05 MB of 3.15 MB") }
            child.send(signal)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(signal), "\(outcome)")
            #expect(outcome.errors.contains("Stopped. 33 % of film.mp4 is stored (1.05 MB of 3.15 MB)."), "\(outcome)")
            #expect(outcome.errors.contains("same command again"), "\(outcome)")
            // Nothing in the server reads on.
            await site.origin.waitUntil { $0.responsesUnderWay == 0 }
            site.origin.release("/film.mp4")
            let cache = ["--cache-dir", site.directory.path(of: "cache")]
            if command[0] == "pin" {
                let downloads = try await Command.run(["downloads"] + cache)
                #expect(downloads.output.hasPrefix("paused"), "\(downloads)")
            }
            let again = try await Command.run(
                [command[0]] + cache + command.dropFirst() + [site.origin.url("/film.mp4")])
            #expect(again.exit == .status(0), "\(again)")
            let list = try await Command.run(["list", "--json"] + cache)
            #expect(try Command.json(Entry.self, list).map(\.storedBytes) == [Self.length], "\(list)")
        }
    }

    @Test("--background leaves the download to the server") func background() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let arguments = ["--background", site.origin.url("/film.mp4")]
            let alone = try await Command.run("download", site.directory, arguments)
            #expect(alone.exit == .status(64) && alone.errors.contains("reprise serve"), "\(alone)")
            site.origin.hold("/film.mp4", at: 50_000)
            try await Serving.run(site.directory) { _ async throws in
                let outcome = try await Command.run("download", site.directory, arguments)
                #expect(outcome.exit == .status(0) && outcome.output.hasPrefix("Queued: "), "\(outcome)")
                site.origin.release("/film.mp4")
                try await eventually {
                    try await Command.run("downloads", site.directory).output.hasPrefix("done")
                }
            }
        }
    }

    @Test("A signal ends a command whose output is not read, too") func unreadPipe() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let pipe = directory.path(of: "pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try await Self.runInTheMiddle(["fetch", "-o", pipe]) { site, child async throws in
            child.send(SIGTERM)
            #expect(await child.outcome().exit == .signal(SIGTERM))
            await site.origin.waitUntil { $0.responsesUnderWay == 0 }
        }
    }

    @Test("A reader that leaves ends the command by SIGPIPE, and the work in the server") func leavingReader()
        async throws
    {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            try await Serving.run(site.directory) { _ async throws in
                let script = "(\"$0\" fetch --cache-dir \"$1\" \"$2\" -o -; echo $? >&2) | head -c 10"
                let arguments = [try Command.path, site.directory.path, site.origin.url("/film.mp4")]
                let outcome = try await ChildProcess.run(
                    "/bin/sh", ["-c", script] + arguments, environment: Command.environment())
                // Before it there may be a line about the progress.
                #expect(outcome.errors.hasSuffix("141\n"), "\(outcome)")
                await site.origin.waitUntil { $0.responsesUnderWay == 0 }
            }
        }
    }

    @Test("A file appears when it is whole, and not if the command is stopped") func files() async throws {
        try await Self.runInTheMiddle(["fetch"], output: "out.mp4") { site, child async throws in
            child.send(SIGINT)
            #expect(await child.outcome().exit == .signal(SIGINT))
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.directory.path) == ["cache"])
            site.origin.release("/film.mp4")
            let (cache, out) = (site.directory.path(of: "cache"), site.directory.path(of: "out.mp4"))
            let again = try await Command.run(
                ["fetch", "--cache-dir", cache, site.origin.url("/film.mp4"), "-o", out])
            #expect(again.exit == .status(0), "\(again)")
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: out)))
            #expect(bytes == TestPattern.bytes(in: 0..<Self.length, seed: 1))
        }
    }

    @Test("A download that was under way before goes on when the command that repeats it is stopped")
    func repeatedDownload() async throws {
        try await Self.runInTheMiddle(["download"]) { site, first async throws in
            let cache = ["--cache-dir", site.directory.path(of: "cache")]
            let second = try ChildProcess(
                Command.path, ["download"] + cache + [site.origin.url("/film.mp4")],
                environment: Command.environment())
            // Two seconds later it says how far the download is, so it has begun.
            _ = await second.errors.wait { $0.contains("film.mp4  ") }
            second.send(SIGINT)
            #expect(await second.outcome().exit == .signal(SIGINT))
            site.origin.release("/film.mp4")
            let outcome = await first.outcome()
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
    }

    @Test("Another key than the server's is refused, as without a server") func keys() async throws {
        func key(_ digits: String) -> [String: String] {
            ["REPRISE_ENCRYPT_KEY": String(repeating: digits, count: 32)]
        }
        try await Site.run { site async throws in
            try await Serving.run(site.directory, environment: key("7f")) { _ async throws in
                for (digits, code) in [("7f", 0), ("11", 78), ("7f", 0)] as [(String, Int32)] {
                    for command in [["pin", "https://a.example/film.mp4"], ["verify"], ["limit", "news", "1GB"]] {
                        let outcome = try await Command.run(
                            command[0], site.directory, Array(command.dropFirst()), environment: key(digits))
                        #expect(outcome.exit == .status(code), "\(outcome)")
                    }
                }
            }
        }
    }

    @Test("A server whose socket is gone, or leads elsewhere, is 75 and named", arguments: [true, false])
    func aSocketThatIsNone(leadsElsewhere: Bool) async throws {
        try await Site.run { site async throws in
            try await Serving.run(site.directory) { serving async throws in
                let socket = site.directory.path(of: "control.sock")
                try FileManager.default.removeItem(atPath: socket)
                if leadsElsewhere {
                    try FileManager.default.createSymbolicLink(atPath: socket, withDestinationPath: "/dev/null")
                }
                let second = try await Command.run(
                    "remove", site.directory, ["--all"], environment: ["XDG_RUNTIME_DIR": ""])
                #expect(second.exit == .status(75), "\(second)")
                #expect(second.errors.contains("process \(serving.child.identifier)"), "\(second)")
            }
        }
    }
}
