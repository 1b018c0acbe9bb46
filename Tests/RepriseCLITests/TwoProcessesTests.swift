import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// One process downloads a stream, and others use the same directory.
@Suite(.limit(minutes: 3)) struct TwoProcessesTests {
    private static let segments = ["/a.ts", "/b.ts", "/c.ts"]
    private static let length: Int64 = 100_000

    /// A line of `downloads --json`.
    private struct Report: Decodable {
        let url: String
        let state: String
    }

    private static func publish(_ site: Site) {
        for segment in segments { site.publish(segment, length: length) }
        site.publish("/film.mp4", length: length)
        let lines = segments.map { "#EXTINF:4,\n\($0)\n" }.joined()
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n\(lines)#EXT-X-ENDLIST\n"
        site.origin.set(
            TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"), at: "/show.m3u8")
    }

    /// Runs `body` beside a process that downloads the stream and comes no further than the middle of a segment; then
    /// it goes on.
    private static func beside(
        _ site: Site, _ body: (ChildProcess) async throws -> Void
    ) async throws -> ChildProcess.Outcome {
        site.origin.hold("/b.ts", at: 50_000)
        let process = try ChildProcess(
            try Command.path, ["download", "--cache-dir", site.directory.path, site.origin.url("/show.m3u8")],
            environment: Command.environment(), limit: .seconds(100))
        await site.origin.waitUntil { $0["/b.ts"].bodyBytesSent == 50_000 && $0["/c.ts"].bodyBytesSent == length }
        do { try await body(process) } catch {
            process.send(SIGKILL)
            _ = await process.outcome()
            throw error
        }
        site.origin.release("/b.ts")
        return await process.outcome()
    }

    /// Everything of the stream is stored, and was sent once.
    private static func expectWhole(_ site: Site) async throws {
        let sent = await site.origin.settledSnapshot()
        #expect(sent.bytesSentMoreThanOnce == 0)
        let list = try await Command.run("list", site.directory, ["--json", "--files"])
        let entries = try Command.json(Entry.self, list)
        let stored = Set(entries.filter { $0.complete && $0.kept == "download" }.map(\.url))
        #expect(stored.isSuperset(of: segments.map { site.origin.url($0) }), "\(entries)")
        await site.origin.stop()
        let again = try await Command.run(
            "download", site.directory, [site.origin.url("/show.m3u8")])
        #expect(again.exit == .status(0), "all is stored: \(again)")
    }

    /// Publishes the stream, runs `body` beside the process that downloads it, and expects everything in place then.
    private static func run(_ body: (Site, ChildProcess) async throws -> Void) async throws {
        try await Site.run { site async throws in
            publish(site)
            let outcome = try await beside(site) { process async throws in try await body(site, process) }
            #expect(outcome.exit == .status(0), "\(outcome)")
            try await expectWhole(site)
        }
    }

    /// Runs each of `commands`, of the subcommand and its arguments, and expects that it ends as `expected`.
    private static func run(
        _ commands: [[String]], _ site: Site, expecting exit: ChildProcess.Exit, saying words: String = ""
    ) async throws {
        for command in commands {
            let outcome = try await Command.run(command[0], site.directory, Array(command.dropFirst()))
            #expect(outcome.exit == exit, "\(command): \(outcome)")
            #expect(words.isEmpty || outcome.errors.contains(words), "\(command): \(outcome)")
        }
    }

    @Test("looking at the cache beside the process that downloads shows the download, and disturbs nothing")
    func looking() async throws {
        try await Self.run { site, _ async throws in
            let stream = site.origin.url("/show.m3u8")
            // What was fetched last is recorded within a second.
            try await eventually {
                let list = try await Command.run("list", site.directory, ["--files"])
                try #require(list.exit == .status(0), "\(list)")
                return list.output.contains("c.ts")
            }
            let downloads = try await Command.run("downloads", site.directory, ["--json"])
            let reports = try Command.json(Report.self, downloads)
            #expect(reports.map(\.url) == [stream] && reports.map(\.state) == ["queued"], "\(downloads)")
            try await Self.run([["list"], ["show", stream], ["stats"]], site, expecting: .status(0))
        }
    }

    @Test("changing the cache beside the process that downloads is refused: it is named, and what helps")
    func changing() async throws {
        try await Self.run { site, process async throws in
            let (stream, film) = (site.origin.url("/show.m3u8"), site.origin.url("/film.mp4"))
            let commands = [
                ["remove", stream], ["remove", "--all"], ["prune", "--to", "0"], ["fetch", film],
                ["download", film], ["download", stream], ["unpin", stream],
                ["downloads", "--pause", stream], ["limit", "news", "1MB"],
            ]
            try await Self.run(
                commands, site, expecting: .status(75),
                saying: "in use by process \(process.identifier). Stop it, or choose")
            #expect(site.origin.snapshot["/film.mp4"].requestCount == 0)
        }
    }

    /// A command that may wait so long for another one.
    private static func start(_ words: [String], _ site: Site, wait: String) throws -> ChildProcess {
        try ChildProcess(
            try Command.path, [words[0], "--cache-dir", site.directory.path] + words.dropFirst(),
            environment: Command.environment(["REPRISE_WAIT": wait]), limit: .seconds(100))
    }

    @Test(
        "a command waits for the one that downloads, and says so",
        arguments: [["download", "/show.m3u8"], ["fetch", "/film.mp4"], ["prune", "--to", "1GB"]])
    func waiting(words: [String]) async throws {
        try await Self.run { site, _ async throws in
            let words = words.map { $0.hasPrefix("/") ? site.origin.url($0) : $0 }
            let child = try Self.start(words, site, wait: "1m")
            _ = await child.errors.wait { $0.contains("Waiting for it, for up to 1m.") }
            site.origin.release("/b.ts")
            let outcome = await child.outcome()
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
    }

    @Test(
        "a signal ends the wait for another command",
        arguments: [
            ["download", "http://127.0.0.1:1/"], ["fetch", "http://127.0.0.1:1/"], ["serve", "--port", "0"],
            ["prune", "--to", "1GB"],
        ])
    func endedWait(words: [String]) async throws {
        try await Self.run { site, _ async throws in
            let output = site.directory.path(of: "out")
            try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: false)
            let more = words[0] == "fetch" ? ["--output", output + "/film.mp4"] : []
            let child = try Self.start(words + more, site, wait: "1h")
            _ = await child.errors.wait { $0.contains("Waiting for it") }
            child.send(SIGTERM)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(SIGTERM), "\(outcome)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: output).isEmpty)
        }
    }

    @Test("two processes begin the same download at once: one has it, the other hears that")
    func sameDownload() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            site.origin.holdHeads("/b.ts")
            let arguments = ["download", "--cache-dir", site.directory.path, site.origin.url("/show.m3u8")]
            let processes = try (0..<2).map { _ in
                try ChildProcess(
                    try Command.path, arguments, environment: Command.environment(), limit: .seconds(100))
            }
            let ends = await withTaskGroup(of: ChildProcess.Outcome.self) { group in
                for process in processes { group.addTask { await process.outcome() } }
                // The one that has the cache waits for the origin.
                guard let first = await group.next() else { return [ChildProcess.Outcome]() }
                site.origin.release("/b.ts")
                return [first] + (await group.next().map { [$0] } ?? [])
            }
            #expect(ends.map(\.exit) == [.status(75), .status(0)], "\(ends)")
            #expect(ends.first?.errors.contains("in use by") == true, "\(ends)")
            try await Self.expectWhole(site)
        }
    }
}
