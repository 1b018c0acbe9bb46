import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `reprise downloads`, as a process.
@Suite(.limit(minutes: 2)) struct DownloadsTests {
    private struct Report: Decodable, Equatable {
        let url: String
        let state: String
        let storedBytes: Int64
        let completeLength: Int64?
        var waitsFor, error, code, help: String?
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
            _ = try await Command.run("download", site.directory, [urls[0]])
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
                    Command.path, ["download", "--cache-dir", site.directory.path, url],
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
            _ = try await Command.run("download", site.directory, [urls[1]])
            let done = try await Self.list(site)
            #expect(done.map(\.state) == ["done", "paused"])
            #expect(await site.origin.settledSnapshot()["/b.mp4"].bytesSentMoreThanOnce <= 1_000_000)
        }
    }

    @Test("a failed one beside a server says why and what helps, on its own line and in JSON")
    func failed() async throws {
        try await Site.run { site async throws in
            let url = try await site.beginDownload(of: "/a.mp4")
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 10), personality: TestOrigin.Personality { $0.status = 404 }),
                at: "/a.mp4")
            try await Serving.run(site.directory) { _ async throws in
                var report = try await Self.list(site).first
                try await eventually {
                    report = try await Self.list(site).first
                    return report?.state == "failed"
                }
                #expect(report?.error == "The origin answered 404 for \(url).", "\(report as Any)")
                #expect(report?.code == "originRefused")
                #expect(report?.waitsFor == nil)
                #expect(report?.help == "The file is gone there. To remove the download: reprise remove URL")
                let text = try await Command.run("downloads", site.directory)
                #expect(
                    text.output.hasSuffix(
                        "  \(url)\n         The origin answered 404 for \(url). \(report?.help ?? "")\n"), "\(text)")
            }
            // It is known without the server, too.
            let report = try await Self.list(site).first
            #expect(report?.state == "queued" && report?.waitsFor == nil)
            #expect(report?.error == "The origin answered 404 for \(url)." && report?.code == "originRefused")
            #expect(report?.help == "The file is gone there. To remove the download: reprise remove URL")
        }
    }

    @Test func aCommandToCopyEndsTheLine() {
        let full = RepriseError(.storageFull, "Full.")
        func lines(_ reason: String) -> [String]? {
            DownloadTrouble(.waiting(.space, full), reason: reason)?.lines
        }
        let help = "It goes on by itself when there is room."
        #expect(lines("The disk is full.") == ["The disk is full. \(help)"])
        #expect(lines("Raise it with: reprise limit t SIZE") == ["Raise it with: reprise limit t SIZE", help])
    }

    @Test func whatHelpsDependsOnTheState() {
        let refused = RepriseError(.originRefused, "The origin answered 401.")
        func trouble(_ state: Download.State) -> DownloadTrouble? { DownloadTrouble(state, reason: "Why.") }
        #expect(trouble(.queued) == nil && trouble(.done) == nil && trouble(.paused) == nil && trouble(.running) == nil)
        #expect(trouble(.waiting(.authorization, refused))?.waitsFor == "authorization")
        #expect(trouble(.waiting(.authorization, refused))?.help.contains("--authorize-command") == true)
        #expect(trouble(.waiting(.network, refused))?.help == "It is tried again by itself.")
        #expect(trouble(.waiting(.space, refused))?.waitsFor == "space")
        #expect(trouble(.waiting(.schedule, refused))?.waitsFor == "hours")
        #expect(trouble(.failed(refused))?.help.contains("--resume URL") == true)
        let other = RepriseError(.notDownloadable, "No sound in fr.")
        #expect(trouble(.failed(other))?.help.contains("--audio") == true)
        #expect(trouble(.failed(other))?.code == "notDownloadable")
        let page = RepriseError.logIn(.notDownloadable, "The origin sent a page or an error in place of X")
        let help = trouble(.failed(page))?.help
        #expect(help?.contains("--authorize-command") == true && help?.contains("--audio") == false, "\(help ?? "")")
        let queued = DownloadTrouble(.queued, lastError: refused, reason: "Why.")
        #expect(queued?.waitsFor == nil && queued?.code == "originRefused" && queued?.reason == "Why.")
        #expect(queued?.help == "It is tried again by the next command that fetches.")
        #expect(DownloadTrouble(.queued, lastError: other, reason: "Why.")?.help.contains("--audio") == true)
        for state in [.paused, .running, .done] as [Download.State] {
            #expect(DownloadTrouble(state, lastError: refused, reason: "Why.") == nil)
        }
    }

    /// Publishes a stream with sound in English.
    private static func publishStream(_ site: Site, segments: Int = 4) {
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
            video.m3u8

            """
        func list(_ name: String) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
                + (0..<segments).map { "#EXTINF:4,\n\(name)\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
        }
        for (name, text) in [("master", master), ("audio", list("a")), ("video", list("v"))] {
            site.origin.set(
                TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                at: "/show/\(name).m3u8")
        }
        for number in 0..<segments {
            for name in ["a", "v"] { site.publish("/show/\(name)\(number).ts", length: 30_000) }
        }
    }

    @Test("a download that is repeated in vain with another selection is as it was", arguments: [false, true])
    func repeatedInVain(besideServer: Bool) async throws {
        try await Site.run { site async throws in
            Self.publishStream(site)
            let url = site.origin.url("/show/master.m3u8")
            let pin = try await Command.run("download", site.directory, [url])
            #expect(pin.exit == .status(0), "\(pin)")
            func repeated() async throws {
                let before = try await Self.list(site)
                #expect(before.map(\.state) == ["done"])
                let vain = try await Command.run("download", site.directory, ["--audio", "fr", url])
                #expect(vain.exit != .status(0), "\(vain)")
                #expect(try await Self.list(site) == before)
            }
            if besideServer {
                try await Serving.run(site.directory) { _ async throws in
                    try await eventually { try await Self.list(site).first?.state == "done" }
                    try await repeated()
                }
            } else {
                try await repeated()
            }
            // In a process of its own: with the other selection it would be queued.
            #expect(try await Self.list(site).map(\.state) == ["done"])
        }
    }

    @Test("of a stream whose download is stopped, its files are counted")
    func stoppedStream() async throws {
        try await Site.run { site async throws in
            Self.publishStream(site)
            site.origin.holdHeads("/show/v3.ts")
            let url = site.origin.url("/show/master.m3u8")
            let child = try ChildProcess(
                Command.path, ["download", "--cache-dir", site.directory.path, url],
                environment: Command.environment())
            await site.origin.waitUntil { $0["/show/v3.ts"].requestCount >= 1 }
            child.send(SIGINT)
            let outcome = await child.outcome()
            site.origin.release("/show/v3.ts")
            #expect(outcome.exit == .signal(SIGINT), "\(outcome)")
            let said = try #require(outcome.errors.firstMatch(of: /(\d+) of 11 files of show are stored/)?.1)
            #expect((3...10).contains(Int(said) ?? 0), "\(outcome)")
        }
    }

    @Test("a download that others remove or pause is not waited for any longer", arguments: ["remove", "--pause"])
    func endedByOthers(change: String) async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 3_000_000)
            site.origin.hold("/a.mp4", at: 1_000_000)
            let url = site.origin.url("/a.mp4")
            try await Serving.run(site.directory) { _ async throws in
                let child = try ChildProcess(
                    Command.path, ["download", "--cache-dir", site.directory.path, url],
                    environment: Command.environment())
                await site.origin.waitUntil { $0["/a.mp4"].bodyBytesSent >= 1_000_000 }
                let other =
                    change == "remove"
                    ? try await Command.run("remove", site.directory, [url])
                    : try await Command.run("downloads", site.directory, [change, url])
                #expect(other.exit == .status(0), "\(other)")
                let outcome = await child.outcome()
                #expect(outcome.exit == .status(1), "\(outcome)")
                let words = change == "remove" ? " was removed or released by others" : " was paused by others"
                #expect(outcome.errors.contains(words), "\(outcome)")
                #expect(try await Self.list(site).map(\.state) == (change == "remove" ? [] : ["paused"]))
            }
        }
    }
}
