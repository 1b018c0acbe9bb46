import Foundation
import Logging
import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Which parts of a stream are listed when the origin must not be asked, or cannot be reached.
@Suite("Streams without their origin", .limit(minutes: 2)) struct OfflineStreamTests {
    private typealias Site = StreamSite

    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="audio.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",URI="subtitles.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,AUDIO="a",SUBTITLES="s"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a",SUBTITLES="s"
        low.m3u8

        """

    private static func publish(_ site: Site) {
        site.publish(master, at: "/master.m3u8")
        for (list, segments) in [("high", ["h1.ts", "h2.ts"]), ("low", ["l1.ts", "l2.ts"]), ("audio", ["a1.ts"])] {
            site.publish(Site.list(segments, ended: true), at: "/\(list).m3u8")
            for segment in segments { site.publishSegment("/\(segment)") }
        }
        site.publish(Site.list(["s1.vtt"], ended: true), at: "/subtitles.m3u8")
    }

    private static func play(_ paths: [String], _ site: Site) async throws {
        for path in paths { #expect(try await site.get(path).status == 200) }
    }

    /// Runs `body` with a proxy over the same directory that asks no origin.
    fileprivate static func offline(_ site: StreamSite, _ body: (ProxyBench) async throws -> Void) async throws {
        try await site.proxy.bench.reopened(configure: {
            $0.reuse.isOffline = true
            $0.clock = site.clock.cacheClock
        }) { cache async throws in
            var configuration = ProxyConfiguration()
            configuration.logger.logLevel = .critical
            configuration.clock = site.clock.cacheClock
            let server = try await ProxyServer.start(cache, configuration: configuration)
            let result: Result<Void, any Error>
            do { result = .success(try await body(ProxyBench(bench: site.proxy.bench, server: server))) } catch {
                result = .failure(error)
            }
            await server.stop()
            try result.get()
        }
    }

    private static func text(_ proxy: ProxyBench, _ path: String) async throws -> String {
        let (head, body) = try await proxy.get(path)
        #expect(head.status == 200, "\(path)")
        return String(decoding: body, as: UTF8.self)
    }

    private static let played = ["/master.m3u8", "/high.m3u8", "/low.m3u8", "/audio.m3u8", "/subtitles.m3u8", "/a1.ts"]

    @Test("offline, only what is wholly stored is listed") func whole() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(Self.played + ["/l1.ts", "/l2.ts", "/h1.ts"], site)
            try await Self.offline(site) { proxy async throws in
                let text = try await Self.text(proxy, "/master.m3u8")
                #expect(text.contains("\nlow.m3u8\n") && text.contains(#"URI="audio.m3u8""#), "\(text)")
                #expect(!text.contains("high.m3u8") && !text.contains("SUBTITLES"), "\(text)")
                // What is asked for all the same is answered with what there is.
                let high = try await Self.text(proxy, "/high.m3u8")
                #expect(high.contains("\n#EXT-X-GAP\nh2.ts\n") && !high.contains("#EXT-X-GAP\nh1.ts"), "\(high)")
                #expect(try await proxy.get("/l2.ts").body == TestPattern.bytes(in: 0..<1000, seed: 1))
            }
        }
    }

    @Test("offline, a stream of which nothing is whole is listed with its gaps, and one of which nothing is stored not")
    func parts() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(Self.played + ["/h1.ts"], site)
            site.publish(Self.master, at: "/other.m3u8")
            site.publish(Site.list(["x.ts"], ended: true), at: "/list.m3u8")
            try await Self.play(["/list.m3u8"], site)
            try await Self.offline(site) { proxy async throws in
                let text = try await Self.text(proxy, "/master.m3u8")
                #expect(text.contains("\nhigh.m3u8\n") && !text.contains("low.m3u8"), "\(text)")
                let list = try await proxy.get("/list.m3u8")
                #expect(list.head.status == 504)
                #expect(String(decoding: list.body, as: UTF8.self).contains("Nothing of the stream is stored"))
            }
        }
    }

    @Test("offline, a stream of which no segment can be played says of how many there are bytes", arguments: [1, 2])
    func incomplete(begun: Int) async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(Self.played.filter { $0 != "/a1.ts" }, site)
            for path in ["/l1.ts", "/l2.ts"].prefix(begun) {
                #expect(try await site.get(path, ["Range: bytes=0-99"]).status == 206)
            }
            try await Self.offline(site) { proxy async throws in
                for path in ["/low.m3u8", "/master.m3u8"] {
                    let (head, body) = try await proxy.get(path)
                    let text = String(decoding: body, as: UTF8.self)
                    #expect(head.status == 504)
                    #expect(text.contains(begun == 1 ? "Bytes of 1 segment of" : "Bytes of 2 segments of"), "\(text)")
                }
                let high = try await proxy.get("/high.m3u8").body
                #expect(String(decoding: high, as: UTF8.self).contains("Nothing of the stream is stored"))
            }
        }
    }

    @Test("offline, an interstitial is named if all of its playlist is stored, and no list of assets")
    func interstitials() async throws {
        try await Site.run { site async throws in
            let names = ["whole", "part", "none"]
            let links = names.map { ($0, "X-ASSET-URI=\"\($0).m3u8\"") } + [("list", "X-ASSET-LIST=\"list.json\"")]
            let ranges = links.map { id, link in
                "#EXT-X-DATERANGE:ID=\"\(id)\",CLASS=\"com.apple.hls.interstitial\","
                    + "START-DATE=\"2026-01-01T00:00:00Z\",\(link)\n"
            }
            site.publish(Site.list(["1.ts"], ended: true, more: ranges.joined()), at: "/film.m3u8")
            for name in names {
                site.publish(Site.list(["\(name)1.ts", "\(name)2.ts"], ended: true), at: "/\(name).m3u8")
                for number in 1...2 { site.publishSegment("/\(name)\(number).ts") }
            }
            site.publish("{\"ASSETS\":[]}", at: "/list.json", type: "application/json")
            site.publishSegment("/1.ts")
            let played = ["/whole.m3u8", "/whole1.ts", "/whole2.ts", "/part.m3u8", "/part1.ts", "/list.json"]
            try await Self.play(["/film.m3u8", "/1.ts"] + played, site)
            #expect(try await site.get("/film.m3u8").text.contains("none.m3u8"))
            try await Self.offline(site) { proxy async throws in
                let text = try await Self.text(proxy, "/film.m3u8")
                #expect(text.contains("X-ASSET-URI=\"whole.m3u8\""), "\(text)")
                let count = text.matches(of: /DATERANGE/).count
                #expect(count == 1, "\(text)")
                #expect(text.contains("\n1.ts\n") && !text.contains("GAP"), "\(text)")
            }
        }
    }

    @Test("offline, a file that many interstitials name is looked up once, and no more than 200 are")
    func manyInterstitials() async throws {
        try await Site.run { site async throws in
            let ads = (0...200).map { "ad\($0).ts" }
            let links = Array(repeating: "ad0.ts", count: 300) + ads
            let ranges = links.enumerated().map { id, link in
                "#EXT-X-DATERANGE:ID=\"\(id)\",CLASS=\"com.apple.hls.interstitial\","
                    + "START-DATE=\"2026-01-01T00:00:00Z\",X-ASSET-URI=\"\(link)\"\n"
            }
            site.publish(Site.list(["1.ts"], ended: true, more: ranges.joined()), at: "/film.m3u8")
            for name in ads + ["1.ts"] { site.publishSegment("/\(name)") }
            try await Self.play(["/film.m3u8", "/1.ts"] + ads.map { "/\($0)" }, site)
            try await Self.offline(site) { proxy async throws in
                let text = try await Self.text(proxy, "/film.m3u8")
                let count = text.matches(of: /DATERANGE/).count
                #expect(count == 500)
                let named = ["\"ad0.ts\"", "\"ad199.ts\"", "\"ad200.ts\""].map { text.contains($0) }
                #expect(named == [true, true, false])
            }
        }
    }

    @Test("once the origin cannot be reached, its playlist names stored variants only") func airplane() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(Self.played + ["/l1.ts", "/l2.ts"], site)
            #expect(try await site.get("/master.m3u8").text.contains("high.m3u8"))
            await site.origin.stop()
            let reply = try await site.get("/master.m3u8")
            #expect(reply.status == 200 && reply.text.contains("\nlow.m3u8\n"), "\(reply.text)")
            #expect(!reply.text.contains("high.m3u8"), "\(reply.text)")
        }
    }

    @Test("a playlist that is used without asking has gaps while its host is away, and no longer")
    func awayHost() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            site.publish(Site.list(["l1.ts", "l2.ts"], type: "VOD", ended: true), at: "/low.m3u8")
            site.publish(Site.list(["x.ts"], type: "VOD", ended: true), at: "/other.m3u8")
            try await Self.play(Self.played + ["/l1.ts", "/other.m3u8"], site)
            #expect(try await site.get("/low.m3u8").text.contains("GAP") == false)
            await site.origin.stop()
            // Nothing tells that the host is away.
            #expect(try await site.get("/low.m3u8").text.contains("GAP") == false)
            #expect(try await site.get("/master.m3u8").status == 200)
            let low = try await site.get("/low.m3u8").text
            #expect(low.contains("\n#EXT-X-GAP\nl2.ts\n") && !low.contains("GAP\nl1.ts"), "\(low)")
            // Of which nothing is stored: the host may be back for its first segment.
            let other = try await site.get("/other.m3u8")
            #expect(other.status == 200 && !other.text.contains("GAP"), "\(other.text)")
            site.clock.shift(by: .seconds(11))
            #expect(try await site.get("/low.m3u8").text.contains("GAP") == false)
        }
    }

    @Test("an origin that answers with an error is no reason to leave variants out") func failing() async throws {
        try await Site.run { site async throws in
            Self.publish(site)
            try await Self.play(Self.played + ["/l1.ts", "/l2.ts"], site)
            site.fail("/master.m3u8", with: 503)
            #expect(try await site.get("/master.m3u8").text.contains("high.m3u8"))
        }
    }
}

/// What a download of a stream is served without its origin.
@Suite(.limit(minutes: 2)) struct DownloadedStreamTests {
    private static let mpd = """
        <?xml version="1.0"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT8S"><Period>
        <AdaptationSet contentType="video"><SegmentTemplate media="v$RepresentationID$-$Number$.m4s" duration="4"/>
        <Representation id="1" bandwidth="800000" height="360"/>
        <Representation id="2" bandwidth="2000000" height="720"></Representation>
        </AdaptationSet>
        <AdaptationSet contentType="audio" lang="en"><Representation id="e"><BaseURL>en.mp4</BaseURL></Representation></AdaptationSet>
        <AdaptationSet contentType="audio" lang="de"><Representation id="d"><BaseURL>de.mp4</BaseURL></Representation></AdaptationSet>
        </Period></MPD>
        """

    @Test("a downloaded stream is served with its keys while the origin is away")
    func offline() async throws {
        try await StreamSite.run(configure: { $0.downloadsStreams = true }) { site async throws in
            site.publish(
                "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=2x2\nhigh.m3u8\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x1\nlow.m3u8\n", at: "/master.m3u8")
            let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"/key\"\n"
            for name in ["high", "low"] {
                site.publish(StreamSite.list(["\(name).ts"], ended: true, more: key), at: "/\(name).m3u8")
                site.publishSegment("/\(name).ts")
            }
            site.publish(
                "sixteen bytes...", at: "/key", type: "application/octet-stream", etag: nil, control: "no-store")
            let cache = site.proxy.bench.cache
            try await cache.downloads.add(
                try cache.resource(for: site.origin.url("/master.m3u8")), selection: StreamSelection(quality: .smallest)
            )
            for await list in cache.downloads.updates(every: .zero) {
                if case .done = list.first?.state { break }
                if let error = list.first?.state.error { throw error }
            }
            #expect(site.requests("/key") == 1)
            await site.origin.stop()
            let master = try await site.get("/master.m3u8")
            #expect(master.text.contains("low.m3u8") && !master.text.contains("high.m3u8"), "\(master.text)")
            let list = try await site.get("/low.m3u8")
            #expect(list.status == 200 && !list.text.contains("GAP"), "\(list.text)")
            for fields in [[], ["Cache-Control: no-cache"]] {
                let key = try await site.get("/key", fields)
                #expect(key.status == 200 && key.text == "sixteen bytes...", "\(key)")
            }
            #expect(try await site.get("/low.ts").body == TestPattern.bytes(in: 0..<1000, seed: 1))
        }
    }

    @Test("offline, a downloaded MPD names its stored representations")
    func dash() async throws {
        try await StreamSite.run(configure: { $0.downloadsStreams = true }) { site async throws in
            site.publish(Self.mpd, at: "/film.mpd", type: "application/dash+xml")
            for path in ["/v1-1.m4s", "/v1-2.m4s", "/en.mp4", "/de.mp4"] { site.publishSegment(path) }
            let cache = site.proxy.bench.cache
            try await cache.downloads.add(
                try cache.resource(for: site.origin.url("/film.mpd")),
                selection: StreamSelection(quality: .smallest, audio: .only(["de"])))
            for await list in cache.downloads.updates(every: .zero) {
                if case .done = list.first?.state { break }
                if let error = list.first?.state.error { throw error }
            }
            try await OfflineStreamTests.offline(site) { proxy async throws in
                let text = String(decoding: try await proxy.get("/film.mpd").body, as: UTF8.self)
                #expect(text.contains("id=\"1\"") && text.contains("de.mp4"), "\(text)")
                #expect(!text.contains("id=\"2\"") && !text.contains("lang=\"en\""), "\(text)")
                #expect(try await proxy.get("/v1-2.m4s").head.status == 200)
            }
        }
    }

    @Test("an MPD of which no representation is whole names those of which media are stored, if they have all it needs")
    func partOfDASH() async throws {
        try await StreamSite.run { site async throws in
            site.publish(Self.mpd, at: "/film.mpd", type: "application/dash+xml")
            let second =
                "<Period><AdaptationSet contentType=\"video\"><Representation id=\"3\">"
                + "<BaseURL>later.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>"
            let long = Self.mpd.replacing("<Period>", with: "<Period duration=\"PT8S\">")
                .replacing("</MPD>", with: second)
            site.publish(long, at: "/long.mpd", type: "application/dash+xml")
            for path in ["/v1-1.m4s", "/de.mp4"] { site.publishSegment(path) }
            for path in ["/film.mpd", "/long.mpd", "/v1-1.m4s", "/de.mp4"] { _ = try await site.get(path) }
            try await OfflineStreamTests.offline(site) { proxy async throws in
                for name in ["film", "long"] {
                    let text = String(decoding: try await proxy.get("/\(name).mpd").body, as: UTF8.self)
                    #expect(text.contains("id=\"1\"") && text.contains("lang=\"de\""), "\(text)")
                    #expect(!text.contains("id=\"2\"") && !text.contains("lang=\"en\""), "\(text)")
                    #expect(text.contains("later.mp4") == (name == "long"), "\(text)")
                }
            }
        }
        try await StreamSite.run { site async throws in
            site.publish(Self.mpd, at: "/film.mpd", type: "application/dash+xml")
            site.publishSegment("/v1-1.m4s")
            for path in ["/film.mpd", "/v1-1.m4s"] { _ = try await site.get(path) }
            try await OfflineStreamTests.offline(site) { proxy async throws in
                let text = String(decoding: try await proxy.get("/film.mpd").body, as: UTF8.self)
                #expect(text.contains("id=\"2\"") && text.contains("lang=\"en\""), "without sound: \(text)")
            }
        }
    }

    @Test(
        "in a cache of several users a key is stored only if its origin allows it",
        arguments: ["no-store", "max-age=60"])
    func shared(control: String) async throws {
        try await StreamSite.run(isShared: true, configure: { $0.downloadsStreams = true }) { site async throws in
            site.publish(
                StreamSite.list(["1.ts"], ended: true, more: "#EXT-X-KEY:METHOD=AES-128,URI=\"/key\"\n"),
                at: "/list.m3u8", control: "max-age=60")
            site.publishSegment("/1.ts", control: "max-age=60")
            site.publish(
                "sixteen bytes...", at: "/key", type: "application/octet-stream", etag: nil, control: control)
            let cache = site.proxy.bench.cache
            try await cache.downloads.add(try cache.resource(for: site.origin.url("/list.m3u8")))
            var failure: RepriseError?
            for await list in cache.downloads.updates(every: .zero) {
                failure = list.first?.state.error
                if case .done = list.first?.state { break }
                if failure != nil { break }
            }
            let isStored = try await cache.entries().contains { $0.url.target == "/key" }
            #expect(failure?.code == (control == "no-store" ? .notStored : nil), "\(String(describing: failure))")
            #expect(isStored == (control != "no-store"))
        }
    }
}
