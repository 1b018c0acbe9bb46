import HTTPTypes
import NIOCore
import Playlists
import Primitives
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Playlists that are odd, broken or hostile: what the proxy makes of a line, by the numbers of the cases.
@Suite("Odd playlists", .limit(minutes: 2)) struct StreamCaseTests {
    private static let head = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n"

    /// What a player gets for `body`, which lies at `url`.
    static func served(
        _ body: String, at url: String = "https://a.example/v/x/list.m3u8", finalURL: String? = nil,
        fields: HTTPFields = [.contentType: StreamSite.hls], token: String? = nil, isEncrypted: Bool = false
    ) async throws -> String {
        let origin = CannedOrigin { _ in
            var fields = fields
            fields[.contentLength] = "\(body.utf8.count)"
            return CannedOrigin.Answer(status: 200, fields: fields, body: body, finalURL: finalURL)
        }
        var text = ""
        try await origin.serve(configure: {
            $0.token = token
            // The test speaks in plain; only what is said of the address matters here.
            if isEncrypted {
                // The client speaks plain HTTP, which is refused otherwise.
                $0.encrypt = { channel in
                    let pipeline = channel.pipeline.syncOperations
                    pipeline.removeHandler(try pipeline.handler(type: PlainHTTPRefusal.self), promise: nil)
                }
            }
        }) { server async throws in
            #expect(server.address.hasPrefix(isEncrypted ? "https://" : "http://"))
            let target = (token.map { "/\($0)" } ?? "") + "/" + url.replacing("://", with: "/")
            let (head, body) = try await RawClient.exchange(port: server.port, target)
            #expect(head.status == 200)
            #expect(head.length == nil || head.length == body.count)
            text = String(decoding: body, as: UTF8.self)
        }
        return text
    }

    /// One line of a list, and what it becomes; `nil` if it stays.
    private static let segments: [(number: Int, line: String, expected: String?)] = [
        (1, "seg1.ts", nil), (1, "../y/seg.ts?k=v", nil),
        (2, "https://a.example/v/x/seg1.ts", "/https/a.example/v/x/seg1.ts"),
        (3, "http://b.example:8080/s.ts", "/http/b.example:8080/s.ts"),
        (4, "//b.example/s.ts", "/https/b.example/s.ts"),
        (5, "/root/s.ts", "/https/a.example/root/s.ts"),
        (6, "../../../../s.ts", "/https/a.example/s.ts"),
        (10, "data:video/mp2t;base64,AA", nil), (10, "urn:a:b", nil), (10, "file:///etc/passwd", nil),
        (10, "javascript:alert(1)", nil), (11, "https://user:pw@a.example/s.ts", nil),
        (30, "/seg%20a%2Fb.ts?sig=AbC%2B%3d&x=%zz", "/https/a.example/seg%20a%2Fb.ts?sig=AbC%2B%3d&x=%zz"),
        (31, "/s\u{e9}quence 1.ts", "/https/a.example/s%C3%A9quence%201.ts"),
        (33, "/a\u{0}b.ts", nil), (37, "http://localhost/https/a.example/s.ts", nil),
    ]

    @Test("lines of segments (cases 1 to 6, 10, 11, 30, 31, 33, 37)", arguments: segments.indices)
    func segment(index: Int) async throws {
        let (number, line, expected) = Self.segments[index]
        let list = { (line: String) -> String in Self.head + "#EXTINF:6,\n\(line)\n" }
        #expect(try await Self.served(list(line)) == list(expected ?? line), "case \(number)")
    }

    /// A tag, and what it becomes; `nil` if it stays.
    private static let tags: [(number: Int, line: String, expected: String?)] = [
        (
            9, "#EXT-X-KEY:METHOD=AES-128,URI=\"https://k.example/k?r=52\",IV=0xAb",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"/https/k.example/k?r=52\",IV=0xAb"
        ),
        (10, "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\"", nil),
        (
            12, "#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"a,URI=b\",GROUP-ID=\"g\",URI=\"/a,b.m3u8\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"a,URI=b\",GROUP-ID=\"g\",URI=\"/https/a.example/a,b.m3u8\""
        ),
        (
            13,
            "#EXT-X-DATERANGE:ID=\"1\",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"https://b.example/i.m3u8\"",
            "#EXT-X-DATERANGE:ID=\"1\",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"http://localhost/https/b.example/i.m3u8\""
        ),
        (
            14, "#EXT-X-RENDITION-REPORT:URI=\"https://a.example/v/y/list.m3u8\",LAST-MSN=1",
            "#EXT-X-RENDITION-REPORT:URI=\"/https/a.example/v/y/list.m3u8\",LAST-MSN=1"
        ),
        (
            15, "#EXT-X-PART:DURATION=1,URI=\"/p.mp4\"\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"/p.mp4\"",
            "#EXT-X-PART:DURATION=1,URI=\"/https/a.example/p.mp4\"\n"
                + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"/https/a.example/p.mp4\""
        ),
        (
            16, "#EXT-X-MAP:URI=\"/i.mp4\",BYTERANGE=\"1000@0\"\n#EXT-X-BYTERANGE:500",
            "#EXT-X-MAP:URI=\"/https/a.example/i.mp4\",BYTERANGE=\"1000@0\"\n#EXT-X-BYTERANGE:500"
        ),
        (22, "# https://b.example/comment\n#EXTINF:6,https://b.example/title", nil),
        (
            25, "#EXT-X-DEFINE:NAME=\"base\",VALUE=\"https://b.example/v\"\n#EXTINF:6,\n{$base}/s.ts",
            "#EXT-X-DEFINE:NAME=\"base\",VALUE=\"https://b.example/v\"\n#EXTINF:6,\n/https/b.example/v/s.ts"
        ),
        (26, "#EXTINF:6,\n{$a}/s.ts\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"https://b.example\"", nil),
        (
            26, "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"/1\"\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"/2\"\n#EXTINF:6,\n{$a}/s.ts",
            "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"/1\"\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"/2\"\n#EXTINF:6,\n"
                + "/https/a.example/1/s.ts"
        ),
        (27, "#EXT-X-DEFINE:IMPORT=\"a\"\n#EXTINF:6,\n{$a}/s.ts", nil),
        (34, "#EXTINF:6,\n/s.ts#t=1", "#EXTINF:6,\n/https/a.example/s.ts#t=1"),
    ]

    @Test("tags and variables (cases 9, 10, 12 to 16, 22, 25 to 27, 34)", arguments: tags.indices)
    func tag(index: Int) async throws {
        let (number, line, expected) = Self.tags[index]
        #expect(
            try await Self.served(Self.head + line + "\n") == Self.head + (expected ?? line) + "\n", "case \(number)")
    }

    @Test("absolute links to a proxy that encrypts are https") func encrypted() async throws {
        func list(_ link: String) -> String {
            Self.head + "#EXT-X-DATERANGE:ID=\"1\",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"\(link)\"\n"
        }
        #expect(
            try await Self.served(list("https://b.example/i.m3u8"), isEncrypted: true)
                == list("https://localhost/https/b.example/i.m3u8"))
    }

    @Test("a redirect moves the base, and a token begins each link (cases 7, 8, 28)") func bases() async throws {
        let list = { (line: String) -> String in Self.head + "#EXTINF:6,\n\(line)\n" }
        let final = "https://c.example/z/l.m3u8?token=c"
        #expect(try await Self.served(list("s.ts"), finalURL: final) == list("/https/c.example/z/s.ts"))
        #expect(try await Self.served(list("/s.ts"), token: "secret") == list("/secret/https/a.example/s.ts"))
        let query = Self.head + "#EXT-X-DEFINE:QUERYPARAM=\"token\"\n#EXTINF:6,\n/{$token}/s.ts\n"
        let url = "https://a.example/l.m3u8?token=a%2Fb"
        #expect(try await Self.served(query, at: url).hasSuffix("\n/https/a.example/a/b/s.ts\n"))
        #expect(try await Self.served(query, at: url, finalURL: final).hasSuffix("\n/https/c.example/c/s.ts\n"))
    }

    @Test("line ends, byte order marks and bytes that are no UTF-8 stay (cases 19 to 21, 23, 24, 32)")
    func forms() async throws {
        let written = "/https/a.example/s.ts"
        for text in [
            "#EXTM3U\r\n#EXTINF:6,\r\nX\r\n#EXTINF:6,\nX", "#EXTM3U\n#EXTINF:6,\rX\r\n",
            "\u{feff}#EXTM3U\n#EXTINF:6,\nX\n", "\n \n# comment\n#EXTM3U\n#EXTINF:6,\nX\n",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n# comment\n\nX\n",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nX\n#EXT-X-STREAM-INF:BANDWIDTH=2",
        ] {
            let served = try await Self.served(text.replacing("X", with: "/s.ts").replacing("#E/s.tsT", with: "#EXT"))
            #expect(
                served.replacing("http://localhost", with: "").replacing(written, with: "/s.ts")
                    == text.replacing("X", with: "/s.ts").replacing("#E/s.tsT", with: "#EXT"))
            #expect(served.contains(written))
        }
        try await StreamSite.run { site async throws in
            let list = Array("#EXTM3U\n#EXTINF:6,caf".utf8) + [0xE9] + Array("\n/s.ts\n".utf8)
            site.origin.set(TestOrigin.Resource(.bytes(list), mediaType: StreamSite.hls), at: "/latin.m3u8")
            let body = try await site.get("/latin.m3u8").body
            #expect(body.contains(0xE9) && body.count > list.count)
        }
    }

    @Test("one file, whole and in adjoining ranges, is one entry without a byte twice (cases 17, 18)")
    func ranges() async throws {
        try await StreamSite.run { site async throws in
            site.publish(
                Self.head + "#EXTINF:6,\n#EXT-X-BYTERANGE:400@0\n1.ts\n#EXTINF:6,\n#EXT-X-BYTERANGE:600@400\n1.ts\n"
                    + "#EXTINF:6,\n1.ts\n#EXT-X-ENDLIST\n", at: "/list.m3u8")
            site.publishSegment("/1.ts")
            _ = try await site.get("/list.m3u8")
            for range in ["0-399", "400-999"] {
                #expect(try await site.get("/1.ts", ["Range: bytes=\(range)"]).status == 206)
                await site.proxy.becomeIdle()
            }
            #expect(try await site.get("/1.ts").body == TestPattern.bytes(in: 0..<1000, seed: 1))
            #expect(site.origin.snapshot["/1.ts"].bodyBytesSent == 1000)
        }
    }

    @Test("variables that expand to too much, and a line beyond the bound, are sent as they came (cases 29, 39)")
    func bombs() async throws {
        let long = String(repeating: "x", count: 60_000)
        let bomb =
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"/\(long)\"\n"
            + String(repeating: "#EXTINF:6,\n{$a}\n", count: 40)
        #expect(try await Self.served(bomb) == bomb)
        let line = "#EXTM3U\n/" + String(repeating: "x", count: 1 << 20)
        #expect(try await Self.served(line) == line)
    }

    @Test(
        "a path that climbs in disguise is refused (case 35)", arguments: ["..%2f..%2fetc", "%2e%2e/x", "a/%2E%2e/b"])
    func climbing(path: String) async throws {
        let origin = CannedOrigin { _ in CannedOrigin.Answer(status: 200) }
        try await origin.serve { server async throws in
            let (head, _) = try await RawClient.exchange(port: server.port, "/https/a.example/v/\(path)")
            #expect(head.status == 400)
            #expect(origin.requests.isEmpty)
        }
    }

    @Test("links to private addresses are refused beyond loopback, by the address (case 36)")
    func privateAddresses() async throws {
        var configuration = NIOOrigin.Configuration()
        configuration.forbidsPrivateAddresses = true
        try await ProxyBench.run(client: NIOOrigin(configuration: configuration)) { proxy async throws in
            for host in ["127.0.0.1:22", "169.254.169.254", "[::1]", "10.0.0.1", "localhost:1"] {
                let (head, _) = try await RawClient.exchange(port: proxy.server.port, "/http/\(host)/s.ts")
                #expect(head.status == 403)
            }
        }
    }

    @Test("lists that name themselves or each other are served, and nothing is followed (case 38)")
    func recursion() async throws {
        let origin = CannedOrigin { request in
            let other = request.url.target == "/a.m3u8" ? "b" : "a"
            return CannedOrigin.Answer(
                status: 200, fields: [.contentType: StreamSite.hls],
                body: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n/\(other).m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\n"
                    + "https://a.example\(request.url.target)\n")
        }
        try await origin.serve { server async throws in
            for name in ["a", "b"] {
                let (_, body) = try await RawClient.exchange(port: server.port, "/https/a.example/\(name).m3u8")
                #expect(String(decoding: body, as: UTF8.self).contains("\n/https/a.example/a.m3u8\n"))
            }
            #expect(origin.requests.count == 2)
        }
    }

    @Test(
        "a coded list is handed on as it came, cut or not (case 40)",
        arguments: ["gzip", "br", "deflate", "unknown"], [false, true])
    func coded(coding: String, isCut: Bool) async throws {
        let log = Mutex<[String]>([])
        var body: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + Array("#EXTM3U\n/1.ts\n".utf8)
        if isCut { body.removeLast(3) }
        try await StreamSite.run { site async throws in
            let list = body
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(list), mediaType: StreamSite.hls,
                    personality: TestOrigin.Personality { $0.contentEncoding = coding }), at: "/list.m3u8")
            for _ in 0..<2 {
                let reply = try await site.get("/list.m3u8")
                #expect(reply.body == list)
                #expect(reply.head.fields["content-encoding"] == coding)
            }
            let filter = PlaylistFilter(
                streams: StreamKnowledge(isShared: false, clock: .system),
                files: FileFinder(cache: site.proxy.bench.cache, items: nil)
            ) { _, error in
                log.withLock { $0.append(error.code.rawValue) }
            }
            let information = try await site.proxy.bench.cache.resource(for: site.origin.url("/list.m3u8"))
                .contentInformation()
            filter.noteCoded(information, at: try ResourceURL("http://origin/list.m3u8"))
            filter.noteCoded(information, at: try ResourceURL("http://origin/page.html"))
        }
        #expect(log.withLock { $0 } == ["encoding", "encoding"], "its type says that it is a list, too")
    }

    @Test("what is no list is handed on, and not treated as one (case 41)")
    func noLists() async throws {
        try await StreamSite.run { site async throws in
            for (path, text) in [
                ("/html.m3u8", "<html>/1.ts</html>"), ("/json.m3u8", "{\"a\":\"/1.ts\"}"), ("/empty.m3u8", ""),
            ] {
                site.publish(text, at: path)
                #expect(try await site.get(path).text == text)
            }
            site.origin.set(
                TestOrigin.Resource(
                    .bytes([]),
                    personality: TestOrigin.Personality {
                        $0.status = 404
                        $0.statusBody = Array("#EXTM3U\n/1.ts\n".utf8)
                    }), at: "/gone.m3u8")
            let gone = try await site.get("/gone.m3u8")
            #expect(gone.status == 404 && gone.text == "#EXTM3U\n/1.ts\n")
            #expect(try await site.proxy.bench.cache.entries().allSatisfy { $0.information.role == nil })
        }
    }

    @Test("templates of an MPD keep their pattern (case 70), and clocks their address (case 71)")
    func templates() async throws {
        let mpd = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL></BaseURL><Location>https://b.example/l.mpd</Location>
            <PatchLocation>/p.mpp</PatchLocation><Period><AdaptationSet><Representation id="v" bandwidth="1">
            <BaseURL>https://b.example/1/</BaseURL><BaseURL>https://c.example/2/</BaseURL><BaseURL>https://d.example/</BaseURL>
            <SegmentTemplate media="https://b.example/$$$Number%05d$.m4s?a&amp;b"/></Representation></AdaptationSet></Period>
            <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="https://time.example/"/></MPD>
            """
        let served = try await Self.served(
            mpd, at: "https://a.example/l.mpd", fields: [.contentType: "application/dash+xml"])
        for (link, expected) in [
            ("https://b.example/$$", "http://localhost/https/b.example/$$"),
            ("https://b.example/l", "http://localhost/https/b.example/l"),
            ("https://b.example/1/", "http://localhost/https/b.example/1/"),
            ("https://c.example/2/", "http://localhost/https/c.example/2/"),
            ("https://d.example/", "http://localhost/https/d.example/"),
        ] { #expect(served.contains(expected), "\(link)") }
        #expect(served.contains("$$$Number%05d$.m4s?a&amp;b\""))
        #expect(served.contains("value=\"https://time.example/\""))
        #expect(served.contains("<PatchLocation>http://localhost/https/a.example/p.mpp<"))
    }

    @Test("an MPD with a document type, in UTF-16 or too deep is sent as it came (case 72)") func hostileMPDs()
        async throws
    {
        for mpd in [
            "<!DOCTYPE a [<!ENTITY b \"c\">]><MPD><BaseURL>/&b;</BaseURL></MPD>",
            "<MPD><BaseURL>/x</BaseURL>" + String(repeating: "<a>", count: 1000),
            "<MPD a=\"" + String(repeating: "x", count: 1 << 20) + "\"><BaseURL>/x</BaseURL></MPD>",
        ] {
            let fields: HTTPFields = [.contentType: "application/dash+xml"]
            #expect(try await Self.served(mpd, at: "https://a.example/l.mpd", fields: fields) == mpd)
        }
    }

    @Test("segments of a redirected MPD come from where it led (case 73)") func redirectedMPD() async throws {
        let mpd =
            "<MPD><Period><AdaptationSet><Representation><BaseURL>v/</BaseURL></Representation></AdaptationSet></Period></MPD>"
        let served = try await Self.served(
            mpd, at: "https://a.example/l.mpd", finalURL: "https://b.example/x/l.mpd",
            fields: [.contentType: "application/dash+xml"])
        #expect(served == mpd.replacing("v/<", with: "http://localhost/https/b.example/x/v/<"))
    }
}
