import Foundation
import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// When a download counts as used: when a person asks for it or plays it, not when it looks at what it has.
@Suite(.limit(minutes: 2)) struct DownloadUseTests {
    private static let day = Duration.seconds(86_400)

    private static func run(_ body: (Bench, ShiftableClock) async throws -> Void) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.clock = clock.cacheClock
        }) { bench async throws in
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
            bench.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"1\""),
                at: "/list.m3u8")
            for name in ["/1.ts", "/2.ts"] { bench.publish(name, length: 100_000) }
            try await body(bench, clock)
        }
    }

    /// When the files were used last, by the last components of their URLs.
    private static func uses(_ cache: MediaCache) async throws -> [String: Date] {
        let entries = try await cache.entries()
        return Dictionary(entries.map { ($0.url.lastPathComponent, $0.lastUsed) }) { first, _ in first }
    }

    private static func download(_ bench: Bench, _ cache: MediaCache) async throws {
        try await cache.downloads.add(cache.resource(for: bench.origin.url("/list.m3u8")))
        let download = try await cache.endedDownload()
        guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
    }

    @Test("opening the cache is no use of what was downloaded, playing it is") func opened() async throws {
        try await Self.run { bench, clock async throws in
            try await Self.download(bench, bench.cache)
            let before = try await Self.uses(bench.cache)
            #expect(before.count == 3)
            clock.shift(by: Self.day)
            try await bench.reopened(configure: {
                $0.downloadsStreams = true
                $0.clock = clock.cacheClock
            }) { cache async throws in
                try await cache.endedDownload()
                #expect(try await Self.uses(cache) == before)
                _ = try await cache.resource(for: bench.origin.url("/1.ts")).read().drain()
                let after = try await Self.uses(cache)
                for (name, date) in before { #expect((after[name] != date) == (name == "1.ts"), "\(name)") }
            }
        }
    }

    @Test("what a download completes was used then") func completed() async throws {
        try await Self.run { bench, clock async throws in
            let segment = try bench.cache.resource(for: bench.origin.url("/1.ts"))
            _ = try await segment.read(.bounded(0..<1000)).drain()
            let before = try #require(try await Self.uses(bench.cache)["1.ts"])
            clock.shift(by: Self.day)
            try await Self.download(bench, bench.cache)
            let after = try #require(try await Self.uses(bench.cache)["1.ts"])
            #expect(after.timeIntervalSince(before) >= 86_400)
        }
    }

    @Test("a person who downloads a stored stream again uses it") func askedAgain() async throws {
        try await Self.run { bench, clock async throws in
            try await Self.download(bench, bench.cache)
            let before = try await Self.uses(bench.cache)
            clock.shift(by: Self.day)
            try await Self.download(bench, bench.cache)
            let after = try await Self.uses(bench.cache)
            for (name, date) in before { #expect((after[name] != date) == (name == "list.m3u8"), "\(name)") }
        }
    }
}
