import Playlists
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

@Suite("Titles that play without the origin", .limit(minutes: 1)) struct StoredTitlesTests {
    private static func publish(_ text: String, at path: String, _ bench: Bench) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl",
                fields: [.cacheControl: "max-age=600"]), at: path)
    }

    private static func list(_ name: String, isLive: Bool = false) -> String {
        let segments = (0..<3).map { "#EXTINF:4,\n\(name)\($0).ts\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)" + (isLive ? "" : "#EXT-X-ENDLIST\n")
    }

    /// A stream of one variant under `/NAME/`.
    private static func publishStream(_ name: String, isLive: Bool = false, _ bench: Bench) {
        publish("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n", at: "/\(name)/main.m3u8", bench)
        publish(list("s", isLive: isLive), at: "/\(name)/list.m3u8", bench)
        for number in 0..<3 { bench.publish("/\(name)/s\(number).ts", length: 5_000, type: "video/mp2t") }
    }

    private static func play(
        _ name: String, segments: Range<Int> = 0..<3, partition: String? = nil, _ bench: Bench
    ) async throws {
        let paths = ["main.m3u8", "list.m3u8"] + segments.map { "s\($0).ts" }
        for path in paths {
            let url = bench.origin.url("/\(name)/\(path)")
            _ = try await bench.cache.resource(for: url, partition: partition).read().drain()
        }
    }

    private static func paths(_ titles: [Title]) -> Set<String> {
        Set(titles.map { "/" + $0.url.description.split(separator: "/").dropFirst(2).joined(separator: "/") })
    }

    @Test("segments that are recorded as files of no title are none themselves if a named playlist lists them")
    func segmentsOfANamedPlaylist() async throws {
        try await Bench.run { bench async throws in
            Self.publishStream("old", bench)
            let list = try bench.cache.resource(for: bench.origin.url("/old/list.m3u8"))
            try await bench.cache.nameTitle(of: list, name: "Old", tag: nil)
            for path in ["list.m3u8", "s0.ts", "s1.ts", "s2.ts"] { _ = try await bench.bytes("/old/\(path)") }
            bench.publish("/whole.mp4", length: 9_000)
            _ = try await bench.bytes("/whole.mp4")
            await bench.cache.becomeIdle()
            #expect(Self.paths(try await bench.cache.titles(complete: true)) == ["/old/list.m3u8", "/whole.mp4"])
        }
    }

    @Test("files that are whole, and streams of which a variant is; also of a partition")
    func complete() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/whole.mp4", length: 9_000)
            bench.publish("/part.mp4", length: 9_000)
            for name in ["whole", "part", "live", "mine"] { Self.publishStream(name, isLive: name == "live", bench) }
            _ = try await bench.bytes("/whole.mp4")
            _ = try await bench.bytes("/part.mp4", .bounded(0..<5_000))
            try await Self.play("whole", bench)
            try await Self.play("part", segments: 0..<2, bench)
            try await Self.play("live", bench)
            try await Self.play("mine", partition: "me", bench)
            await bench.cache.becomeIdle()
            let complete = try await bench.cache.titles(complete: true)
            #expect(Self.paths(complete) == ["/whole.mp4", "/whole/main.m3u8", "/mine/main.m3u8"])
            let incomplete = try await bench.cache.titles(complete: false)
            #expect(Self.paths(incomplete) == ["/part.mp4", "/part/main.m3u8", "/live/main.m3u8"])
            #expect(complete.first?.url.lastPathComponent == "main.m3u8", "the most recently used comes first")
            _ = try await bench.bytes("/part/s2.ts")
            await bench.cache.becomeIdle()
            #expect(Self.paths(try await bench.cache.titles(complete: true)).contains("/part/main.m3u8"))
        }
    }

    @Test(
        "a stream whose sound has files of its own is complete only with all of one of them", arguments: [false, true])
    func soundApart(isDASH: Bool) async throws {
        try await Bench.run { bench async throws in
            let first = isDASH ? "/film.mpd" : "/main.m3u8"
            if isDASH {
                let sets = ["video", "audio"].map { kind in
                    """
                    <AdaptationSet contentType="\(kind)"><SegmentTemplate media="\(kind)$Number$.ts" duration="4"
                    startNumber="0"/><Representation id="\(kind)" bandwidth="1"/></AdaptationSet>
                    """
                }
                let text =
                    "<MPD type=\"static\" mediaPresentationDuration=\"PT12S\"><Period>\(sets.joined())</Period></MPD>"
                bench.origin.set(
                    TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "application/dash+xml"), at: first)
            } else {
                let media = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",URI=\"audio.m3u8\"\n"
                let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nvideo.m3u8\n"
                Self.publish("#EXTM3U\n\(media)\(variant)", at: first, bench)
                for name in ["video", "audio"] { Self.publish(Self.list(name), at: "/\(name).m3u8", bench) }
            }
            let segments = ["video", "audio"].flatMap { name in (0..<3).map { "/\(name)\($0).ts" } }
            for path in segments { bench.publish(path, length: 5_000, type: "video/mp2t") }
            let lists = isDASH ? [first] : [first, "/video.m3u8", "/audio.m3u8"]
            for path in lists + segments.dropLast() { _ = try await bench.bytes(path) }
            await bench.cache.becomeIdle()
            #expect(Self.paths(try await bench.cache.titles(complete: false)).contains(first))
            #expect(Self.paths(try await bench.cache.titles(complete: true)).isEmpty)
            _ = try await bench.bytes("/audio2.ts")
            await bench.cache.becomeIdle()
            #expect(Self.paths(try await bench.cache.titles(complete: true)).contains(first))
        }
    }

    @Test("without a store there are none")
    func withoutStore() async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            #expect(try await bench.cache.titles(complete: true).isEmpty)
        }
    }

    // MARK: - Cost

    /// Reads of the index that it takes to see how much of a title is stored once its playlists were read.
    private static func reads(variants: Int, segments: Int) async throws -> Int? {
        var counts: [Int] = []
        try await Bench.run { bench async throws in
            let names = (0..<variants).map { "/show/\($0).m3u8" }
            let main = names.enumerated().map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\n\($1)\n" }.joined()
            publish("#EXTM3U\n\(main)", at: "/show/main.m3u8", bench)
            let ranges = (0..<segments).map { "#EXT-X-BYTERANGE:10@\($0 * 10)\n#EXTINF:4,\nall.ts\n" }.joined()
            for name in names {
                let others = (0..<segments).map { "#EXTINF:4,\n\(name)-\($0).ts\n" }.joined()
                publish("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(ranges)\(others)#EXT-X-ENDLIST\n", at: name, bench)
            }
            bench.publish("/show/all.ts", length: 1_000_000, type: "video/mp2t")
            let first = try bench.cache.resource(for: bench.origin.url("/show/main.m3u8"))
            for path in ["/show/main.m3u8"] + names {
                var resource = try bench.cache.resource(for: bench.origin.url(path))
                resource.titles = [TitleReference(key: first.key, url: first.url)]
                _ = try await resource.read().drain()
            }
            _ = try await bench.cache.resource(for: bench.origin.url("/show/all.ts")).read(0..<10_000).drain()
            await bench.cache.flush()
            let inspector = try #require(await bench.cache.inspector())
            let title = try #require(try inspector.title(of: first.key))
            await bench.cache.upkeep.settle()
            for _ in 0..<4 {
                let before = bench.cache.indexReadCount
                let tracks = try StoredTitle(title, inspector, policy: .url).outline?.tracks ?? []
                counts.append(bench.cache.indexReadCount - before)
                #expect(tracks.count == variants)
                #expect(tracks.allSatisfy { $0.segmentCount == 2 * segments && $0.storedSegments == segments })
            }
        }
        // The first one reads the playlists. What a cache does when it is opened may read the index, too.
        return counts.dropFirst().min()
    }

    @Test("how much of a title is stored takes as many reads of the index for long playlists as for short ones")
    func cost() async throws {
        let short = try #require(try await Self.reads(variants: 3, segments: 10))
        #expect((1...6).contains(short), "\(short)")
        #expect(try await Self.reads(variants: 3, segments: 1000) == short)
        #expect(try await Self.reads(variants: 9, segments: 10) == short, "playlists are remembered")
    }

    @Test("the share of a stream is unknown if its MPD stands for more segments than are looked up")
    func beyondTheBudget() async throws {
        try await Bench.run { bench async throws in
            let template = "<SegmentTemplate media='$RepresentationID$-$Number$' duration='1'/>"
            let representations = (0..<20).map { "<Representation id='\($0)'/>" }.joined()
            let set = "<AdaptationSet>\(template)\(representations)</AdaptationSet>"
            let mpd = "<MPD mediaPresentationDuration='PT90000S'><Period>\(set)</Period></MPD>"
            bench.origin.set(
                TestOrigin.Resource(.bytes(Array(mpd.utf8)), mediaType: "application/dash+xml"), at: "/huge.mpd")
            _ = try await bench.bytes("/huge.mpd")
            await bench.cache.flush()
            let inspector = try #require(await bench.cache.inspector())
            let entry = try #require(try inspector.entries().first)
            await bench.cache.upkeep.settle()
            var counts: [Int] = []
            for _ in 0..<3 {
                let before = bench.cache.indexReadCount
                let files = try StoredFiles(inspector, policy: .url, title: entry.key)
                let outline = try #require(StreamOutline(entry, in: files))
                #expect(outline.obstacle != nil && outline.storedShare == nil && outline.format == .dash)
                counts.append(bench.cache.indexReadCount - before)
            }
            #expect(counts.min() ?? .max <= 4, "no segment is looked up: \(counts)")
        }
    }
}
