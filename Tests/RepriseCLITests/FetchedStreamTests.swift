import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `fetch` of streams: whole, and not kept.
@Suite(.limit(minutes: 3)) struct FetchedStreamTests {
    private struct Report: Decodable {
        let state: String
        let bytes, fromStore, total: Int64?
        let storedFiles, files: Int?
    }

    private static func run(isServing: Bool = false, _ body: (Site, String) async throws -> Void) async throws {
        try await Site.run { site async throws in
            // A type that says nothing: the first bytes decide.
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ns1.ts\n#EXTINF:4,\ns2.ts\n#EXT-X-ENDLIST\n"
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: "text/plain", fields: [.cacheControl: "max-age=600"]),
                at: "/show.m3u8")
            for name in ["/s1.ts", "/s2.ts"] { site.publish(name, length: 300_000) }
            let url = site.origin.url("/show.m3u8")
            guard isServing else { return try await body(site, url) }
            try await Serving.run(site.directory) { _ async throws in try await body(site, url) }
        }
    }

    /// What `list` says of how the stream is kept, and whether it plays without the origin.
    private static func kept(_ site: Site) async throws -> [String] {
        let list = try await Command.run("list", site.directory, ["--json"])
        return try Command.json(Entry.self, list).map { "\($0.kept ?? "cached") \($0.complete)" }
    }

    @Test("all files are fetched and none is kept, beside a server, too", arguments: [false, true])
    func whole(isServing: Bool) async throws {
        try await Self.run(isServing: isServing) { site, url async throws in
            let first = try await Command.run("fetch", site.directory, [url])
            #expect(first.exit == .status(0) && first.output.hasPrefix("show.m3u8  600 kB: "), "\(first)")
            #expect(try await Self.kept(site) == ["cached true"])
            #expect(try await Command.run("downloads", site.directory).output.hasPrefix("There are no downloads."))
            let before = await site.origin.settledSnapshot().requestCount
            let json = try await Command.run("fetch", site.directory, ["--json", url])
            let report = try #require(try Command.json(Report.self, json).last)
            #expect(report.state == "done" && report.storedFiles == report.files && report.files == 3, "\(json)")
            #expect(report.fromStore == report.bytes && report.bytes ?? 0 > 600_000, "\(json)")
            #expect(await site.origin.settledSnapshot().requestCount == before)
        }
    }

    @Test("the playlist counts as fetched, and its length is not that of the stream", arguments: [false, true])
    func amounts(isServing: Bool) async throws {
        try await Self.run(isServing: isServing) { site, url async throws in
            let json = try await Command.run("fetch", site.directory, ["--json", url])
            let report = try #require(try Command.json(Report.self, json).last)
            #expect(report.fromStore == 0 && report.bytes ?? 0 > 600_000, "\(json)")
            #expect(report.total ?? .max >= report.bytes ?? 0, "\(json)")
        }
    }

    @Test("a stream that was kept before stays so", arguments: ["pin", "download"])
    func keptBefore(command: String) async throws {
        try await Self.run { site, url async throws in
            #expect(try await Command.run(command, site.directory, [url]).exit == .status(0))
            let fetched = try await Command.run("fetch", site.directory, [url])
            #expect(fetched.exit == .status(0), "\(fetched)")
            #expect(try await Self.kept(site) == [command == "pin" ? "pinned true" : "download true"])
        }
    }

    @Test("one that is interrupted is not kept, and the next run goes on", arguments: [false, true])
    func interrupted(isServing: Bool) async throws {
        try await Self.run(isServing: isServing) { site, url async throws in
            site.origin.hold("/s2.ts", at: 100_000)
            let child = try ChildProcess(
                Command.path, ["fetch", "--cache-dir", site.directory.path, url], environment: Command.environment())
            await site.origin.waitUntil { $0["/s2.ts"].bodyBytesSent >= 100_000 }
            child.send(SIGTERM)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(SIGTERM), "\(outcome)")
            #expect(outcome.errors.contains("Run the same command again to go on."), "\(outcome)")
            #expect(try await Self.kept(site) == ["cached false"])
            site.origin.release("/s2.ts")
            let again = try await Command.run("fetch", site.directory, [url])
            #expect(again.exit == .status(0), "\(again)")
            #expect(try await Self.kept(site) == ["cached true"])
        }
    }

    @Test("a stream of which a segment is missing is an error, and is not kept") func missing() async throws {
        try await Self.run { site, url async throws in
            site.origin.removeResource(at: "/s2.ts")
            let outcome = try await Command.run("fetch", site.directory, [url])
            #expect(outcome.exit == .status(69) && outcome.output.isEmpty, "\(outcome)")
            #expect(try await Self.kept(site) == ["cached false"])
        }
    }
}
