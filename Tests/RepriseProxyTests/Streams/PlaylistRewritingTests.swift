import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Every link of a playlist leads back to the proxy, and nothing else of it changes.
@Suite("Playlists through the proxy", .limit(minutes: 1)) struct PlaylistRewritingTests {
    private static let hls = "application/vnd.apple.mpegurl"
    private static let dash = "application/dash+xml"

    private struct Site {
        let proxy: ProxyBench

        static func run(
            token: String? = nil, isShared: Bool = false, _ body: (Site) async throws -> Void
        ) async throws {
            try await ProxyBench.run(
                configureProxy: { $0.token = token }, configure: { $0.reuse.isShared = isShared }
            ) { try await body(Site(proxy: $0)) }
        }

        /// What links of the origin become.
        var through: String { "/http/127.0.0.1:\(proxy.bench.origin.port)" }
        /// The name by which the client knows the proxy.
        var host: String { "localhost" }

        func publish(
            _ text: String, at path: String, type: String? = PlaylistRewritingTests.hls,
            _ more: (inout TestOrigin.Personality) -> Void = { _ in }
        ) {
            let personality = TestOrigin.Personality {
                $0.fields[.cacheControl] = "max-age=600"
                more(&$0)
            }
            proxy.bench.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: type, etag: "\"v\"", personality: personality), at: path)
        }

        func text(_ path: String, prefix: String = "") async throws -> String {
            let (head, body) = try await RawClient.exchange(port: proxy.server.port, prefix + proxy.target(path))
            #expect(head.status == 200)
            #expect(head.length == body.count)
            return String(decoding: body, as: UTF8.self)
        }
    }

    @Test func linksThatWouldLeaveTheProxyAreWritten() async throws {
        try await Site.run { site async throws in
            let list = """
                #EXTM3U\r
                #EXT-X-TARGETDURATION:4\r
                #EXT-X-KEY:METHOD=AES-128,URI="/keys/1?sig=%2Fa+b",IV=0x1\r
                #EXT-X-MAP:URI="https://cdn.example/init.mp4"\r
                #EXTINF:4, with a title\r
                https://cdn.example:8443/a%20b/1.ts?e=1&s=%2f~\r
                #EXTINF:4,\r
                //cdn.example/2.ts\r
                #EXTINF:4,\r
                ../../../3.ts\r
                #X-UNKNOWN:URI="https://cdn.example/unknown"\r
                #EXT-X-ENDLIST\r

                """
            site.publish(list, at: "/show/hd/list.m3u8")
            let expected =
                list
                .replacing("\"/keys", with: "\"\(site.through)/keys")
                .replacing("\"https://cdn.example/init", with: "\"/https/cdn.example/init")
                .replacing("https://cdn.example:8443/", with: "/https/cdn.example:8443/")
                .replacing("//cdn.example/2.ts", with: "/http/cdn.example/2.ts")
                .replacing("../../../3.ts", with: "\(site.through)/3.ts")
            #expect(try await site.text("/show/hd/list.m3u8") == expected)
            #expect(try await site.text("/show/hd/list.m3u8") == expected, "from the store, too")
            #expect(site.proxy.bench.origin.snapshot.requestCount == 1)
            #expect(
                try await site.proxy.bench.bytes("/show/hd/list.m3u8") == Array(list.utf8), "stored as it was sent")
        }
    }

    @Test func whatLeadsToTheProxyAnywayStaysAsItIs() async throws {
        try await Site.run { site async throws in
            let list = """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery"
                #EXT-X-SESSION-KEY:METHOD=AES-128,URI="data:text/plain;base64,AAAA"
                #EXT-X-RENDITION-REPORT:URI="../sd/list.m3u8",LAST-MSN=3
                #EXTINF:4,
                1.ts
                #EXTINF:4,
                ../sd/2.ts?q
                #EXTINF:4,
                ./3.ts
                #EXTINF:4,
                http://user:secret@cdn.example/4.ts
                #EXTINF:4,
                http://\(site.host)/https/cdn.example/5.ts
                #EXTINF:4,
                file:///etc/passwd

                """
            site.publish(list, at: "/show/hd/list.m3u8")
            #expect(try await site.text("/show/hd/list.m3u8") == list)
        }
    }

    @Test func theBaseIsWhereTheRedirectLed() async throws {
        try await Site.run { site async throws in
            site.publish("", at: "/go.m3u8") { $0.redirect = "/deep/down/list.m3u8" }
            site.publish("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n", at: "/deep/down/list.m3u8")
            let expected = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(site.through)/deep/down/1.ts\n"
            #expect(try await site.text("/go.m3u8") == expected)
            #expect(try await site.text("/go.m3u8") == expected, "from the store, too")
            #expect(site.proxy.bench.origin.snapshot.requestCount == 2)
            try await site.proxy.bench.reopened { cache async throws in
                let stored = try await cache.resource(for: site.proxy.bench.origin.url("/go.m3u8")).contentInformation()
                #expect(stored.finalURL?.target == "/deep/down/list.m3u8", "after a restart, too")
            }
        }
    }

    @Test func aListThatIsNotStoredIsWrittenToo() async throws {
        try await Site.run { site async throws in
            site.publish("", at: "/go.m3u8") {
                $0.redirect = "/deep/list.m3u8"
                $0.fields[.cacheControl] = "no-store"
            }
            site.publish("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n", at: "/deep/list.m3u8") {
                $0.fields[.cacheControl] = "no-store"
            }
            let expected = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(site.through)/deep/1.ts\n"
            #expect(try await site.text("/go.m3u8") == expected)
        }
    }

    @Test func variablesAreExpandedAndImported() async throws {
        try await Site.run { site async throws in
            site.publish(
                """
                #EXTM3U
                #EXT-X-DEFINE:NAME="cdn",VALUE="https://cdn.example/x"
                #EXT-X-STREAM-INF:BANDWIDTH=1
                low/list.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2
                {$cdn}/high/list.m3u8

                """, at: "/main.m3u8")
            let main = try await site.text("/main.m3u8")
            #expect(main.contains("\nlow/list.m3u8\n"))
            #expect(main.contains("\n/https/cdn.example/x/high/list.m3u8\n"))
            site.publish(
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-DEFINE:IMPORT=\"cdn\"\n#EXTINF:1,\n{$cdn}/1.ts\n",
                at: "/low/list.m3u8")
            #expect(try await site.text("/low/list.m3u8").hasSuffix("\n/https/cdn.example/x/1.ts\n"))
        }
    }

    @Test("variables of another user are not imported", arguments: [false, true])
    func variablesThatDiffer(isShared: Bool) async throws {
        try await Site.run(isShared: isShared) { site async throws in
            for user in ["a", "b"] {
                site.publish(
                    "#EXTM3U\n#EXT-X-DEFINE:NAME=\"cdn\",VALUE=\"https://cdn.example/\(user)\"\n"
                        + "#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n", at: "/\(user).m3u8")
                _ = try await site.text("/\(user).m3u8")
            }
            site.publish(
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-DEFINE:IMPORT=\"cdn\"\n#EXTINF:1,\n{$cdn}/1.ts\n",
                at: "/list.m3u8")
            let expected = isShared ? "\n{$cdn}/1.ts\n" : "\n/https/cdn.example/b/1.ts\n"
            #expect(try await site.text("/list.m3u8").hasSuffix(expected))
        }
    }

    @Test func theBaseFollowsARedirectThatLeadsElsewhere() async throws {
        try await Site.run { site async throws in
            for folder in ["a", "b"] {
                site.publish("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n1.ts\n", at: "/\(folder)/list.m3u8") {
                    $0.fields[.cacheControl] = "no-cache"
                }
            }
            for folder in ["a", "b"] {
                site.publish("", at: "/go.m3u8") {
                    $0.redirect = "/\(folder)/list.m3u8"
                    $0.fields[.cacheControl] = "no-store"
                }
                #expect(try await site.text("/go.m3u8").hasSuffix("\n\(site.through)/\(folder)/1.ts\n"))
            }
            #expect(site.proxy.bench.origin.snapshot["/b/list.m3u8"].bodyBytesSent == 0, "answered with 304")
        }
    }

    @Test("the look at a body without a validator costs no request and cuts nothing off")
    func aLookAtASlowBody() async throws {
        try await Site.run { site async throws in
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
            let personality = TestOrigin.Personality { $0.bytesPerSecond = 1_000_000 }
            site.proxy.bench.origin.set(
                TestOrigin.Resource(
                    .bytes(bytes), mediaType: "application/octet-stream", etag: nil, lastModified: nil,
                    personality: personality), at: "/file")
            #expect(try await site.proxy.get("/file").body == bytes)
            #expect(site.proxy.bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test func theTokenIsPartOfEveryLink() async throws {
        try await Site.run(token: "secret") { site async throws in
            site.publish("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/1.ts\n", at: "/list.m3u8")
            #expect(try await site.text("/list.m3u8", prefix: "/secret").hasSuffix("\n/secret\(site.through)/1.ts\n"))
        }
    }

    @Test(
        "A list is known by its type, its name or its first bytes",
        arguments: [
            ("/a", hls, true), ("/a", "audio/x-mpegurl", true), ("/a.m3u8", "video/mp2t", true), ("/a.m3u", nil, true),
            ("/a?live", "application/octet-stream", true), ("/a", "text/plain", true), ("/a", nil, true),
            ("/a", "video/mp4", true), ("/a", "text/html", true), ("/a.mp4", "application/octet-stream", false),
            ("/a.ts", "text/html", false),
        ] as [(String, String?, Bool)])
    func kinds(path: String, type: String?, isEdited: Bool) async throws {
        try await Site.run { site async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/1.ts\n"
            site.publish(list, at: path, type: type)
            let expected = isEdited ? list.replacing("/1.ts", with: "\(site.through)/1.ts") : list
            #expect(try await site.text(path) == expected)
        }
    }

    @Test func whatIsNoListIsSentAsItCame() async throws {
        try await Site.run { site async throws in
            let page = "<html><a href=\"/x\"></html>"
            site.publish(page, at: "/page.m3u8", type: Self.hls)
            #expect(try await site.text("/page.m3u8") == page)
            let line = "#EXTM3U\n/1.ts\n#" + String(repeating: "x", count: 2 << 20)
            site.publish(line, at: "/line.m3u8")
            let written = line.replacing("/1.ts", with: "http://localhost\(site.through)/1.ts")
            #expect(try await site.text("/line.m3u8") == written, "only the long line stays")
            let bytes = [UInt8](repeating: 7, count: 100_000)
            site.proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(bytes), mediaType: "application/octet-stream", etag: "\"b\""), at: "/file")
            #expect(try await site.proxy.get("/file").body == bytes)
        }
    }

    @Test func aFileThatIsNoListIsAnsweredAsWithoutTheQuestion() async throws {
        try await Site.run { site async throws in
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
            site.proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(bytes), mediaType: "application/octet-stream", etag: "\"b\""), at: "/file")
            let miss = try await site.proxy.get("/file")
            #expect(miss.head.fields["cache-status"] == "reprise; fwd=uri-miss; fwd-status=200; stored")
            #expect(miss.body == bytes)
            let part = try await site.proxy.get("/file", ["Range: bytes=5-9"])
            #expect(part.head.status == 206)
            #expect(part.body == Array(bytes[5..<10]))
            let beyond = try await site.proxy.get("/file", ["Range: bytes=100000-"])
            #expect(beyond.head.status == 416)
            #expect(beyond.head.fields["content-range"] == "bytes */100000")
            #expect(try await site.proxy.get("/file", method: "HEAD").head.length == 100_000)
            #expect(site.proxy.bench.origin.snapshot.bytesSentMoreThanOnce == 0)
        }
    }

    @Test func basesAndTemplatesOfAnMPDLeadThroughTheProxy() async throws {
        try await Site.run { site async throws in
            let list = """
                <?xml version="1.0"?>
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static">
                  <Location>https://cdn.example/now.mpd?a=1&amp;b=2</Location>
                  <Period><BaseURL>https://cdn.example/p/</BaseURL>
                    <AdaptationSet><Representation id="v" bandwidth="1">
                      <SegmentTemplate media="$RepresentationID$/$Number$.m4s" initialization="/init.mp4"/>
                    </Representation></AdaptationSet>
                  </Period>
                  <Period><AdaptationSet><Representation id="a" bandwidth="1"><BaseURL>a.mp4</BaseURL>
                  </Representation></AdaptationSet></Period>
                  <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="https://time.example/"/>
                </MPD>
                """
            site.publish(list, at: "/show/list.mpd", type: Self.dash)
            let proxy = "http://\(site.host)"
            let expected =
                list
                .replacing("https://cdn.example/now", with: "\(proxy)/https/cdn.example/now")
                .replacing("https://cdn.example/p/", with: "\(proxy)/https/cdn.example/p/")
                .replacing("\"/init.mp4", with: "\"\(proxy)/https/cdn.example/init.mp4")
            #expect(try await site.text("/show/list.mpd") == expected)
        }
    }
}
