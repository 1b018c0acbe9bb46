import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Every subcommand with every key: what another key was made for is refused, and stays.
@Suite(.limit(minutes: 5)) struct KeyMatrixTests {
    enum Key: CaseIterable, CustomTestStringConvertible {
        case none, own, other

        var environment: [String: String] {
            switch self {
            case .none: [:]
            case .own: ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)]
            case .other: ["REPRISE_ENCRYPT_KEY": String(repeating: "11", count: 32)]
            }
        }

        var testDescription: String { "\(self) key" }
    }

    /// Each subcommand with arguments that let it do something, and those that end a cache last.
    private static func commands(_ url: String, output: String) -> [[String]] {
        [
            ["fetch", url], ["list"], ["limit"], ["limit", "news", "1GB"], ["show", url],
            ["export", url, "--output", output], ["stats"], ["verify"],
            ["pin", url], ["prune", "--to", "0"], ["unpin", url], ["remove", url],
        ]
    }

    private static func run(_ site: Site, _ command: [String], _ key: Key) async throws -> ChildProcess.Outcome {
        try await Command.run(
            command[0], site.directory, Array(command.dropFirst()), environment: key.environment)
    }

    /// Runs `body` with the URL of an entry that is stored under `key` and pinned.
    private static func run(_ key: Key, _ body: (Site, String) async throws -> Void) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let url = site.origin.url("/film.mp4")
            for command in [["fetch", url], ["pin", url]] {
                let outcome = try await run(site, command, key)
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
            try await body(site, url)
        }
    }

    private static func expectEntryAndPin(_ site: Site, _ key: Key, after command: String) async throws {
        let list = try await run(site, ["list"], key)
        #expect(list.exit == .status(0), "after \(command): \(list)")
        #expect(list.output.contains("100 %"), "after \(command): \(list.output)")
        #expect(list.output.contains("/film.mp4  [pinned]"), "after \(command): \(list.output)")
    }

    @Test(
        "another key is refused with 78, and the right one finds everything",
        arguments: [(Key.none, Key.other), (.own, .none), (.own, .other)])
    func refusals(made: Key, given: Key) async throws {
        try await Self.run(made) { site, url async throws in
            let output = site.directory.path(of: "out.mp4")
            for command in Self.commands(url, output: output) + [["serve", "--port", "0"]] {
                let refused = try await Self.run(site, command, given)
                #expect(refused.exit == .status(78), "\(command[0]): \(refused)")
                #expect(refused.output.isEmpty, "\(command[0]): \(refused.output)")
                #expect(!FileManager.default.fileExists(atPath: output))
                try await Self.expectEntryAndPin(site, made, after: command[0])
            }
            #expect(site.origin.snapshot.requestCount == 1)
        }
    }

    @Test("the right key does everything", arguments: [Key.none, .own])
    func rightKey(made: Key) async throws {
        try await Self.run(made) { site, url async throws in
            for command in Self.commands(url, output: site.directory.path(of: "out.mp4")) {
                let outcome = try await Self.run(site, command, made)
                #expect(outcome.exit == .status(0), "\(command[0]): \(outcome)")
            }
            try await Serving.run(
                ["--port", "0", "--cache-dir", site.directory.path], environment: made.environment
            ) { serving async throws in
                #expect(try await serving.get(site.target("/film.mp4")).head.status == 200)
            }
        }
    }

    @Test("--reset says what it drops, and begins with the new key", arguments: [Key.none, .own])
    func reset(made: Key) async throws {
        try await Self.run(made) { site, url async throws in
            let refused = try await Self.run(site, ["fetch", url], .other)
            #expect(refused.errors.contains("drop 1 entry, 100 kB, 1 pin with --reset"), "\(refused)")
            let reset = try await Self.run(site, ["fetch", "--reset", url], .other)
            #expect(reset.exit == .status(0), "\(reset)")
            #expect(reset.errors.contains("--reset drops 1 entry, 100 kB, 1 pin in \(site.directory.path)"), "\(reset)")
            #expect(reset.errors.contains("Dropped."), "\(reset)")
            let list = try await Self.run(site, ["list"], .other)
            #expect(list.output.contains("/film.mp4") && !list.output.contains("pinned"), "\(list)")
            #expect(try await Self.run(site, ["list"], made).exit == .status(78))
            let again = try await Self.run(site, ["fetch", "--reset", url], .other)
            #expect(again.exit == .status(0) && again.errors.isEmpty, "nothing is dropped: \(again)")
            #expect(site.origin.snapshot.requestCount == 2)
        }
    }
}
