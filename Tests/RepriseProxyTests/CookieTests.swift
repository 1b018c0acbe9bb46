import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// An origin's cookies stay with that origin, and a client's with that client: RFC 6265 §5.1.4, §5.4.
@Suite(.limit(minutes: 1)) struct CookieTests {
    @Test(
        "a cookie's path begins with its origin's address",
        arguments: [
            ("a=b", "a=b; Path=/https/media.example/films"),
            ("a=b; Path=/; Domain=.example; Secure; HttpOnly", "a=b; HttpOnly; Path=/https/media.example/"),
            ("a=b;path=/films/x;Max-Age=5", "a=b; Max-Age=5; Path=/https/media.example/films/x"),
            ("a=b; Path=relative; SameSite=None; Partitioned", "a=b; Path=/https/media.example/films"),
            (
                "a=b; Expires=Wed, 01 Jan 2031 00:00:00 GMT",
                "a=b; Expires=Wed, 01 Jan 2031 00:00:00 GMT; Path=/https/media.example/films"
            ),
            ("__Host-a=b; Path=/; Secure", nil), ("__secure-a=b; Secure", nil), ("nothing", nil),
        ] as [(String, String?)])
    func scope(value: String, expected: String?) throws {
        let scope = try #require(
            CookieScope(
                target: "/https/media.example/films/one.mp4?x=/y",
                url: try ResourceURL("https://media.example/films/one.mp4?x=/y")))
        #expect(scope.scoped(value) == expected)
    }

    @Test("the client's own spelling of the address counts, and the token")
    func prefixes() throws {
        let url = try ResourceURL("http://h:81/one.mp4")
        #expect(CookieScope(target: "/t/HTTP://H:81/one.mp4", url: url)?.scoped("a=b") == "a=b; Path=/t/HTTP://H:81/")
        #expect(CookieScope(target: "/http/h:81?x", url: try ResourceURL("http://h:81?x")) == nil)
    }

    @Test("a client gets the cookies of its own response only, not those of a stored one")
    func storedCookies() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000) { $0.fields = [.setCookie: "session=first; Path=/"] }
            proxy.bench.publish("/gone", length: 10) {
                $0.fields = [.setCookie: "session=first", .cacheControl: "max-age=60"]
                $0.status = 404
            }
            let own = try await proxy.get("/a", ["Range: bytes=0-99"])
            #expect(own.head.fields["set-cookie"] == "session=first; Path=/http/127.0.0.1:\(proxy.bench.origin.port)/")
            for fields in [["Range: bytes=0-99"], ["Range: bytes=0-199"], [], ["If-None-Match: \"v1\""]] {
                #expect(try await proxy.get("/a", fields).head.fields["set-cookie"] == nil, "\(fields)")
            }
            #expect(try await proxy.get("/a", method: "HEAD").head.fields["set-cookie"] == nil)
            for _ in 0..<2 { #expect(try await proxy.get("/gone").head.fields["set-cookie"] == nil) }
        }
    }

    @Test("a shared cache gives no user the response that another one was redirected to")
    func personalRedirect() async throws {
        try await ProxyBench.run(configure: { $0.reuse.isShared = true }) { proxy async throws in
            for (seed, user) in [(1, "ann"), (2, "bob")] as [(UInt64, String)] {
                proxy.bench.publish("/\(user)", length: 1000, seed: seed) { $0.fields = [.cacheControl: "max-age=900"] }
                proxy.bench.origin.set(
                    TestOrigin.Resource(
                        .bytes([]), personality: TestOrigin.Personality { $0.redirect = "/\(user)" }), at: "/go")
                let answer = try await proxy.get("/go", ["Cookie: user=\(user)"])
                #expect(answer.body == TestPattern.bytes(in: 0..<1000, seed: seed))
            }
        }
    }

    @Test("passed responses keep their cookies, scoped; a browser neither gets nor sends any")
    func handedOn() async throws {
        let origin = CannedOrigin { _ in
            .init(status: 200, fields: [.setCookie: "a=b; Path=/", .cacheControl: "no-store"])
        }
        try await origin.serve { server async throws in
            for method in ["GET", "HEAD", "POST"] {
                let fields = ["Cookie: mine=1"]
                let player = try await RawClient.exchange(port: server.port, "/https/h/x", fields, method: method).head
                #expect(player.fields["set-cookie"] == "a=b; Path=/https/h/", "\(method)")
                #expect(origin.requests.last?.fields[.cookie] == "mine=1")
            }
            let tab = ["Sec-Fetch-Site: none", "Sec-Fetch-Dest: document", "Cookie: other=1"]
            for fields in [tab] {
                let browser = try await RawClient.exchange(port: server.port, "/https/h/x", fields).head
                #expect(browser.fields["set-cookie"] == nil)
                #expect(origin.requests.last?.fields[.cookie] == nil)
            }
        }
    }

    @Test("a redirect's target sets cookies for itself, and none for the requested server") func redirects()
        async throws
    {
        let origin = CannedOrigin { _ in
            .init(
                status: 200, fields: [.setCookie: "a=b", .cacheControl: "no-store"], finalURL: "https://other.example/x"
            )
        }
        try await origin.serve { server async throws in
            for (method, expected) in [("GET", "a=b; Path=/https/other.example/"), ("HEAD", nil)] as [(String, String?)]
            {
                let head = try await RawClient.exchange(port: server.port, "/https/h/x", method: method).head
                #expect(head.status == 200)
                #expect(head.fields["set-cookie"] == expected)
            }
        }
    }
}
