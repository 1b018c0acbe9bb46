import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Removal of streams whose playlists name the same files.
@Suite(.limit(minutes: 2)) struct SharedFilesTests {
    /// Two streams with the same picture and sound in two languages, each downloaded in one language.
    private static func run(
        configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (Bench, _ english: MediaResource, _ german: MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            configure(&$0)
        }) { bench async throws in
            for name in ["one", "two"] { publish(master, at: "/\(name).m3u8", bench) }
            for name in ["video", "en", "de"] {
                let segments = (1...3).map { "\(name)\($0).ts" }
                let lines = segments.map { "#EXTINF:4,\n\($0)\n" }.joined()
                publish("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n", at: "/\(name).m3u8", bench)
                for segment in segments { bench.publish("/\(segment)", length: 10_000, type: "video/mp2t") }
            }
            let english = try bench.cache.resource(for: bench.origin.url("/one.m3u8"))
            let german = try bench.cache.resource(for: bench.origin.url("/two.m3u8"))
            for (resource, language) in [(english, "en"), (german, "de")] {
                let operation = DownloadOperation(
                    url: resource.url.description, quality: nil, codec: nil, audio: language, subtitles: nil,
                    pause: nil, names: Names())
                #expect(try await operation.run(in: bench.cache) { _ in }.failure == nil)
            }
            try await body(bench, english, german)
        }
    }

    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",URI="de.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
        video.m3u8

        """

    private static func publish(_ text: String, at path: String, _ bench: Bench) {
        bench.origin.set(
            TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl"), at: path)
    }

    /// The number of files of each title, as the index has it and as `list` counts it.
    private static func counts(_ cache: MediaCache) async throws -> (recorded: [Int], listed: [Int]) {
        let listed = try await cache.inspecting { inspector in
            try StoredTitle.compactMap(inspector, policy: .url) { ($0.title.url.description, $0.fileCount) }
        }
        let recorded = try await cache.titles().map { ($0.url.description, $0.fileCount) }
        func sorted(_ counts: [(String, Int)]) -> [Int] { counts.sorted { $0.0 < $1.0 }.map(\.1) }
        return (sorted(recorded), sorted(listed ?? []))
    }

    @Test("files that the other stream names, and did not choose, stay; a dry run says so and changes nothing")
    func streamsThatShare() async throws {
        try await Self.run { bench, english, german async throws in
            let before = try await Self.counts(bench.cache)
            #expect(before.listed == [13, 13])
            for resource in [english, german, english] {
                var operation = RemoveOperation(urls: [resource.url.description])
                operation.dry = true
                let forecast = try await operation.run(in: bench.cache) { _ in }
                #expect(forecast.entries == 1, "only its outermost playlist is named by no other stream")
            }
            let after = try await Self.counts(bench.cache)
            #expect(after.recorded == before.recorded && after.listed == before.listed)
            let removal = RemoveOperation(urls: [german.url.description])
            let outcome = try await removal.run(in: bench.cache) { _ in }
            #expect(outcome.entries == 1)
            let left = try await Self.counts(bench.cache)
            #expect(left.recorded == [13] && left.listed == [13])
            let last = try await RemoveOperation(urls: [english.url.description]).run(in: bench.cache) { _ in }
            #expect(last.entries == 13)
            let rest = try await bench.cache.entries()
            #expect(rest.isEmpty)
        }
    }

    @Test("an app that removes a title leaves them, too", arguments: [true, false])
    func removedByAnApp(asDownload: Bool) async throws {
        try await Self.run { bench, _, german async throws in
            if asDownload {
                try await bench.cache.downloads.remove(german.key)
            } else {
                try await bench.cache.removeTitle(german.key)
            }
            let left = try await Self.counts(bench.cache)
            #expect(left.recorded == [13] && left.listed == [13])
        }
    }

    @Test("both together take all of it") func bothTogether() async throws {
        try await Self.run { bench, english, german async throws in
            let urls = [english, german].map(\.url.description)
            var operation = RemoveOperation(urls: urls)
            operation.dry = true
            let forecast = try await operation.run(in: bench.cache) { _ in }
            operation.dry = nil
            let outcome = try await operation.run(in: bench.cache) { _ in }
            #expect(forecast.entries == 14 && outcome.entries == 14)
            #expect(forecast.freedBytes == outcome.freedBytes)
        }
    }
}
