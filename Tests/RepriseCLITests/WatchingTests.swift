import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Metrics and the access log of `reprise serve`, as a process.
@Suite(.limit(minutes: 3)) struct WatchingTests {
    private static func lines(_ path: String) -> [String] {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    @Test func hostsAreNamedInMetricsUnlessThatIsSwitchedOff() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            for (options, isNamed) in [([], true), (["--no-metrics-hosts"], false)] {
                try await Serving.run(site.directory, options) { serving async throws in
                    _ = try await serving.get(site.target("/a.mp4"))
                    let metrics = try await serving.get("/metrics")
                    let text = String(decoding: metrics.body, as: UTF8.self)
                    #expect(metrics.head.status == 200)
                    #expect(text.contains("host=") == isNamed)
                    #expect(text.contains("reprise_served_bytes_total"))
                }
            }
        }
    }

    @Test("a rotation loses no line: the file is moved away, and a hang-up opens it again") func rotation() async throws
    {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let log = site.directory.path + "-access.log"
            defer { for name in [log, log + ".1"] { unlink(name) } }
            let outcome = try await Serving.run(site.directory, ["--access-log", log]) { serving async throws in
                for _ in 0..<5 { _ = try await serving.get(site.target("/a.mp4")) }
                await eventually { Self.lines(log).count == 5 }
                try #require(rename(log, log + ".1") == 0)
                serving.child.send(SIGHUP)
                await eventually { FileManager.default.fileExists(atPath: log) }
                for _ in 0..<3 { _ = try await serving.get(site.target("/a.mp4")) }
                await eventually { Self.lines(log).count == 3 }
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(Self.lines(log + ".1").count == 5)
            #expect(Self.lines(log).allSatisfy { $0.hasPrefix("{\"time\":\"") && $0.hasSuffix("}") })
        }
    }

    @Test func theLogMayGoToStandardOutputInAnotherForm() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let arguments = ["serve", "--port", "0", "--cache-dir", site.directory.path, "--access-log", "-"]
            let child = try ChildProcess(
                try Command.path, arguments,
                environment: Command.environment(["REPRISE_ACCESS_LOG_FORMAT": "combined"]), limit: .seconds(300))
            let text = await child.errors.wait { $0.contains("/film.mp4\n") }
            let port = try #require(text.firstMatch(of: /127\.0\.0\.1:(\d+)\n/).flatMap { Int($0.1) })
            _ = try await RawClient.exchange(port: port, site.target("/film.mp4"))
            _ = await child.output.wait { $0.contains("\n") }
            child.send(SIGTERM)
            let outcome = await child.outcome()
            #expect(outcome.exit == .status(0), "\(outcome)")
            let url = site.origin.url("/film.mp4")
            #expect(
                outcome.output.wholeMatch(of: #/127\.0\.0\.1 - - \[[^\]]+\] "GET (\S+) HTTP/1\.1" 200 1000 "-" "-"\n/#)
                    .map { String($0.1) } == url, "\(outcome)")
        }
    }

    #if os(Linux)
        @Test("a full disk ends in the middle of a line: whole lines stay, and serving goes on") func fullDisk()
            async throws
        {
            try await Site.run { site async throws in
                site.publish("/a.mp4", length: 1000)
                let log = site.directory.path + "-access.log"
                defer { unlink(log) }
                // The largest file that the shell below allows, in kilobytes, less half a line.
                let limit = 4096
                let old = Array((String(repeating: "x", count: 1023) + "\n").utf8)
                let filled =
                    (0..<limit - 1).flatMap { _ in old } + Array((String(repeating: "y", count: 899) + "\n").utf8)
                try Data(filled).write(to: URL(fileURLWithPath: log))
                let prefix = ["/bin/bash", "-c", "trap '' XFSZ; ulimit -f \(limit); exec \"$0\" \"$@\""]
                let outcome = try await Serving.run(
                    ["--port", "0", "--cache-dir", site.directory.path, "--access-log", log], prefix: prefix
                ) { serving async throws in
                    for _ in 0..<5 { #expect(try await serving.get(site.target("/a.mp4")).head.status == 200) }
                    await eventually {
                        let metrics = try? await serving.get("/metrics")
                        let text = String(decoding: metrics?.body ?? [], as: UTF8.self)
                        return text.contains("reprise_access_log_dropped_total 5\n")
                    }
                }
                #expect(outcome.exit == .status(0), "\(outcome)")
                #expect(outcome.errors.components(separatedBy: "are lost").count == 2, "\(outcome)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == Data(filled))
            }
        }
    #endif

    @Test func wrongOptionsAreNamed() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for (options, environment, word) in [
            (["--access-log", ""], [:], "--access-log"), (["--access-log-format", "json"], [:], "--access-log-format"),
            (["--access-log", "/no/such/folder/a"], [:], "/no/such/folder/a"),
            (["--access-log", "a", "--access-log-format", "xml"], [:], "--access-log-format"),
            (
                ["--access-log", directory.path + "/a"], ["REPRISE_ACCESS_LOG_FORMAT": "xml"],
                "REPRISE_ACCESS_LOG_FORMAT"
            ),
            ([], ["REPRISE_ACCESS_LOG": "/no/such/folder/b"], "/no/such/folder/b"),
        ] as [([String], [String: String], String)] {
            let outcome = try await Command.run(
                "serve", directory, ["--port", "0"] + options, environment: environment)
            #expect(outcome.exit == .status(64), "\(options): \(outcome)")
            #expect(outcome.errors.contains(word), "\(options): \(outcome)")
        }
    }
}
