import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The cookies of a playlist reach the files that it names, also where the playlist comes from the store or was fetched
/// for another program (RFC 6265 §5.4), and nothing else.
@Suite("Cookies of playlists", .limit(minutes: 1)) struct PlaylistCookieTests {
    private static let list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n"

    /// An origin whose lists at `tv.test` set `cookie` and name a segment at `segment`.
    private static func run(
        cookie: String, segment: String = "s.ts", type: String = "application/vnd.apple.mpegurl",
        control: String = "max-age=60", isShared: Bool = false, clock: ShiftableClock = ShiftableClock(),
        _ body: (ProxyServer, ScriptedOrigin) async throws -> Void
    ) async throws {
        let origin = ScriptedOrigin { request, _ in
            guard request.url.lastPathComponent.hasSuffix(".m3u8") else {
                return .init(200, [.contentType: "video/mp2t", .contentLength: "1"], body: [1])
            }
            let text = Array((list + segment + "\n#EXT-X-ENDLIST\n").utf8)
            return .init(
                200,
                [
                    .contentType: type, .contentLength: "\(text.count)", .cacheControl: control, .setCookie: cookie,
                    .eTag: "\"1\"",
                ], body: text)
        }
        try await origin.run(configure: {
            $0.clock = clock.cacheClock
            $0.reuse.isShared = isShared
        }) { cache async throws in
            try await CannedOrigin.serve(cache, configure: { $0.clock = clock.cacheClock }) { server async throws in
                try await body(server, origin)
            }
        }
    }

    private static func get(_ target: String, _ fields: [String] = [], at server: ProxyServer) async throws
        -> RawClient.Head
    {
        try await RawClient.exchange(port: server.port, target, fields).head
    }

    @Test(
        "a segment gets them as it would directly",
        arguments: [
            ("t=1; Path=/", "s.ts", "/http/tv.test/live/s.ts", "t=1"),
            ("t=1", "s.ts", "/http/tv.test/live/s.ts", "t=1"),
            ("t=1", "/s.ts", "/http/tv.test/s.ts", nil),
            ("t=1; Path=/", "http://cdn.tv.test/s.ts", "/http/cdn.tv.test/s.ts", nil),
            ("t=1; Path=/; Domain=.tv.test", "http://cdn.tv.test/s.ts", "/http/cdn.tv.test/s.ts", "t=1"),
            ("t=1; Path=/", "http://tv.test:8080/s.ts", "/http/tv.test:8080/s.ts", "t=1"),
            ("t=1; Path=/; Secure", "http://tv.test/s.ts", "/http/tv.test/s.ts", nil),
            ("t=1; Path=/; Secure", "https://tv.test/s.ts", "/https/tv.test/s.ts", nil),
            ("t=1; Path=/; Domain=tv.test", "http://evil.test/s.ts", "/http/evil.test/s.ts", nil),
        ] as [(String, String, String, String?)])
    func segments(cookie: String, link: String, target: String, expected: String?) async throws {
        try await Self.run(cookie: cookie, segment: link) { server, origin async throws in
            // The second program gets the list from the store.
            for _ in 0..<2 { #expect(try await Self.get("/http/tv.test/live/v.m3u8", at: server).status == 200) }
            _ = try await Self.get(target, at: server)
            #expect(origin.requests.last?.url.lastPathComponent == "s.ts")
            #expect(origin.requests.last?.fields[.cookie] == expected)
        }
    }

    @Test("those that a redirect to the list set reach its segments, too")
    func redirected() async throws {
        try await ProxyBench.run { proxy async throws in
            let text = Array("\(Self.list)s.ts\n#EXT-X-ENDLIST\n".utf8)
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(text), mediaType: "application/vnd.apple.mpegurl", etag: "\"1\""),
                at: "/live/v.m3u8")
            proxy.bench.publish("/live/s.ts", length: 1000, type: "video/mp2t")
            proxy.bench.origin.set(
                TestOrigin.Resource(
                    .bytes([]),
                    personality: TestOrigin.Personality {
                        ($0.redirect, $0.fields) = ("/live/v.m3u8", [.setCookie: "t=1; Path=/"])
                    }), at: "/go")
            for _ in 0..<2 { #expect(try await proxy.get("/go").head.status == 200) }
            _ = try await proxy.get("/live/s.ts")
            let request = proxy.bench.origin.snapshot["/live/s.ts"].requests.last
            #expect(request?.fields[.cookie] == "t=1")
        }
    }

    @Test("those of a list that a redirect to another host led to reach its segments, and no other host's files")
    func otherHost() async throws {
        try await ProxyBench.run { proxy async throws in
            let host = "localhost:\(proxy.bench.origin.port)"
            let text = Array("\(Self.list)s.ts\n#EXT-X-ENDLIST\n".utf8)
            proxy.bench.origin.set(
                TestOrigin.Resource(
                    .bytes(text), mediaType: "application/vnd.apple.mpegurl", etag: "\"1\"",
                    fields: [.setCookie: "t=1; Path=/"]),
                at: "/live/v.m3u8")
            for path in ["/live/s.ts", "/other.ts"] { proxy.bench.publish(path, length: 1000, type: "video/mp2t") }
            proxy.bench.origin.set(
                TestOrigin.Resource(
                    .bytes([]),
                    personality: TestOrigin.Personality { $0.redirect = "http://\(host)/live/v.m3u8" }), at: "/go")
            let head = try await proxy.get("/go").head
            #expect(head.fields["set-cookie"] == "t=1; Path=/http/\(host)/")
            _ = try await RawClient.exchange(port: proxy.server.port, "/http/\(host)/live/s.ts")
            #expect(proxy.bench.origin.snapshot["/live/s.ts"].requests.last?.fields[.cookie] == "t=1")
            _ = try await proxy.get("/other.ts")
            #expect(proxy.bench.origin.snapshot["/other.ts"].requests.last?.fields[.cookie] == nil)
        }
    }

    @Test("a program's own cookies count more; a browser and files that no list names get none")
    func others() async throws {
        try await Self.run(cookie: "t=1; Path=/") { server, origin async throws in
            _ = try await Self.get("/http/tv.test/live/v.m3u8", at: server)
            _ = try await Self.get("/http/tv.test/live/s.ts", ["Cookie: t=own; u=2"], at: server)
            #expect(origin.requests.last?.fields[.cookie] == "t=own; u=2")
            _ = try await Self.get("/http/tv.test/live/other.ts", at: server)
            #expect(origin.requests.last?.fields[.cookie] == nil)
        }
        try await Self.run(cookie: "t=1; Path=/") { server, origin async throws in
            _ = try await Self.get("/http/tv.test/live/v.m3u8", at: server)
            _ = try await Self.get("/http/tv.test/live/s.ts", ["Sec-Fetch-Site: none"], at: server)
            #expect(origin.requests.last?.url.lastPathComponent == "s.ts")
            #expect(origin.requests.last?.fields[.cookie] == nil)
        }
    }

    @Test("in a cache of several users each has the cookies of its own answer only")
    func shared() async throws {
        try await Self.run(cookie: "t=1; Path=/", control: "public, max-age=60", isShared: true) {
            server, origin async throws in
            for _ in 0..<2 { _ = try await Self.get("/http/tv.test/live/v.m3u8", at: server) }
            _ = try await Self.get("/http/tv.test/live/s.ts", at: server)
            #expect(origin.requests.last?.url.lastPathComponent == "s.ts")
            #expect(origin.requests.last?.fields[.cookie] == nil)
        }
    }

    @Test("a stored playlist brings its cookie along for as long as that lasts (RFC 9111 §3.1)")
    func storedCookie() async throws {
        let clock = ShiftableClock()
        try await Self.run(cookie: "t=1; Max-Age=30; Path=/", clock: clock) { server, origin async throws in
            let path = "Path=/http/tv.test/"
            #expect(
                try await Self.get("/http/tv.test/v.m3u8", at: server).fields["set-cookie"]
                    == "t=1; Max-Age=30; \(path)")
            clock.shift(by: .seconds(20))
            #expect(
                try await Self.get("/http/tv.test/v.m3u8", at: server).fields["set-cookie"]
                    == "t=1; Max-Age=10; \(path)")
            clock.shift(by: .seconds(20))
            #expect(try await Self.get("/http/tv.test/v.m3u8", at: server).fields["set-cookie"] == nil)
            #expect(origin.requests.count == 1)
            _ = try await Self.get("/http/tv.test/s.ts", at: server)
            #expect(origin.requests.last?.fields[.cookie] == nil, "it is over")
        }
    }

    @Test("cookies of the list and of the program are sent in one field (RFC 6265 §5.4)")
    func oneField() async throws {
        try await Self.run(cookie: "t=1; Path=/") { server, origin async throws in
            _ = try await Self.get("/http/tv.test/v.m3u8", at: server)
            let client = try RawClient(port: server.port)
            try await client.get("/http/tv.test/s.ts", ["Cookie: mine=1"])
            _ = try await client.head()
            let cookies = origin.requests.last?.fields.filter { $0.name == .cookie }.map(\.value)
            #expect(cookies == ["mine=1; t=1"])
        }
    }

    @Test("an ended list that sets cookies and has no lifetime is asked for each time, as a player would")
    func endedList() async throws {
        try await Self.run(cookie: "t=1", control: "") { server, origin async throws in
            for count in 1...3 {
                _ = try await Self.get("/http/tv.test/v.m3u8", at: server)
                #expect(origin.requests.count == count)
            }
        }
    }
}
