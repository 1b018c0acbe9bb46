import ArgumentParser
import Foundation
import TestLimits
import Testing

@testable import RepriseCLI

/// The settings that packages install.
@Suite(.limit(minutes: 1)) struct DeployedSettingsTests {
    /// Lines of `NAME = VALUE`, which are comments: a package changes no default.
    private static func settings() throws -> [(name: String, value: String)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try String(contentsOf: root.appending(path: "Deploy/reprise.conf"), encoding: .utf8)
        return try text.split(separator: "\n").compactMap { line in
            #expect(line.hasPrefix("#"), "this is in force: \(line)")
            guard let match = try /# ([a-z-]+) = (.+)/.wholeMatch(in: line) else { return nil }
            return (String(match.1), String(match.2))
        }
    }

    @Test func eachIsAnOptionOfTheServerWithAValueThatItTakes() throws {
        let settings = try Self.settings()
        #expect(settings.count > 5)
        for (name, value) in settings {
            // A flag has no value on the command line.
            let arguments = value == "true" ? ["--\(name)"] : ["--\(name)", value]
            #expect(throws: Never.self, "\(name) = \(value)") { try Serve.parse(arguments) }
        }
    }

    @Test func whatIsWrittenAsTheDefaultIs() throws {
        let settings = Dictionary(try Self.settings(), uniquingKeysWith: { first, _ in first })
        let serve = try Serve.parse([])
        #expect(settings["host"] == serve.host)
        #expect(settings["port"] == "8090")
        #expect(settings["limit"] == "2GB")
    }
}
