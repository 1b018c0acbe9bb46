import HTTPTypes
import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// What of a stream is preloaded, and in which order.
@Suite(.limit(minutes: 2)) struct StreamPreloadTests {
    private static func text(_ lines: String...) -> String { (["#EXTM3U"] + lines + [""]).joined(separator: "\n") }

    /// A list that has ended, of segments of four seconds.
    private static func media(_ names: [String], _ more: String..., isLive: Bool = false) -> String {
        let segments = names.flatMap { $0.hasPrefix("#") ? [$0] : ["#EXTINF:4,", $0] }
        return (["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + more + segments + (isLive ? [""] : ["#EXT-X-ENDLIST", ""]))
            .joined(separator: "\n")
    }

    private static func publish(
        _ text: String, at path: String, _ bench: Bench, type: String = "application/vnd.apple.mpegurl",
        control: String? = nil
    ) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)), mediaType: type,
                personality: TestOrigin.Personality { $0.fields[.cacheControl] = control }), at: path)
    }

    /// Preloads `amount` of the stream at `path`; returns the paths asked for, in order, with their ranges.
    private static func preload(_ amount: PreloadAmount, of path: String, _ bench: Bench) async throws -> [String] {
        let before = await bench.origin.settledSnapshot().requestCount
        try await bench.cache.resource(for: bench.origin.url(path)).preload(amount)
        return await bench.origin.settledSnapshot().requests.dropFirst(before).map { request in
            let range = request.fields.first { $0.name == .range }?.value
            return request.path + (range.map { " " + $0.dropFirst("bytes=".count) } ?? "")
        }
    }

    private static func run(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            for name in ["a", "b", "s"] {
                for number in 1...5 { bench.publish("/\(name)\(number).ts", length: 50_000, seed: UInt64(number)) }
            }
            try await body(bench)
        }
    }

    /// Several variants with sound apart, and subtitles that are not on.
    private static func publishVariants(_ bench: Bench) {
        publish(
            text(
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"English\",DEFAULT=YES,URI=\"a.m3u8\"",
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"Deutsch\",URI=\"s.m3u8\"",
                "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"t\",NAME=\"English\",URI=\"t.m3u8\"",
                "#EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,AUDIO=\"g\",SUBTITLES=\"t\"", "b.m3u8",
                "#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=1920x1080,AUDIO=\"g\",SUBTITLES=\"t\"", "s.m3u8"),
            at: "/all.m3u8", bench)
        for name in ["a", "b", "s"] {
            publish(media((1...5).map { "\(name)\($0).ts" }), at: "/\(name).m3u8", bench)
        }
    }

    @Test("the first variant and the default sound, in the order in which they play, and nothing twice")
    func variants() async throws {
        try await Self.run { bench async throws in
            Self.publishVariants(bench)
            let lists = ["/all.m3u8", "/b.m3u8", "/a.m3u8"]
            let paths = try await Self.preload(.seconds(6), of: "/all.m3u8", bench)
            #expect(paths == lists + ["/b1.ts", "/a1.ts", "/b2.ts", "/a2.ts"])
            // A list of playlists is asked again each time; nothing else is.
            let again = try await Self.preload(.seconds(9), of: "/all.m3u8", bench)
            #expect(again.filter { $0.contains(".ts") } == ["/b3.ts", "/a3.ts"])
            let titles = try await bench.cache.titles()
            #expect(titles.map(\.fileCount) == [9])
        }
    }

    @Test(
        "amounts of one playlist",
        arguments: [
            (.seconds(4), 1), (.seconds(4.1), 2), (.segments(3), 3), (.seconds(1000), 5), (.all, 5), (.bytes(1), 1),
        ] as [(PreloadAmount, Int)])
    func amounts(_ amount: PreloadAmount, count: Int) async throws {
        try await Self.run { bench async throws in
            Self.publish(Self.media((1...5).map { "a\($0).ts" }), at: "/a.m3u8", bench)
            #expect(
                try await Self.preload(amount, of: "/a.m3u8", bench).filter { $0.contains(".ts") }
                    == (1...count).map { "/a\($0).ts" })
        }
    }

    @Test("bytes of a variant are segments of its bit rate")
    func bytes() async throws {
        try await Self.run { bench async throws in
            Self.publishVariants(bench)
            // 50,000 bytes a segment of the variant that was chosen.
            let paths = try await Self.preload(.bytes(120_000), of: "/all.m3u8", bench)
            #expect(paths.filter { $0.contains("/b") && $0.contains(".ts") } == ["/b1.ts", "/b2.ts", "/b3.ts"])
        }
    }

    @Test("byte ranges are fetched as such, with the initialization section first")
    func ranges() async throws {
        try await Self.run { bench async throws in
            bench.publish("/film.mp4", length: 500_000)
            Self.publish(
                Self.media(
                    [
                        "#EXT-X-BYTERANGE:10000@1000", "film.mp4", "#EXT-X-BYTERANGE:10000", "film.mp4",
                        "#EXT-X-BYTERANGE:10000", "film.mp4",
                    ], "#EXT-X-MAP:URI=\"film.mp4\",BYTERANGE=\"1000@0\""), at: "/a.m3u8", bench)
            #expect(
                try await Self.preload(.seconds(7), of: "/a.m3u8", bench).filter { $0.contains("mp4") }
                    == ["/film.mp4 0-999", "/film.mp4 1000-10999", "/film.mp4 11000-20999"])
        }
    }

    @Test("an origin that ignores ranges sends each file once, also where two take turns (RFC 9110 §14.2)")
    func rangesOfFilesWithoutRanges() async throws {
        try await Bench.run(
            sendBufferSize: 64 << 10,
            configure: {
                $0.downloadsStreams = true
                $0.linger = .zero
            }
        ) { bench async throws in
            Self.publishVariants(bench)
            for name in ["a", "b"] {
                bench.publish("/\(name).mp4", length: 10_000_000) { $0.ignoresRange = true }
                let segments = (0..<3).flatMap { ["#EXT-X-BYTERANGE:50000@\($0 * 200_000)", "\(name).mp4"] }
                Self.publish(Self.media(segments), at: "/\(name).m3u8", bench)
            }
            let paths = try await Self.preload(.seconds(12), of: "/all.m3u8", bench)
            #expect(paths.filter { $0.contains(".mp4") } == ["/b.mp4 0-49999", "/a.mp4 0-49999"])
            for name in ["a", "b"] {
                let file = try bench.cache.resource(for: bench.origin.url("/\(name).mp4"))
                let stored = await file.storedProgress().ranges
                #expect(stored.contains(0..<450_000) && stored.byteCount < 5_000_000, "\(stored)")
            }
        }
    }

    @Test(
        "playback begins where the playlist says, also from its end, and gaps are not fetched",
        arguments: [
            ("#EXT-X-START:TIME-OFFSET=9", [3, 4]), ("#EXT-X-START:TIME-OFFSET=-5", [4, 5]),
            ("#EXT-X-START:TIME-OFFSET=-1000", [1, 2]), ("#EXT-X-START:TIME-OFFSET=1000", [5]),
        ])
    func start(tag: String, numbers: [Int]) async throws {
        try await Self.run { bench async throws in
            Self.publish(Self.media((1...5).map { "a\($0).ts" }, tag), at: "/a.m3u8", bench)
            #expect(
                try await Self.preload(.seconds(5), of: "/a.m3u8", bench).filter { $0.contains(".ts") }
                    == numbers.map { "/a\($0).ts" })
            Self.publish(
                Self.media(["#EXT-X-GAP", "s1.ts", "s2.ts", "s3.ts"]), at: "/gap.m3u8", bench)
            #expect(
                try await Self.preload(.seconds(7), of: "/gap.m3u8", bench).filter { $0.contains(".ts") }
                    == ["/s2.ts"])
        }
    }

    @Test("a key is stored where its origin allows it, and asked by the player where not", arguments: [true, false])
    func key(mayBeStored: Bool) async throws {
        try await Self.run { bench async throws in
            Self.publish(
                Self.media(["a1.ts"], "#EXT-X-KEY:METHOD=AES-128,URI=\"/key\""), at: "/a.m3u8", bench)
            Self.publish(
                "sixteen bytes...", at: "/key", bench, type: "application/octet-stream",
                control: mayBeStored ? "max-age=60" : "no-store")
            let paths = try await Self.preload(.seconds(4), of: "/a.m3u8", bench)
            #expect(paths.suffix(2) == ["/key", "/a1.ts"])
            #expect(try await bench.cache.entries().contains { $0.url.target == "/key" } == mayBeStored)
        }
    }

    @Test("a live stream and one that is protected are refused before any segment")
    func refused() async throws {
        try await Self.run { bench async throws in
            Self.publish(Self.media(["a1.ts"], isLive: true), at: "/live.m3u8", bench)
            Self.publish(
                Self.media(
                    ["a1.ts"],
                    "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.apple.streamingkeydelivery\""),
                at: "/protected.m3u8", bench)
            for path in ["/live.m3u8", "/protected.m3u8"] {
                let error = await #expect(throws: RepriseError.self) {
                    try await bench.cache.resource(for: bench.origin.url(path)).preload(.seconds(5))
                }
                #expect(error?.code == .notDownloadable)
            }
            #expect(!bench.origin.snapshot.requests.contains { $0.path.hasSuffix(".ts") })
        }
    }

    @Test("the fields of the stream go to its host only")
    func foreignHost() async throws {
        try await Self.run { bench async throws in
            let other = try await TestOrigin.start()
            other.set(TestOrigin.Resource(.pattern(seed: 1, length: 1000), mediaType: "video/mp2t"), at: "/x.ts")
            Self.publish(Self.media(["a1.ts", other.url("/x.ts")]), at: "/a.m3u8", bench)
            let stream = try bench.cache.resource(
                for: bench.origin.url("/a.m3u8"), fields: [.authorization: "Bearer secret"])
            try await stream.preload(.all)
            let own = bench.origin.snapshot.requests.map { $0.fields.contains { $0.name == .authorization } }
            #expect(own.allSatisfy { $0 } && own.count >= 2)
            #expect(other.snapshot.requests.map { $0.fields.contains { $0.name == .authorization } } == [false])
            await other.stop()
        }
    }

    @Test("an MPD: initialization sections and segments of each kind, into the next period")
    func dash() async throws {
        try await Self.run { bench async throws in
            func set(_ type: String, _ name: String) -> String {
                """
                <AdaptationSet contentType="\(type)"><SegmentTemplate media="\(name)$Number$.ts" \
                initialization="\(name)5.ts" duration="4"/><Representation id="\(name)" bandwidth="100000"/>\
                </AdaptationSet>
                """
            }
            Self.publish(
                """
                <MPD type="static" mediaPresentationDuration="PT24S"><Period duration="PT8S">\
                \(set("video", "a"))\(set("audio", "b"))</Period><Period duration="PT16S">\(set("video", "s"))\
                </Period></MPD>
                """, at: "/show.mpd", bench, type: "application/dash+xml")
            #expect(
                try await Self.preload(.seconds(10), of: "/show.mpd", bench).filter { $0.contains(".ts") }
                    == ["/a5.ts", "/a1.ts", "/b5.ts", "/b1.ts", "/a2.ts", "/b2.ts", "/s5.ts", "/s1.ts"])
        }
    }

    @Test("the beginning of a stream stays: its lists and first segments, of the others nothing")
    func kept() async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.limit = 9 << 20
        }) { bench async throws in
            for number in 1...5 { bench.publish("/a\(number).ts", length: 1 << 20, seed: UInt64(number)) }
            for name in ["/x", "/y"] { bench.publish(name, length: 4 << 20) }
            Self.publish(Self.media((1...5).map { "a\($0).ts" }), at: "/a.m3u8", bench)
            let stream = try bench.cache.resource(for: bench.origin.url("/a.m3u8"))
            try await bench.cache.retain(stream, as: .first(.seconds(6)))
            for number in 3...5 { _ = try await bench.bytes("/a\(number).ts") }
            await bench.cache.becomeIdle()
            for name in ["/x", "/y"] {
                _ = try await bench.bytes(name)
                await bench.cache.becomeIdle()
            }
            let stored = Set(try await bench.cache.entries().filter(\.isComplete).map(\.url.lastPathComponent))
            #expect(stored.isSuperset(of: ["a.m3u8", "a1.ts", "a2.ts"]))
            #expect(stored.isDisjoint(with: ["a3.ts", "a4.ts", "a5.ts"]))
            try await bench.cache.retain(stream, as: .cached)
            for name in ["/x", "/y", "/x"] {
                _ = try await bench.bytes(name)
                await bench.cache.becomeIdle()
            }
            #expect(try await !bench.cache.entries().contains { $0.url.lastPathComponent == "a1.ts" })
        }
    }

    @Test("a file whose type says nothing is a file, not read as a whole for its text")
    func vagueType() async throws {
        try await Self.run { bench async throws in
            bench.publish("/huge", length: 3_000_000, type: "application/octet-stream")
            #expect(try await Self.preload(.bytes(1000), of: "/huge", bench) == ["/huge 0-999", "/huge 1000-65535"])
            #expect(try await Self.preload(.bytes(100_000), of: "/huge", bench) == ["/huge 65536-99999"])
            Self.publish(Self.media(["a1.ts", "a2.ts"]), at: "/list", bench, type: "application/octet-stream")
            #expect(
                try await Self.preload(.segments(1), of: "/list", bench).filter { $0.contains(".ts") } == ["/a1.ts"])
        }
    }

    @Test("where playlists are not read, one is the file that it is")
    func plain() async throws {
        try await Bench.run { bench async throws in
            Self.publish(Self.media(["a1.ts"]), at: "/a.m3u8", bench)
            #expect(try await Self.preload(.bytes(1000), of: "/a.m3u8", bench) == ["/a.m3u8"])
        }
    }
}
