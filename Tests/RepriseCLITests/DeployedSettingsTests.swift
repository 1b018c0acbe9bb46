import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The variables of the service that packages show.
@Suite(.limit(minutes: 1)) struct DeployedSettingsTests {
    private static func deployed(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Deploy/\(name)").standardized
    }

    /// Lines of `NAME=VALUE`, which are comments: a package changes no default.
    private static func settings() throws -> [String: String] {
        let text = try String(contentsOf: deployed("reprise.default"), encoding: .utf8)
        let settings = try text.split(separator: "\n").compactMap { line -> (String, String)? in
            #expect(line.hasPrefix("#"), "this is in force: \(line)")
            guard let match = try /# ([A-Z_]+)=(.+)/.wholeMatch(in: line) else { return nil }
            return (String(match.1), String(match.2))
        }
        try #require(settings.count > 3)
        return Dictionary(uniqueKeysWithValues: settings)
    }

    @Test func theServerTakesThem() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            var settings = try Self.settings()
            // The example that lies beside it, in which nothing is in force.
            #expect(settings["REPRISE_CONFIG"] == "/etc/reprise.conf")
            settings["REPRISE_CONFIG"] = Self.deployed("reprise.conf").path
            let token = try #require(settings["REPRISE_TOKEN"])
            // Another server of this machine may have the port.
            let options = ["--cache-dir", site.directory.path, "--port", "0"]
            try await Serving.run(options, environment: settings) { serving async throws in
                #expect(try await serving.get("/\(token)\(site.target("/a.mp4"))").head.status == 200)
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 401)
            }
        }
    }

    @Test func itReadsEachAndRefusesAWrongOne() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for name in try Self.settings().keys {
            let outcome = try await Command.run("serve", directory, environment: [name: "a/b c"])
            #expect(outcome.exit == .status(64), "\(name): \(outcome)")
            #expect(outcome.errors.contains(name))
        }
    }

    @Test func whatIsWrittenAsTheDefaultIs() throws {
        let settings = try Self.settings()
        #expect(settings["REPRISE_LIMIT"] == "2GB")
        #expect(settings["REPRISE_PORT"] == "8090")
        let documented = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/command.md"),
            encoding: .utf8)
        #expect(documented.contains("`notice` (default)") && settings["REPRISE_LOG_LEVEL"] == "notice")
    }
}
