import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Signals: what came is recorded, nothing of the user's is lost, and the next run goes on.
///
/// One after the other: dozens of processes at once leave none of the other tests the time that it expects.
@Suite(.serialized, .limit(minutes: 5)) struct InterruptionTests {
    private static let length: Int64 = 3 << 20
    private static let held: Int64 = 1 << 20

    enum Moment: CaseIterable {
        case beforeTheHead, inTheBody
    }

    enum Output: CaseIterable {
        case none, newFile, replacedFile, pipeThatIsNotRead
    }

    private static func start(_ subcommand: String, _ site: Site, _ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            Command.path, [subcommand, "--cache-dir", site.directory.path(of: "cache")] + arguments,
            environment: Command.environment())
    }

    private static func entry(_ site: Site) async throws -> Entry? {
        let list = try await Command.run(["list", "--json", "--cache-dir", site.directory.path(of: "cache")])
        return try Command.json(Entry.self, list).first
    }

    private static func finish(_ site: Site, _ url: String) async throws {
        site.origin.release("/film.mp4")
        let file = site.directory.path(of: "whole.mp4")
        let again = try await Command.run(
            ["fetch", "--cache-dir", site.directory.path(of: "cache"), url, "-o", file])
        #expect(again.exit == .status(0), "\(again)")
        let isWhole =
            try Data(contentsOf: URL(fileURLWithPath: file)) == Data(TestPattern.bytes(in: 0..<length, seed: 1))
        #expect(isWhole)
    }

    @Test(arguments: [SIGINT, SIGTERM], Moment.allCases)
    func aFetchEndsByTheSignalAndTheNextRunGoesOn(signal: Int32, moment: Moment) async throws {
        for output in Output.allCases {
            try await Site.run { site async throws in
                site.publish("/film.mp4", length: Self.length)
                let url = site.origin.url("/film.mp4")
                if moment == .beforeTheHead {
                    site.origin.holdHeads("/film.mp4")
                } else {
                    site.origin.hold("/film.mp4", at: Self.held)
                }
                let file = site.directory.path(of: "film.mp4")
                var reader: Int32 = -1
                switch output {
                case .none, .newFile: break
                case .replacedFile: try site.directory.write(PreparedPlace.old, to: "film.mp4")
                case .pipeThatIsNotRead:
                    #expect(mkfifo(file, 0o600) == 0)
                    reader = open(file, O_RDONLY | O_NONBLOCK)
                }
                defer { if reader >= 0 { close(reader) } }
                let child = try Self.start("fetch", site, [url] + (output == .none ? [] : ["--force", "-o", file]))
                await site.origin.waitUntil {
                    $0.requestCount == 1 && (moment == .beforeTheHead || $0.bodyBytesSent >= Self.held)
                }
                child.send(signal)
                let outcome = await child.outcome()
                #expect(outcome.exit == .signal(signal), "\(output): \(outcome)")
                #expect(outcome.errors.contains("again"), "\(output): \(outcome)")
                let names = try FileManager.default.contentsOfDirectory(atPath: site.directory.path).sorted()
                let isThere = output == .replacedFile || output == .pipeThatIsNotRead
                #expect(names == (isThere ? ["cache", "film.mp4"] : ["cache"]), "\(output)")
                if output == .replacedFile {
                    #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: file))) == PreparedPlace.old)
                }
                if output == .none { try await Self.finish(site, url) }
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func whatCameIsRecordedAndSaid(signal: Int32) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            site.origin.hold("/film.mp4", at: Self.held)
            let url = site.origin.url("/film.mp4")
            let file = site.directory.path(of: "film.mp4")
            #expect(mkfifo(file, 0o600) == 0)
            let reader = try ChildProcess("/bin/sh", ["-c", "head -c \(Self.held) \"$0\" | wc -c; cat", file])
            let child = try Self.start("fetch", site, [url, "-o", file])
            await reader.output.wait { $0.contains("\(Self.held)") }
            child.send(signal)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(signal), "\(outcome)")
            #expect(outcome.errors.contains("33 % of film.mp4 is stored (1.05 MB of 3.15 MB)"), "\(outcome)")
            _ = await reader.outcome()
            #expect(try await Self.entry(site)?.storedBytes == Self.held)
            try await Self.finish(site, url)
            let origin = await site.origin.settledSnapshot()["/film.mp4"]
            #expect(origin.requests.last?.requestedRange == Self.held..<Self.length)
            #expect(origin.bytesSentMoreThanOnce == 0)
        }
    }

    @Test func aDownloadGoesOnAfterASignal() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            site.origin.hold("/film.mp4", at: Self.held)
            let url = site.origin.url("/film.mp4")
            let child = try Self.start("download", site, [url])
            await site.origin.waitUntil { $0.bodyBytesSent >= Self.held }
            child.send(SIGTERM)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(SIGTERM), "\(outcome)")
            #expect(outcome.errors.contains("The download continues when"), "\(outcome)")
            let list = try await Command.run(["list", "--cache-dir", site.directory.path(of: "cache")])
            #expect(list.output.contains("[download]"), "\(list)")
            try await Self.finish(site, url)
        }
    }

    @Test("what timeout(1) ends says how much is stored, although it sends its signal twice") func timeout()
        async throws
    {
        guard let timeout = ChildProcess.path(of: "timeout") else { return print("skipped: timeout is not installed") }
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            site.origin.hold("/film.mp4", at: Self.held)
            let outcome = try await Command.run(
                ["fetch", "--cache-dir", site.directory.path(of: "cache"), site.origin.url("/film.mp4")],
                prefix: [timeout, "20"])
            #expect(outcome.exit == .status(124), "\(outcome)")
            #expect(outcome.errors.contains("Stopped."), "\(outcome)")
        }
    }

    @Test("what is said to be stored is what the next run finds", arguments: [["fetch"], ["download"]])
    func figures(command: [String]) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            let url = site.origin.url("/film.mp4")
            for held in [200_000, 700_000, Self.held] as [Int64] {
                let sent = site.origin.snapshot.bodyBytesSent
                let before = try await Self.entry(site)?.storedBytes ?? 0
                site.origin.hold("/film.mp4", at: held)
                let child = try Self.start(command[0], site, Array(command.dropFirst()) + [url])
                await site.origin.waitUntil { $0.bodyBytesSent >= sent + held - before }
                child.send(SIGINT)
                let outcome = await child.outcome()
                #expect(outcome.exit == .signal(SIGINT), "\(outcome)")
                site.origin.release("/film.mp4")
                let stored = try await Self.entry(site)?.storedBytes ?? 0
                let said = stored == 0 ? "Nothing of film.mp4 is stored" : "(\(ByteCount(stored)) of 3.15 MB)"
                #expect(outcome.errors.contains(said), "\(stored): \(outcome)")
            }
        }
    }

    @Test("a second signal ends it at once, whatever it waits for", arguments: [SIGINT, SIGTERM, SIGHUP])
    func secondSignal(signal: Int32) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 30_000)
            let cache = site.directory.path(of: "cache")
            try await Command.run(["fetch", "--cache-dir", cache, site.origin.url("/film.mp4")])
            // The bar waits for ever.
            let terminal = try StoppedTerminal()
            try? FileManager.default.removeItem(atPath: cache + "/lock")
            let child = try ChildProcess(
                "/bin/sh",
                ["-c", "exec \"$0\" verify --cache-dir \"$1\" 2>\"$2\"", Command.path, cache, terminal.path],
                environment: Command.environment(["TERM": "xterm"]))
            // It has taken the signals before it takes the directory.
            while ((try? Data(contentsOf: URL(fileURLWithPath: cache + "/lock"))) ?? Data()).isEmpty {
                await Task.yield()
            }
            // Another one, for two of a kind may come as one.
            let other = signal == SIGTERM ? SIGINT : SIGTERM
            child.send(signal)
            child.send(other)
            let outcome = await child.outcome()
            // Which of two that come together is the second is not defined.
            #expect([.signal(signal), .signal(other)].contains(outcome.exit), "\(outcome)")
            terminal.close()
        }
    }

    @Test func anExportThatIsNotReadEndsByTheSignal() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            let url = site.origin.url("/film.mp4")
            let cache = site.directory.path(of: "cache")
            try await Command.run(["fetch", "--cache-dir", cache, url])
            let file = site.directory.path(of: "film.mp4")
            #expect(mkfifo(file, 0o600) == 0)
            let reader = try ChildProcess(
                "/bin/sh", ["-c", "exec <\"$0\"; head -c 1 | wc -c; exec tail -f /dev/null", file])
            let child = try Self.start("export", site, [url, "-o", file])
            await reader.output.wait { $0.contains("1") }
            child.send(SIGTERM)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(SIGTERM), "\(outcome)")
            reader.send(SIGKILL)
            _ = await reader.outcome()
        }
    }

    @Test func aPipeWithoutReaderEndsByTheSignal() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            let file = site.directory.path(of: "film.mp4")
            #expect(mkfifo(file, 0o600) == 0)
            let child = try Self.start("fetch", site, [site.origin.url("/film.mp4"), "-o", file])
            await child.errors.wait { $0.contains("waiting for a reader of \(file)") }
            child.send(SIGINT)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(SIGINT))
            let message = "Stopped while it waited for a reader of \(file); nothing was done.\n"
            #expect(outcome.errors.hasSuffix(message), "\(outcome)")
        }
    }

    @Test func aStalledOriginIsSaidAndEndsByTheSignal() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            site.origin.hold("/film.mp4", at: Self.held)
            let child = try Self.start("fetch", site, [site.origin.url("/film.mp4")])
            let text = await child.errors.wait { $0.split(separator: "\n").count { $0.contains("stalled") } > 1 }
            #expect(text.contains("film.mp4  1.05 MB of 3.15 MB  stalled for "), "\(text)")
            child.send(SIGTERM)
            #expect(await child.outcome().exit == .signal(SIGTERM))
        }
    }

    @Test func anOriginThatDoesNotAnswerIsSaid() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            site.origin.holdHeads("/film.mp4")
            let child = try Self.start("fetch", site, [site.origin.url("/film.mp4")])
            let text = await child.errors.wait { $0.contains("\n") }
            #expect(text.hasPrefix("film.mp4  connecting to 127.0.0.1:\(site.origin.port), "), "\(text)")
            site.origin.release("/film.mp4")
            #expect(await child.outcome().exit == .status(0))
        }
    }
}
