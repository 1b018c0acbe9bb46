import Foundation
import HTTPTypes
import Logging
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// A server with several tokens, as its clients see it.
@Suite(.limit(minutes: 2)) struct AccessWireTests {
    private static let tokens = [
        AccessToken("annas-token", name: "anna", mayControl: false),
        AccessToken("bertas-token", name: "berta", mayControl: true),
    ]
    /// The same, but Anna may have one file at a time.
    private static let limited = [
        AccessToken("annas-token", name: "anna", mayControl: false, mostAnswers: 1), tokens[1],
    ]
    private static let basic = "Authorization: Basic YW5uYTphbm5hcy10b2tlbg=="
    private static let bearer = "Authorization: Bearer bertas-token"

    private static func run(
        _ configure: (inout ProxyConfiguration) -> Void = { _ in }, _ body: (ProxyBench) async throws -> Void
    ) async throws {
        try await ProxyBench.run(
            configureProxy: {
                $0.tokens = tokens
                $0.clock = ShiftableClock().cacheClock
                configure(&$0)
            }, body)
    }

    private static func get(
        _ target: String, _ fields: [String] = [], at proxy: ProxyBench, method: String = "GET"
    ) async throws -> (head: RawClient.Head, body: [UInt8]) {
        try await RawClient.exchange(port: proxy.server.port, target, fields, method: method)
    }

    @Test("path, Basic and Bearer lead to the file; nothing else does, and says how (RFC 9110 §15.5.2)")
    func ways() async throws {
        try await Self.run { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            let target = proxy.target("/a")
            for (target, fields) in [
                ("/annas-token" + target, []), (target, [Self.basic]), (target, [Self.bearer]),
            ] {
                #expect(try await Self.get(target, fields, at: proxy).head.status == 200, "\(target) \(fields)")
            }
            for (target, fields) in [
                (target, []), ("/annas-tokem" + target, []), (target, ["Authorization: Bearer annas"]),
                ("/", []), ("/-/status.json", []), ("/metrics", []), (target, ["Authorization: Basic YW5uYTp4"]),
            ] {
                let answer = try await Self.get(target, fields, at: proxy)
                #expect(answer.head.status == 401, "\(target) \(fields)")
                let challenges = answer.head.fields["www-authenticate"]
                #expect(challenges == "Bearer realm=\"reprise\", Basic realm=\"reprise\", charset=\"UTF-8\"")
            }
            let fields = await proxy.bench.origin.settledSnapshot().requests.map(\.fields)
            #expect(!fields.isEmpty && fields.allSatisfy { $0[.authorization] == nil })
            // Each challenge is a line of its own.
            let text = try await proxy.server.raw(["GET / HTTP/1.1", "Host: localhost", "Connection: close"])
            #expect(text.contains("\r\nWWW-Authenticate: Basic realm"))
        }
    }

    @Test("a token with browse reads the list of titles for players, and nothing else of the control") func browsing()
        async throws
    {
        try await Self.run({
            $0.tokens = Self.tokens + [AccessToken("tvs-token", name: "tv", mayControl: false, mayBrowse: true)]
        }) { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            _ = try await Self.get("/bertas-token" + proxy.target("/a"), at: proxy)
            let list = try await Self.get("/tvs-token/-/titles.m3u?sort=name", at: proxy)
            let text = String(decoding: list.body, as: UTF8.self)
            #expect(list.head.status == 200 && text.contains("/tvs-token" + proxy.target("/a")), "\(text)")
            let shown = try await Self.get("/-/titles.m3u", ["Authorization: Bearer tvs-token"], at: proxy)
            #expect(
                shown.head.status == 200 && String(decoding: shown.body, as: UTF8.self).contains("/tvs-token/http/"))
            let control = try await Self.get("/-/titles.m3u", [Self.bearer], at: proxy)
            #expect(control.head.status == 200 && !String(decoding: control.body, as: UTF8.self).contains("-token"))
            #expect(try await Self.get("/tvs-token/-/play?id=none", at: proxy).head.status == 404)
            for path in ["titles.json", "status.json", "events", "title.json?id=1", "titles.m3u/", "api/titles.m3u"] {
                #expect(try await Self.get("/tvs-token/-/" + path, at: proxy).head.status == 403, "\(path)")
            }
            #expect(try await Self.get("/tvs-token/-/titles.m3u", at: proxy, method: "POST").head.status == 403)
            #expect(try await Self.get("/annas-token/-/titles.m3u", at: proxy).head.status == 403)
        }
    }

    @Test(
        "a browser is refused whatever it remembers, and not asked for a password",
        arguments: [
            ["Sec-Fetch-Site: none", "Sec-Fetch-Dest: document"], ["User-Agent: Mozilla/5.0"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: video"],
        ]) func browsers(fields: [String]) async throws
    {
        try await Self.run { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            for target in [proxy.target("/a"), "/", "/-/status.json", "/metrics"] {
                for shown in [[], [Self.basic], [Self.bearer]] {
                    let answer = try await Self.get(target, fields + shown, at: proxy)
                    #expect(answer.head.status == 403, "\(target)")
                    #expect(answer.head.fields["www-authenticate"] == nil)
                }
            }
            let isForeign = fields.contains("Sec-Fetch-Site: cross-site")
            let answer = try await Self.get("/annas-token" + proxy.target("/a"), fields, at: proxy)
            #expect(answer.head.status == (isForeign ? 403 : 200))
        }
    }

    @Test("what a connection was given before does not matter to its next request") func oneConnection() async throws {
        try await Self.run { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            let target = proxy.target("/a")
            let client = try RawClient(port: proxy.server.port)
            func status(_ target: String, _ fields: [String] = []) async throws -> Int {
                try await client.get(target, fields)
                let head = try await client.head()
                _ = try await client.body(try #require(head.length))
                return head.status
            }
            for _ in 0..<2 {
                let (shown, hidden) = (try await status(target, [Self.basic]), try await status(target))
                #expect(shown == 200 && hidden == 401)
                let inPath = try await status("/annas-token" + target)
                #expect(inPath == 200)
            }
            proxy.server.replaceTokens(with: [AccessToken("new-token", name: "anna", mayControl: false)])
            let former = [
                try await status(target, [Self.basic]), try await status("/annas-token" + target),
                try await status(target, [Self.bearer]),
            ]
            #expect(former == [401, 401, 401])
            let now = try await status("/new-token" + target)
            #expect(now == 200)
        }
    }

    @Test func onlyATokenForControlLooksAfterTheServer() async throws {
        try await Self.run { proxy async throws in
            for target in ["/metrics", "/-/status.json", "/-/api/log-level"] {
                for fields in [[], [Self.basic]] {
                    let prefix = fields.isEmpty ? "/annas-token" : ""
                    #expect(try await Self.get(prefix + target, fields, at: proxy).head.status == 403, "\(target)")
                }
            }
            for target in ["/metrics", "/-/status.json"] {
                #expect(try await Self.get("/bertas-token" + target, at: proxy).head.status == 200)
                #expect(try await Self.get(target, [Self.bearer], at: proxy).head.status == 200)
            }
            let html = ["Accept: text/html", "Sec-Fetch-Site: none", "Sec-Fetch-Dest: document"]
            let page = try await Self.get("/bertas-token/", html, at: proxy)
            let text = try await Self.get("/annas-token/", html, at: proxy)
            #expect(page.head.fields["content-type"]?.hasPrefix("text/html") == true)
            #expect(text.head.status == 200 && text.head.fields["content-type"]?.hasPrefix("text/plain") == true)
            let redirect = try await Self.get("/bertas-token", html, at: proxy)
            #expect(redirect.head.status == 308 && redirect.head.fields["location"] == "/bertas-token/")
        }
    }

    @Test("links of playlists go on behind the token that their client used, or without one") func playlists()
        async throws
    {
        try await Self.run { proxy async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/1.ts\n"
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: StreamSite.hls, etag: "\"v\""), at: "/l.m3u8")
            let target = proxy.target("/l.m3u8")
            for (prefix, fields) in [
                ("/annas-token", []), ("/bertas-token", []), ("", [Self.basic]), ("/annas-token", []),
            ] {
                let text = String(decoding: try await Self.get(prefix + target, fields, at: proxy).body, as: UTF8.self)
                #expect(text.hasSuffix("\n\(prefix)\(proxy.target("/1.ts"))\n"), "\(text)")
            }
        }
    }

    @Test("one file at a time, from the origin and from the store (RFC 6585 §4)", arguments: [false, true])
    func places(isStored: Bool) async throws {
        try await Self.run({ $0.tokens = Self.limited }) { proxy async throws in
            let length: Int64 = 64 << 20
            proxy.bench.publish("/film", length: length)
            proxy.bench.publish("/a", length: 10)
            let (film, other) = ("/annas-token" + proxy.target("/film"), "/annas-token" + proxy.target("/a"))
            if isStored {
                #expect(try await Self.get("/bertas-token" + proxy.target("/film"), at: proxy).body.count == length)
            }
            var client: RawClient? = try RawClient(port: proxy.server.port, receiveBufferSize: 4096)
            try await client?.get(film)
            let status = try await client?.head().status
            #expect(status == 200)
            let refused = try await Self.get(other, at: proxy)
            #expect(refused.head.status == 429 && refused.head.fields["retry-after"] == "1")
            // What concerns the server alone needs no place, and others have their own.
            #expect(try await Self.get("/annas-token/", at: proxy).head.status == 200)
            #expect(try await Self.get("/bertas-token" + proxy.target("/a"), at: proxy).head.status == 200)
            // Closed with unread bytes, which resets the connection.
            client = nil
            await eventually { (try? await Self.get(other, at: proxy).head.status) == 200 }
            // From then on it is free whenever the client has the last byte.
            for _ in 0..<20 {
                let status = try await Self.get(other, at: proxy).head.status
                #expect(status == 200)
            }
        }
    }

    @Test("logs and metrics have the names, and no token") func names() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var lines: [String] = []
        for format in AccessLogFormat.allCases {
            let path = directory.path + "/\(format)"
            let log = try AccessLog(path: path, format: format, logger: Logger(label: "test"))
            try await Self.run({ $0.accessLog = log }) { proxy async throws in
                proxy.bench.publish("/a", length: 10)
                let target = proxy.target("/a")
                _ = try await Self.get("/annas-token" + target, at: proxy)
                _ = try await Self.get(target, [Self.basic], at: proxy)
                _ = try await Self.get("/annas-token/-/status.json", at: proxy)
                _ = try await Self.get(target, at: proxy)
                _ = try await Self.get("http://localhost/bertas-token" + target, at: proxy)
                await proxy.becomeIdle()
                let answer = try await Self.get("/bertas-token/metrics", at: proxy)
                let metrics = try MetricsReader(String(decoding: answer.body, as: UTF8.self), isOpenMetrics: false)
                #expect(metrics.sum("reprise_token_responses_total", ["token": "anna"]) == 3)
                #expect(metrics.sum("reprise_token_bytes_total", ["token": "anna"]) >= 20)
                let names = metrics.samples("reprise_token_responses_total").map { $0.labels["token"] }
                #expect(names == ["anna", "berta"])
                #expect(metrics.sum("reprise_token_responses_total", ["token": "berta"]) == 0)
            }
            await log.close(within: .seconds(300))
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!text.contains("-token") && !text.contains("YW5u"))
            lines += text.split(separator: "\n").map(String.init)
        }
        let isNamed = lines.map { $0.contains("\"tokenName\":\"anna\"") || $0.contains("127.0.0.1 - anna [") }
        #expect(isNamed == [true, true, true, false, false, true, true, true, false, false], "\(lines)")
    }
}
