import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Downloads of two streams that list the same segments.
@Suite(.limit(minutes: 2)) struct SharedDownloadTests {
    private static let segments = ["/1.ts", "/2.ts", "/3.ts"]
    private static let length: Int64 = 90_000

    /// Two lists of the same three segments.
    private static func run(
        atOnce maximumDownloads: Int = 2,
        _ body: (Bench, _ one: MediaResource, _ other: MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.maximumDownloads = maximumDownloads
        }) { bench async throws in
            for name in ["/one.m3u8", "/other.m3u8"] {
                let lines = segments.map { "#EXTINF:4,\n\($0.dropFirst())" }
                let text = (["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines + ["#EXT-X-ENDLIST", ""])
                bench.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(text.joined(separator: "\n").utf8)), mediaType: "application/vnd.apple.mpegurl",
                        etag: "\"\(name)\""), at: name)
            }
            for (number, name) in segments.enumerated() {
                bench.publish(name, length: length, seed: UInt64(number))
            }
            try await body(
                bench, try bench.cache.resource(for: bench.origin.url("/one.m3u8")),
                try bench.cache.resource(for: bench.origin.url("/other.m3u8")))
        }
    }

    @Test("when one is removed, what is on its way belongs to the other alone, and goes with it")
    func oneIsRemoved() async throws {
        try await Self.run { bench, one, other async throws in
            for name in Self.segments { bench.origin.hold(name, at: 50_000) }
            try await bench.cache.downloads.add(one)
            await bench.origin.waitUntil { counters in Self.segments.allSatisfy { counters[$0].bodyBytesSent >= 50_000 }
            }
            try await bench.cache.downloads.add(other)
            let keys = Self.segments.compactMap { try? bench.cache.resource(for: bench.origin.url($0)).key }
            await eventually {
                keys.allSatisfy { bench.cache.engine.liveResource($0)?.liveGeneration?.workload.readers == 2 }
            }
            try await bench.cache.removeTitle(one.key)
            for name in Self.segments { bench.origin.release(name) }
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            let titles = try await bench.cache.titles()
            #expect(titles.map(\.key) == [other.key] && titles.first?.fileCount == 4)
            #expect(titles.first?.storedBytes == titles.first.map { _ in bench.cache.storedBytes })
            for name in Self.segments { #expect(bench.origin.snapshot[name].requestCount == 1, "\(name)") }
            try await bench.cache.removeTitle(other.key)
            #expect(try await bench.cache.entries().isEmpty)
            #expect(bench.cache.storedBytes == 0)
        }
    }

    @Test("one that begins while the other is removed counts nothing as stored that goes", arguments: 0..<6)
    func removedBeforeTheTurn(_: Int) async throws {
        try await Self.run(atOnce: 1) { bench, one, other async throws in
            bench.origin.hold("/3.ts", at: 50_000)
            try await bench.cache.downloads.add(one)
            await bench.origin.waitUntil { counters in counters["/3.ts"].bodyBytesSent >= 50_000 }
            try await bench.cache.downloads.add(other)
            async let removed = bench.cache.removeTitle(one.key)
            bench.origin.release("/3.ts")
            _ = try await removed
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            for name in Self.segments {
                let isCached = try await bench.cache.resource(for: bench.origin.url(name)).isCached
                #expect(isCached, "\(name)")
            }
            let titles = try await bench.cache.titles()
            #expect(titles.map(\.key) == [other.key] && titles.first?.fileCount == 4)
        }
    }
}
