import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `reprise downloads`, as a process.
@Suite(.limit(minutes: 2)) struct DownloadsTests {
    private struct Report: Decodable, Equatable {
        let url: String
        let state: String
        let storedBytes: Int64
        let completeLength: Int64?
    }

    private static func list(_ site: Site, _ arguments: [String] = []) async throws -> [Report] {
        let outcome = try await Command.run("downloads", site.directory, ["--json"] + arguments)
        #expect(outcome.exit == .status(0), "\(outcome)")
        return try Command.json(Report.self, outcome)
    }

    @Test func theyArePausedMovedAndResumed() async throws {
        try await Site.run { site async throws in
            let none = try await Command.run("downloads", site.directory)
            #expect(none.output.hasPrefix("There are no downloads."), "\(none)")
            let urls = ["/a.mp4", "/b.mp4"].map { site.origin.url($0) }
            site.publish("/a.mp4", length: 300_000)
            _ = try await Command.run("pin", site.directory, ["--download", urls[0]])
            #expect(
                try await Self.list(site) == [
                    Report(url: urls[0], state: "done", storedBytes: 300_000, completeLength: 300_000)
                ])
            let film = try await Command.run("downloads", site.directory)
            #expect(film.output == "done     300 kB of 300 kB  \(urls[0])\n", "\(film)")
            let vain = try await Command.run("downloads", site.directory, ["--pause", urls[0], "--pause", urls[1]])
            #expect(vain.exit == .status(66) && vain.errors.contains("is no download"), "\(vain)")
        }
    }

    @Test("a download that was stopped is queued, and a paused one is not taken up")
    func pausedOnes() async throws {
        try await Site.run { site async throws in
            let urls = ["/a.mp4", "/b.mp4"].map { site.origin.url($0) }
            for (name, url) in zip(["/a.mp4", "/b.mp4"], urls) {
                site.publish(name, length: 3_000_000)
                site.origin.hold(name, at: 1_000_000)
                let child = try ChildProcess(
                    Command.path, ["pin", "--cache-dir", site.directory.path, "--download", url],
                    environment: Command.environment())
                await site.origin.waitUntil { $0[name].bodyBytesSent >= 1_000_000 }
                child.send(SIGTERM)
                #expect(await child.outcome().exit == .signal(SIGTERM))
                site.origin.release(name)
                let list = try await Self.list(site, ["--pause", url])
                #expect(list.last?.state == "paused" && list.last?.url == url)
            }
            let moved = try await Self.list(site, ["--first", urls[1], "--resume", urls[1]])
            #expect(moved.map(\.url) == [urls[1], urls[0]])
            #expect(moved.map(\.state) == ["queued", "paused"])
            // Another command that fetches takes up what is queued.
            _ = try await Command.run("pin", site.directory, ["--download", urls[1]])
            let done = try await Self.list(site)
            #expect(done.map(\.state) == ["done", "paused"])
            #expect(await site.origin.settledSnapshot()["/b.mp4"].bytesSentMoreThanOnce <= 1_000_000)
        }
    }
}
