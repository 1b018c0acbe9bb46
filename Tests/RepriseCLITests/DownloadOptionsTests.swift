import ArgumentParser
import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `--rate` and `--while`: how fast downloads may be, and when.
@Suite(.limit(minutes: 2)) struct DownloadOptionsTests {
    @Test(
        "rates are written in bits or in bytes, per second",
        arguments: [
            ("20Mbit", 2_500_000), ("20mbit/s", 2_500_000), ("1.5Gbit", 187_500_000), ("800kbit", 100_000),
            ("8bit", 1), ("2MB", 2_000_000), ("2MB/s", 2_000_000), ("1MiB", 1_048_576), ("500k", 500_000), ("9B", 9),
        ] as [(String, Int64)])
    func rates(text: String, bytes: Int64) throws {
        var configuration = MediaCache.Configuration()
        try DownloadOptions.apply(
            DownloadOptions.parse(["--rate", text]), to: &configuration, from: Settings(environment: [:]))
        #expect(configuration.downloadRate == bytes)
    }

    @Test("what is fetched at a rate takes its time, and bytes that are stored take none")
    func rate() async throws {
        try await Site.run(sendBufferSize: 64 << 10) { site async throws in
            let length: Int64 = 1_000_000
            site.publish("/film.mp4", length: length)
            let file = site.directory.path(of: "film.mp4")
            let arguments = ["--rate", "4Mbit", site.origin.url("/film.mp4"), "--output", file]
            let start = ContinuousClock.now
            let outcome = try await Command.run("fetch", site.directory, arguments)
            #expect(outcome.exit == .status(0), "\(outcome)")
            // The last piece need not be waited for, nor what lies in the sockets.
            #expect(.now - start > .seconds(1))
            let origin = await site.origin.settledSnapshot()
            #expect(origin.requestCount == 1 && origin.bodyBytesSent == length)
            let again = try await Command.run(
                "fetch", site.directory, ["--rate", "1bit", "--force"] + arguments.dropFirst(2))
            #expect(again.exit == .status(64) && again.errors.contains("at least one byte per second"), "\(again)")
            let stored = try await Command.run(
                "fetch", site.directory, ["--rate", "8bit", "--force"] + arguments.dropFirst(2))
            #expect(stored.output.hasSuffix("0 B fetched, 1.00 MB from the store\n"), "\(stored)")
        }
    }

    @Test("a file that cannot be stored keeps to the rate, too")
    func unstored() async throws {
        try await Site.run(sendBufferSize: 64 << 10) { site async throws in
            site.publish("/film.mp4", length: 8_000_000)
            let child = try ChildProcess(
                Command.path,
                [
                    "fetch", "--cache-dir", site.directory.path, "--limit", "1MB", "--rate", "800kbit", "--output",
                    site.directory.path(of: "film.mp4"), site.origin.url("/film.mp4"),
                ], environment: Command.environment())
            // Two lines of progress: at least 3 s.
            _ = await child.errors.wait { $0.contains("film.mp4  ") && $0.split(separator: "\n").count >= 2 }
            child.send(SIGTERM)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(SIGTERM), "\(outcome)")
            #expect(await site.origin.settledSnapshot().bodyBytesSent < 8_000_000)
        }
    }

    // MARK: - Hours

    /// Hours from so many hours after now on, as they are written, in UTC.
    private static func hours(from offset: Int, to end: Int) -> String {
        let now = Int(Date().timeIntervalSince1970) / 3600
        func text(_ hour: Int) -> String { (hour % 24 < 10 ? "0" : "") + "\(hour % 24):00" }
        return "\(text(now + offset))-\(text(now + end))"
    }

    private static let environment = ["TZ": "UTC"]

    private struct Report: Decodable {
        let state: String
        let error: String?
    }

    @Test("outside of its hours a server leaves a complete stream done, and begins what is resumed")
    func resumedNow() async throws {
        try await Site.run { site async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
            site.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"), at: "/a.m3u8"
            )
            site.publish("/0.ts", length: 30_000)
            site.publish("/film.mp4", length: 1000)
            let (stream, film) = (site.origin.url("/a.m3u8"), site.origin.url("/film.mp4"))
            let whole = try await Command.run("download", site.directory, [stream])
            #expect(whole.exit == .status(0), "\(whole)")
            let options = ["--while", Self.hours(from: 2, to: 4)]
            try await Serving.run(site.directory, options, environment: Self.environment) { _ async throws in
                let queued = try await Command.run("download", site.directory, ["--background", film])
                #expect(queued.exit == .status(0), "\(queued)")
                let waiting = try await Command.run("downloads", site.directory, ["--json"])
                #expect(try Command.json(Report.self, waiting).map(\.state) == ["done", "waiting"], "\(waiting)")
                #expect(waiting.output.contains("To begin now: reprise downloads --resume URL"), "\(waiting)")
                _ = try await Command.run("downloads", site.directory, ["--resume", film])
                try await eventually {
                    let list = try await Command.run("downloads", site.directory, ["--json"])
                    return try Command.json(Report.self, list).map(\.state) == ["done", "done"]
                }
            }
        }
    }

    @Test("outside of its hours nothing is asked, until when is said once, and a signal ends the wait")
    func closed() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let hours = Self.hours(from: 2, to: 4)
            let opening = hours.prefix { $0 != "-" }
            for command in [["fetch"], ["fetch", "--json"], ["download"]] {
                let child = try ChildProcess(
                    Command.path,
                    command + ["--cache-dir", site.directory.path, "--while", hours, site.origin.url("/film.mp4")],
                    environment: Command.environment(Self.environment))
                let text = "Downloads run \(hours) only, in local time; they go on at \(opening)."
                let isJSON = command.last == "--json"
                _ = await (isJSON ? child.output : child.errors).wait { $0.contains(text) }
                child.send(SIGTERM)
                let outcome = await child.outcome()
                #expect(outcome.exit == .signal(SIGTERM), "\(command) \(outcome)")
                if isJSON {
                    let reports = try Command.json(Report.self, outcome)
                    #expect(reports.map(\.state).filter { $0 != "progress" } == ["waiting", "interrupted"])
                    #expect(reports.first { $0.state == "waiting" }?.error == "deferred: \(text)")
                } else {
                    #expect(outcome.errors.components(separatedBy: text).count == 2, "\(outcome)")
                }
            }
            #expect(site.origin.snapshot.requestCount == 0)
            let list = try await Command.run("downloads", site.directory)
            #expect(list.output.hasPrefix("queued"), "\(list)")
        }
    }

    @Test("a stored file is read outside of its hours, too") func stored() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let url = site.origin.url("/film.mp4")
            #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0))
            let copy = site.directory.path(of: "copy.mp4")
            let outcome = try await Command.run(
                "fetch", site.directory, ["--while", Self.hours(from: 2, to: 4), "-o", copy, url],
                environment: Self.environment)
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == Data(TestPattern.bytes(in: 0..<1000, seed: 1)))
            #expect(site.origin.snapshot.requestCount == 1)
        }
    }

    @Test("within its hours all goes as always, also across midnight")
    func open() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            // Whatever the hour is, one of them crosses midnight: all but two hours, and the hours around now.
            for hours in [Self.hours(from: 23, to: 46), Self.hours(from: -1 + 24, to: 26)] {
                let outcome = try await Command.run(
                    "fetch", site.directory, ["--while", hours, site.origin.url("/film.mp4")],
                    environment: Self.environment)
                #expect(outcome.exit == .status(0), "\(hours) \(outcome)")
            }
        }
    }

    @Test("the proxy says when downloads run, and serves all the same")
    func served() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let hours = Self.hours(from: 2, to: 4)
            let serving = ["--port", "0", "--cache-dir", site.directory.path, "--while", hours, "--rate", "8bit"]
            try await Serving.run(serving, environment: Self.environment) { serving async throws in
                let line = "Downloads run \(hours) only, in local time.\n"
                #expect(await serving.child.output.wait { $0.contains(line) }.contains(line))
                #expect(try await serving.get(site.target("/film.mp4")).body.count == 1000)
            }
        }
    }
}
