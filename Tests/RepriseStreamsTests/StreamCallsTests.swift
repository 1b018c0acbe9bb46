import Foundation
import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// What `isCached` and `remove` mean of the URL of a stream.
@Suite(.limit(minutes: 2)) struct StreamCallsTests {
    private static func publish(_ text: String, at path: String, _ bench: Bench) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"\(path)\"",
                fields: [.cacheControl: "max-age=600"]), at: path)
    }

    /// Two streams of one variant, `/one.m3u8` with the segments 1 and 2, and `/two.m3u8` with 2 and 3.
    private static func run(
        downloadsStreams: Bool = true, _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.run(configure: { $0.downloadsStreams = downloadsStreams }) { bench async throws in
            for (name, segments) in [("one", 1...2), ("two", 2...3)] {
                publish("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(name)-list.m3u8\n", at: "/\(name).m3u8", bench)
                let lines = segments.map { "#EXTINF:4,\n\($0).ts\n" }.joined()
                publish(
                    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n", at: "/\(name)-list.m3u8", bench)
            }
            for number in 1...3 { bench.publish("/\(number).ts", length: 50_000, type: "video/mp2t") }
            try await body(bench)
        }
    }

    /// Reads files as those of the stream at `/NAME.m3u8`, and notes that they are, as the proxy does.
    private static func play(
        _ paths: [String], of name: String, _ bench: Bench, partition: String? = nil
    ) async throws {
        let first = try bench.cache.resource(for: bench.origin.url("/\(name).m3u8"), partition: partition)
        var keys: [CacheKey] = []
        for path in ["/\(name).m3u8"] + paths {
            let resource = try bench.cache.resource(for: bench.origin.url(path), partition: partition)
            _ = try await resource.read().drain()
            keys.append(resource.key)
        }
        await bench.cache.becomeIdle()
        await bench.cache.flush()
        bench.cache.note(keys, in: TitleReference(key: first.key, url: first.url))
    }

    private static func url(_ path: String, _ bench: Bench) throws -> URL {
        try #require(URL(string: bench.origin.url(path)))
    }

    private static func names(_ cache: MediaCache) async throws -> [String] {
        try await cache.entries().map(\.url.lastPathComponent).sorted()
    }

    @Test("a stream is cached when all segments of a variant are", arguments: [nil, "anna"])
    func cached(partition: String?) async throws {
        try await Self.run { bench async throws in
            let url = try Self.url("/one.m3u8", bench)
            let stream = try bench.cache.resource(for: url, partition: partition)
            try await Self.play(["/one-list.m3u8", "/1.ts"], of: "one", bench, partition: partition)
            #expect(await !bench.cache.isCached(url, partition: partition))
            #expect(await !stream.isCached)
            try await Self.play(["/2.ts"], of: "one", bench, partition: partition)
            #expect(await bench.cache.isCached(url, partition: partition))
            #expect(await stream.isCached)
            #expect(await bench.cache.isCached(url) == (partition == nil))
        }
    }

    @Test("a stream goes with the segments that belong to no other one") func removed() async throws {
        try await Self.run { bench async throws in
            try await Self.play(["/one-list.m3u8", "/1.ts", "/2.ts"], of: "one", bench)
            try await Self.play(["/two-list.m3u8", "/2.ts", "/3.ts"], of: "two", bench)
            let before = bench.cache.storedBytes
            let freed = try await bench.cache.remove(Self.url("/one.m3u8", bench))
            #expect(freed > 50_000)
            #expect(bench.cache.storedBytes == before - freed)
            #expect(try await Self.names(bench.cache) == ["2.ts", "3.ts", "two-list.m3u8", "two.m3u8"])
            #expect(await bench.cache.isCached(try Self.url("/two.m3u8", bench)))
            #expect(try await bench.cache.remove(Self.url("/3.ts", bench)) == 50_000)
            #expect(await !bench.cache.isCached(try Self.url("/two.m3u8", bench)))
        }
    }

    @Test("without downloadsStreams a playlist is a file") func files() async throws {
        try await Self.run(downloadsStreams: false) { bench async throws in
            try await Self.play(["/one-list.m3u8", "/1.ts"], of: "one", bench)
            #expect(await bench.cache.isCached(try Self.url("/one.m3u8", bench)))
            try await bench.cache.remove(Self.url("/one.m3u8", bench))
            #expect(try await Self.names(bench.cache) == ["1.ts", "one-list.m3u8"])
        }
    }
}
