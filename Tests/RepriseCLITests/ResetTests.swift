import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `--reset` empties a cache only for a command that is right in everything else.
@Suite(.limit(minutes: 3)) struct ResetTests {
    private static let own = ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)]
    private static let other = ["REPRISE_ENCRYPT_KEY": String(repeating: "11", count: 32)]

    /// Runs `body` with the URL of an entry that is stored under another key and pinned.
    private static func run(_ body: (Site, String) async throws -> Void) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let url = site.origin.url("/film.mp4")
            for command in ["fetch", "pin"] {
                let outcome = try await Command.run(command, site.directory, [url], environment: own)
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
            try await body(site, url)
        }
    }

    private static func expectNothingDropped(
        _ site: Site, _ command: [String], _ status: Int32, environment: [String: String] = [:]
    ) async throws {
        let outcome = try await Command.run(
            command[0], site.directory, ["--reset"] + command.dropFirst(),
            environment: other.merging(environment) { $1 })
        #expect(outcome.exit == .status(status), "\(command): \(outcome)")
        #expect(!outcome.errors.contains("drops"), "\(command): \(outcome)")
        let list = try await Command.run("list", site.directory, environment: own)
        #expect(list.exit == .status(0), "after \(command): \(list)")
        #expect(list.output.contains("/film.mp4  [pinned]"), "after \(command): \(list.output)")
    }

    @Test func aCommandThatIsWrongDropsNothing() async throws {
        try await Self.run { site, url async throws in
            let file = try site.directory.write(PreparedPlace.old, to: "film.mp4")
            for bad in ["ftp://example.com/a", "no-url", "http://user:pw@example.com/a"] {
                try await Self.expectNothingDropped(site, ["fetch", url, bad], 64)
                try await Self.expectNothingDropped(site, ["pin", url, bad], 64)
            }
            try await Self.expectNothingDropped(site, ["fetch", url, "-o", file], 73)
            try await Self.expectNothingDropped(site, ["fetch", url, "-o", site.directory.path], 73)
            try await Self.expectNothingDropped(site, ["fetch", url, "-o", "\(site.directory.path)/no/film.mp4"], 73)
            try await Self.expectNothingDropped(site, ["pin", "--for", "0s", url], 64)
            try await Self.expectNothingDropped(site, ["serve", "--host", "0.0.0.0"], 64)
            try await Self.expectNothingDropped(site, ["serve", "--port", "\(site.origin.port)"], 64)
            try await Self.expectNothingDropped(site, ["serve"], 64, environment: ["REPRISE_LIMIT": "lots"])
            #expect(site.origin.snapshot.requestCount == 1)
        }
    }

    @Test func aCacheInUseIsNotDroppedAndNotSaidToBe() async throws {
        try await Self.run { site, url async throws in
            try await Serving.run(
                ["--port", "0", "--cache-dir", site.directory.path], environment: Self.own
            ) { _ async throws in
                try await Self.expectNothingDropped(site, ["fetch", url], 75)
                try await Self.expectNothingDropped(site, ["pin", url], 75)
            }
        }
    }
}
