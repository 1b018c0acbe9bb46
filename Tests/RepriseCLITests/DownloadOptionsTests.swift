import ArgumentParser
import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `--rate`: how fast downloads may be.
@Suite(.limit(minutes: 2)) struct DownloadOptionsTests {
    @Test(
        "rates are written in bits or in bytes, per second",
        arguments: [
            ("20Mbit", 2_500_000), ("20mbit/s", 2_500_000), ("1.5Gbit", 187_500_000), ("800kbit", 100_000),
            ("8bit", 1), ("2MB", 2_000_000), ("2MB/s", 2_000_000), ("1MiB", 1_048_576), ("500k", 500_000), ("9B", 9),
        ] as [(String, Int64)])
    func rates(text: String, bytes: Int64) throws {
        var configuration = MediaCache.Configuration()
        try DownloadOptions.parse(["--rate", text]).apply(to: &configuration)
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
            #expect(again.exit == .status(64), "\(again)")
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
}
