import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Files that were stored for one stream, and that only the stored playlist of another one names, too.
@Suite(.limit(minutes: 2)) struct NamedByOthersTests {
    /// Two lists of the same three segments: of the kept one only the first was played, of the other, which has a tag,
    /// only the second and the third.
    private static func run(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            let segments = (1...3).map { "#EXTINF:4,\n\($0).ts" }
            for (name, listed) in [("/kept.m3u8", segments[..<2]), ("/other.m3u8", segments[...])] {
                let text = ["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + listed + ["#EXT-X-ENDLIST", ""]
                bench.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(text.joined(separator: "\n").utf8)), mediaType: "application/vnd.apple.mpegurl",
                        etag: "\"\(name)\""), at: name)
            }
            for number in 1...3 { bench.publish("/\(number).ts", length: 100_000) }
            for (name, title) in [
                ("/kept.m3u8", "/kept.m3u8"), ("/1.ts", "/kept.m3u8"), ("/other.m3u8", "/other.m3u8"),
                ("/2.ts", "/other.m3u8"), ("/3.ts", "/other.m3u8"),
            ] {
                let first = try bench.cache.resource(for: bench.origin.url(title))
                var resource = try bench.cache.resource(for: bench.origin.url(name))
                resource.titles = [TitleReference(key: first.key, url: first.url)]
                _ = try await resource.read().drain()
                if name == "/1.ts" { try await bench.cache.retain(first, as: .pinned) }
            }
            let other = try bench.cache.resource(for: bench.origin.url("/other.m3u8"))
            try await bench.cache.nameTitle(of: other, name: nil, tag: "news")
            try await body(bench)
        }
    }

    private static func names(_ cache: MediaCache) async throws -> [String] {
        try await cache.entries().map(\.url.lastPathComponent).sorted()
    }

    @Test("pruning a tag leaves them, and a forecast says so") func pruned() async throws {
        try await Self.run { bench async throws in
            let forecast = try await bench.cache.forecast(
                ofPruningTitlesTagged: "news", toSize: 0, olderThan: nil)
            #expect(forecast.entries == 2)
            let outcome = try await bench.cache.prunedTitles(tagged: "news", toSize: 0, olderThan: nil)
            #expect(outcome.freed == forecast.freedBytes)
            #expect(try await Self.names(bench.cache) == ["1.ts", "2.ts", "kept.m3u8"])
        }
    }

    @Test("so does eviction", arguments: [false, true]) func evicted(byAge: Bool) async throws {
        try await Self.run { bench async throws in
            let age: Duration? = byAge ? .zero : nil
            let forecast = try await bench.cache.forecast(ofPruningToSize: byAge ? nil : 0, olderThan: age)
            #expect(Set(forecast.urls.map(\.lastPathComponent)) == ["3.ts", "other.m3u8"])
            _ = await bench.cache.prune(toSize: byAge ? nil : 0, olderThan: age)
            #expect(try await Self.names(bench.cache) == ["1.ts", "2.ts", "kept.m3u8"])
        }
    }

    @Test("so does the limit of a tag") func limited() async throws {
        try await Self.run { bench async throws in
            try await bench.cache.setLimit(50_000, forTag: "news")
            await bench.cache.becomeIdle()
            #expect(try await Self.names(bench.cache).contains("2.ts"))
            #expect(try await !Self.names(bench.cache).contains("3.ts"))
        }
    }
}
