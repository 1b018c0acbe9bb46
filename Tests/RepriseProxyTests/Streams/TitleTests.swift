import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Which files the proxy counts as those of one title, because playlists name them.
@Suite("Titles of streams", .limit(minutes: 2)) struct StreamTitleTests {
    private typealias Site = StreamSite

    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
        low.m3u8

        """

    /// The last component of each title's URL, and the number of its files.
    private static func titles(_ cache: MediaCache) async throws -> [String: Int] {
        var result: [String: Int] = [:]
        for title in try await cache.titles() { result[title.url.lastPathComponent] = title.fileCount }
        return result
    }

    private static func publish(_ site: Site) {
        site.publish(master, at: "/master.m3u8")
        site.publish(Site.list(["1.ts", "2.ts"], ended: true), at: "/low.m3u8")
        site.publish(Site.list(["a1.ts"], ended: true), at: "/audio.m3u8")
        for name in ["/1.ts", "/2.ts", "/a1.ts", "/film.ts"] { site.publishSegment(name) }
    }

    private static func play(_ paths: [String], _ proxy: ProxyBench) async throws {
        for path in paths { #expect(try await proxy.get(path).head.status == 200) }
    }

    @Test func aStreamIsOneTitle() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(
                ["/master.m3u8", "/low.m3u8", "/audio.m3u8", "/1.ts", "/2.ts", "/a1.ts", "/film.ts"], site.proxy)
            #expect(try await Self.titles(site.proxy.bench.cache) == ["master.m3u8": 6, "film.ts": 1])
        }
    }

    @Test("a player that resumes at a segment, through a proxy that was started again, adds to the same title")
    func restarted() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(["/master.m3u8", "/low.m3u8", "/1.ts"], site.proxy)
            try await site.proxy.again({ $0.clock = site.clock.cacheClock }) { proxy async throws in
                try await Self.play(["/low.m3u8", "/2.ts"], proxy)
            }
            #expect(try await Self.titles(site.proxy.bench.cache) == ["master.m3u8": 4])
        }
    }

    @Test("files that were stored before their lists were read join when they are listed") func storedBefore()
        async throws
    {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(["/1.ts", "/low.m3u8"], site.proxy)
            #expect(try await Self.titles(site.proxy.bench.cache) == ["low.m3u8": 2])
            try await Self.play(["/master.m3u8", "/2.ts"], site.proxy)
            #expect(try await Self.titles(site.proxy.bench.cache) == ["master.m3u8": 4])
        }
    }

    @Test("a segment that two streams list belongs to both") func shared() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            site.publish(Site.list(["1.ts"], ended: true), at: "/trailer.m3u8")
            try await Self.play(["/trailer.m3u8", "/master.m3u8", "/low.m3u8", "/1.ts", "/2.ts"], site.proxy)
            #expect(try await Self.titles(site.proxy.bench.cache) == ["master.m3u8": 4, "trailer.m3u8": 2])
            let cache = site.proxy.bench.cache
            let master = try #require(try await cache.titles().first { $0.url.lastPathComponent == "master.m3u8" })
            try await cache.removeTitle(master.key)
            #expect(try await Self.titles(cache) == ["trailer.m3u8": 2])
        }
    }

    @Test("a list that a second stream names later belongs to both, with its segments") func sharedLater() async throws
    {
        try await Site.run { site async throws in
            Self.publish(site)
            site.publish(Self.master, at: "/other.m3u8")
            let played = ["/low.m3u8", "/audio.m3u8", "/1.ts", "/2.ts", "/a1.ts"]
            try await Self.play(["/master.m3u8"] + played + ["/other.m3u8"] + played, site.proxy)
            let cache = site.proxy.bench.cache
            #expect(try await Self.titles(cache) == ["master.m3u8": 6, "other.m3u8": 6])
            let master = try #require(try await cache.titles().first { $0.url.lastPathComponent == "master.m3u8" })
            try await cache.removeTitle(master.key)
            #expect(try await Self.titles(cache) == ["other.m3u8": 6])
            // Nothing was taken for a stream that began again.
            for path in played { #expect(try await site.get(path).status == 200 && site.requests(path) == 1) }
        }
    }

    @Test("segments of an MPD's template are known by it") func template() async throws {
        try await Site.run { site async throws in
            site.publish(
                """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet>
                <Representation id="v" bandwidth="1"><SegmentTemplate media="v/$Number$.m4s" duration="2"/>
                </Representation></AdaptationSet></Period></MPD>
                """, at: "/list.mpd", type: "application/dash+xml")
            for number in 1...3 { site.publishSegment("/v/\(number).m4s") }
            try await Self.play(["/list.mpd", "/v/1.m4s", "/v/2.m4s", "/v/3.m4s"], site.proxy)
            #expect(try await Self.titles(site.proxy.bench.cache) == ["list.mpd": 4])
            site.publish(
                """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT4S"><Period>
                <AdaptationSet><Representation id="v" bandwidth="1">
                <SegmentTemplate media="v/$Number$.m4s" duration="2"/></Representation></AdaptationSet></Period></MPD>
                """, at: "/short.mpd", type: "application/dash+xml")
            try await Self.play(["/short.mpd"], site.proxy)
            #expect(try await Self.titles(site.proxy.bench.cache) == ["list.mpd": 4, "short.mpd": 3])
        }
    }

    @Test("a list of stations or episodes makes no title") func stations() async throws {
        try await Site.run { site async throws in
            site.publish("#EXTM3U\n#EXTINF:-1,One\n1.ts\n#EXTINF:-1,Two\n2.ts\n", at: "/stations.m3u")
            Self.publish(site)
            try await Self.play(["/stations.m3u", "/1.ts", "/2.ts"], site.proxy)
            #expect(try await Self.titles(site.proxy.bench.cache) == ["stations.m3u": 1, "1.ts": 1, "2.ts": 1])
        }
    }

    @Test("segments that leave a live list and the store leave the title") func live() async throws {
        try await Site.run { site async throws in
            for window in 0..<5 {
                site.publish(
                    Site.list(["\(window).ts", "\(window + 1).ts"], sequence: window), at: "/live.m3u8",
                    etag: "\"\(window)\"")
                for number in [window, window + 1] { site.publishSegment("/\(number).ts", seed: UInt64(number + 1)) }
                try await Self.play(["/live.m3u8", "/\(window).ts", "/\(window + 1).ts"], site.proxy)
                site.clock.shift(by: .seconds(6))
            }
            let cache = site.proxy.bench.cache
            #expect(try await Self.titles(cache) == ["live.m3u8": 7])
            try await cache.remove(try await cache.entries().filter { $0.url.lastPathComponent == "0.ts" }.map(\.key))
            #expect(try await Self.titles(cache) == ["live.m3u8": 6])
        }
    }
}
