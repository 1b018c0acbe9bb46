import HTTPTypes
import Reprise
import RepriseHTTPClient
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The proxy as seen by a browser, on the wire.
@Suite(.limit(minutes: 2)) struct BrowserWireTests {
    private static let page = "http://localhost:8000"
    private static let tab = ["Sec-Fetch-Site: none", "Sec-Fetch-Dest: document"]
    private static let fromPage = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: empty", "Origin: \(page)"]

    private static func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    private static func expectGuards(_ head: RawClient.Head, _ sharing: String = "same-origin") {
        let policy = head.fields["content-security-policy"] ?? ""
        #expect(policy.hasPrefix("sandbox"))
        #expect(policy.contains("; default-src 'none'; "))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("allow-scripts"))
        #expect(head.fields["x-content-type-options"] == "nosniff")
        #expect(head.fields["cross-origin-resource-policy"] == sharing)
    }

    @Test("every kind of answer keeps a browser from running it", arguments: [[], tab])
    func guardsStandInEveryAnswer(fields: [String]) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 50_000)
            proxy.bench.publish("/gone", length: 10) { $0.status = 410 }
            proxy.bench.publish("/coded", length: 10) { $0.contentEncoding = "br" }
            proxy.bench.publish("/page", length: 10, type: "text/html")
            func check(_ status: Int, _ path: String, _ more: [String] = [], method: String = "GET") async throws {
                let head = try await proxy.get(path, fields + more, method: method).head
                #expect(head.status == status, "\(method) \(path) \(more)")
                Self.expectGuards(head)
            }
            try await check(200, "/a", method: "HEAD")
            for _ in 0..<2 { try await check(200, "/a") }
            try await check(206, "/a", ["Range: bytes=0-9"])
            try await check(206, "/a", ["Range: bytes=0-40000"])
            try await check(206, "/a", ["Range: bytes=0-1, 5-6"])
            try await check(304, "/a", ["If-None-Match: \"v1\""])
            try await check(412, "/a", ["If-Match: \"v2\""])
            try await check(416, "/a", ["Range: bytes=50000-"])
            try await check(200, "/a", method: "HEAD")
            try await check(410, "/gone")
            try await check(404, "/nothing")
            try await check(200, "/coded")
            try await check(200, "/page")
            try await check(204, "/a", method: "OPTIONS")
            try await check(fields.isEmpty ? 405 : 403, "/a", method: "TRACE")
            let index = try await RawClient.exchange(port: proxy.server.port, "/", fields)
            #expect(index.head.status == 200)
            Self.expectGuards(index.head)
            let wrong = try await RawClient.exchange(port: proxy.server.port, "/ftp/x", fields)
            #expect(wrong.head.status == 400)
            Self.expectGuards(wrong.head)
        }
    }

    @Test("an answer to another method is guarded too") func otherMethods() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 10) { $0.statusOfOtherMethods = 200 }
            let head = try await proxy.get("/a", ["Content-Length: 0"], method: "POST").head
            #expect(head.status == 200)
            Self.expectGuards(head)
        }
    }

    @Test("a document of media keeps its origin, so that its element may load it; scripts remain forbidden")
    func policies() async throws {
        try await ProxyBench.run { proxy async throws in
            for (type, isShown) in [
                ("video/mp4", true), ("audio/mpeg; x=1", true), ("image/png", true), ("text/html", false),
                ("image/svg+xml", false), ("application/octet-stream", false), ("text/javascript", false),
            ] {
                proxy.bench.publish("/a", length: 10, etag: "\"\(type.count)\"", type: type) {
                    $0.fields = [.cacheControl: "no-store"]
                }
                let policy = try await proxy.get("/a", Self.tab).head.fields["content-security-policy"]
                #expect(policy?.hasPrefix("sandbox allow-same-origin;") == isShown, "\(type)")
                #expect(policy?.contains("media-src 'self'") == isShown, "\(type)")
            }
        }
    }

    private static let dangerous = [
        "Content-Security-Policy": "default-src *", "Service-Worker-Allowed": "/", "Clear-Site-Data": "*",
        "Refresh": "0; url=http://evil.example/", "Link": "</x>; rel=preload", "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Credentials": "true", "Cross-Origin-Opener-Policy": "unsafe-none",
        "Cross-Origin-Resource-Policy": "cross-origin", "Timing-Allow-Origin": "*", "Set-Cookie": "a=b",
        "Strict-Transport-Security": "max-age=1", "Alt-Svc": "h3", "Reporting-Endpoints": "a=\"http://evil.example/\"",
        "WWW-Authenticate": "Basic realm=x", "X-Content-Type-Options": "no",
    ]

    @Test("fields that apply to a whole site do not reach a browser, from the origin or from the store")
    func dangerousFields() async throws {
        try await ProxyBench.run(configureProxy: { $0.allowedPages = [Self.page] }) { proxy async throws in
            var fields: HTTPFields = [:]
            for (name, value) in Self.dangerous { fields[try Self.name(name)] = value }
            proxy.bench.publish("/a", length: 10) { $0.fields = fields }
            proxy.bench.publish("/gone", length: 10) {
                $0.fields = fields
                $0.status = 401
            }
            for (asking, path) in [(Self.tab, "/a"), (Self.tab, "/a"), (Self.tab, "/gone"), (Self.fromPage, "/a")] {
                let head = try await proxy.get(path, asking).head
                let isPage = asking == Self.fromPage
                Self.expectGuards(head, isPage ? "cross-origin" : "same-origin")
                #expect(head.fields["access-control-allow-origin"] == (isPage ? Self.page : nil))
                #expect(head.fields["timing-allow-origin"] == (isPage ? Self.page : nil))
                for name in [
                    "service-worker-allowed", "clear-site-data", "refresh", "link", "access-control-allow-credentials",
                    "cross-origin-opener-policy", "set-cookie", "strict-transport-security", "alt-svc",
                    "reporting-endpoints", "www-authenticate",
                ] { #expect(head.fields[name] == nil, "\(name) of \(path)") }
            }
            // A player is not a browser: it gets fields that are harmless to it, never fields that a page could use.
            proxy.bench.publish("/page", length: 10, type: "text/html") { $0.fields = fields }
            for path in ["/a", "/a", "/page"] {
                let head = try await proxy.get(path).head
                let lines = try await proxy.server.raw([
                    "GET \(proxy.target(path)) HTTP/1.1", "Host: localhost", "Connection: close",
                ])
                .split(separator: "\r\n").filter { $0.lowercased().hasPrefix("content-security-policy") }
                #expect(lines.first == "Content-Security-Policy: default-src *")
                #expect((lines.count == 2) == (path == "/page"), "an old browser obeys both, and runs nothing")
                #expect(head.fields["service-worker-allowed"] == nil)
                #expect(head.fields["access-control-allow-origin"] == nil)
                #expect(head.fields["cross-origin-resource-policy"] == "same-origin")
            }
        }
    }

    @Test("a page's forbidden requests never reach the origin, stored or not") func refusals() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            _ = try await proxy.get("/a")
            let cross = ["Sec-Fetch-Site: cross-site", "Origin: http://evil.example"]
            for (method, fields) in [
                ("GET", cross), ("HEAD", cross), ("POST", ["Origin: http://evil.example", "Content-Length: 0"]),
                ("POST", cross + ["Content-Length: 0"]), ("DELETE", ["Sec-Fetch-Site: same-origin"]),
                ("GET", ["Service-Worker: script"]), ("GET", ["Sec-Fetch-Site: none", "Sec-Fetch-Dest: iframe"]),
                ("OPTIONS", cross + ["Access-Control-Request-Method: GET"]),
            ] {
                let head = try await proxy.get("/a", fields, method: method).head
                #expect(head.status == 403, "\(method) \(fields)")
                #expect(head.fields["access-control-allow-origin"] == nil)
                Self.expectGuards(head)
            }
            #expect(proxy.bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test("an allowed page gets CORS from the proxy itself: hls.js and dash.js read (Fetch standard §3.2)")
    func allowedPage() async throws {
        try await ProxyBench.run(configureProxy: { $0.allowedPages = ["HTTP://LocalHost:8000/"] }) {
            proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            for _ in 0..<2 {
                let head = try await proxy.get("/a", Self.fromPage + ["Range: bytes=0-9"]).head
                #expect(head.status == 206)
                #expect(head.fields["access-control-allow-origin"] == Self.page)
                #expect(head.fields["vary"] == "Origin")
                #expect(
                    head.fields["access-control-expose-headers"]
                        == "Content-Range, Accept-Ranges, Content-Length, ETag, Date, Age, Cache-Status")
                #expect(head.fields["access-control-allow-credentials"] == nil)
                Self.expectGuards(head, "cross-origin")
                #expect(
                    try await proxy.get("/nothing", Self.fromPage).head.fields["access-control-allow-origin"] != nil)
                Self.expectGuards(try await proxy.get("/a").head)
            }
            let preflight = try await proxy.get(
                "/a",
                Self.fromPage + [
                    "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: range",
                    "Access-Control-Request-Private-Network: true",
                ], method: "OPTIONS"
            ).head
            #expect(preflight.status == 204)
            #expect(preflight.fields["access-control-allow-origin"] == Self.page)
            #expect(preflight.fields["access-control-allow-methods"] == "GET, HEAD")
            #expect(preflight.fields["access-control-allow-headers"]?.contains("Range") == true)
            #expect(preflight.fields["access-control-allow-private-network"] == "true")
            #expect(preflight.fields["access-control-max-age"] == "7200")
            #expect(try await proxy.get("/a", Self.fromPage, method: "POST").head.status == 403)
        }
    }

    @Test("players and pages on one connection each get their own fields") func oneConnection() async throws {
        try await ProxyBench.run(configureProxy: { $0.allowedPages = [Self.page] }) { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            _ = try await proxy.get("/a")
            let client = try RawClient(port: proxy.server.port)
            for (fields, origin) in [([], nil), (Self.fromPage, Self.page), ([], nil)] as [([String], String?)] {
                try await client.get(proxy.target("/a"), fields)
                let head = try await client.head()
                #expect(head.fields["access-control-allow-origin"] == origin)
                #expect(head.fields["cache-status"] == "reprise; hit")
                _ = try await client.body(10)
            }
        }
    }

    @Test("a token does not replace a page's permission") func tokens() async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "t" }) { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            let target = "/t" + proxy.target("/a")
            let head = try await RawClient.exchange(
                port: proxy.server.port, target, ["Sec-Fetch-Site: cross-site", "Origin: http://evil.example"]
            ).head
            #expect(head.status == 403)
            #expect(try await RawClient.exchange(port: proxy.server.port, target).head.status == 200)
        }
    }

    @Test("an allowed page that is no origin is refused at the start", arguments: ["null", "*", "localhost:8000"])
    func wrongPages(page: String) async throws {
        var configuration = ProxyConfiguration()
        configuration.allowedPages = [page]
        let cache = MediaCache.withoutStore(origin: CannedOrigin { _ in .init(status: 200) })
        let error = await #expect(throws: RepriseError.self) {
            try await ProxyServer.start(cache, configuration: configuration)
        }
        #expect(error?.code == .invalidArgument)
    }
}
