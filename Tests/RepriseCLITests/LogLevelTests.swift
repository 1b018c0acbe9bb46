import Foundation
import TestLimits
import TestSupport
import Testing

/// How much a server logs, changed while it runs.
@Suite(.limit(minutes: 2)) struct LogLevelTests {
    @Test("A level holds at once, for hits, too, and the status tells it") func change() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let outcome = try await Serving.run(site.directory) { serving async throws in
                func status() async throws -> String {
                    String(decoding: try await serving.get("/-/status.json").body, as: UTF8.self)
                }
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
                #expect(try await status().contains(#""logLevel":"notice""#))
                let louder = try await Command.run("log-level", site.directory, ["info"])
                #expect(louder.exit == .status(0) && louder.output == "Log level: info, before: notice\n", "\(louder)")
                #expect(try await status().contains(#""logLevel":"info""#))
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
                let same = try await Command.run("log-level", site.directory)
                #expect(same.exit == .status(0) && same.output == "Log level: info\n", "\(same)")
                let quieter = try await serving.post("log-level", #"{"level":"error"}"#)
                #expect(quieter.status == 200)
                #expect(quieter.line == #"{"outcome":{"former":"info","level":"error"}}"# + "\n")
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
            // Of five answers only the one in between is told.
            let lines = outcome.errors.split(separator: "\n").filter { $0.contains("request") }
            #expect(lines.count == 1 && lines.first?.contains("cache=hit") == true, "\(outcome)")
        }
    }

    @Test("What is no level is refused, with those that are") func refusals() async throws {
        try await Site.run { site async throws in
            for level in ["verbose", "", "critical", "Debug", "-1"] {
                let outcome = try await Command.run("log-level", site.directory, ["--", level])
                #expect(outcome.exit == .status(64), "\(outcome)")
                #expect(outcome.errors.contains("trace, debug, info, notice, warning or error"), "\(outcome)")
            }
            let alone = try await Command.run("log-level", site.directory, ["debug"])
            #expect(alone.exit == .status(69) && alone.errors.contains("No server uses the cache"), "\(alone)")
            try await Serving.run(site.directory) { serving async throws in
                for (body, said) in [
                    (#"{"level":"loud"}"#, "trace, debug, info, notice, warning or error"),
                    (#"{"level":7}"#, "wrong type"), (#"{"lvl":"debug"}"#, "no member"), ("[]", "no object"),
                    ("", "JSON"),
                ] {
                    let answer = try await serving.post("log-level", body)
                    #expect(answer.status == 400 && answer.line.contains(said), "\(body): \(answer)")
                }
                let asked = try await serving.post("log-level", "{}")
                #expect(asked.status == 200 && asked.line.contains(#""level":"notice""#), "\(asked)")
                #expect(try await serving.get("/-/api/log-level").head.status == 405)
            }
        }
    }
}
