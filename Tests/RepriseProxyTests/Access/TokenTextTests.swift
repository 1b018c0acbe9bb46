import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The tokens of a server leave it in no request, whatever the field and its form.
@Suite("Tokens that no origin is told", .limit(minutes: 1)) struct TokenTextTests {
    private static let token = "annas-token"
    private static let tokens = [
        AccessToken(token, name: "anna", mayControl: true),
        AccessToken("bertas-token", name: "berta", mayControl: false),
    ]

    @Test(
        "a token is found as a word, in any coding",
        arguments: [
            ("http://h/annas-token/http/a/b", true), ("annas-token", true), ("Bearer annas-token, Basic x", true),
            ("bearer\tbertas-token", true), ("h%2Fannas-token%2Fhttp", true), ("%61nnas-toke%6e", true),
            ("h%252Fannas-token", true), ("%zz%2Fannas-token", true), ("a=annas-token; b=c", true),
            ("Digest username=\"a\", uri=\"/annas-token/http/a/b\", response=\"0\"", true),
            ("Basic YW5uYTphbm5hcy10b2tlbg==", true), ("basic  YmVydGE6YW5uYXMtdG9rZW4=", true),
            ("for=\"annas-token\"", true), ("annas-tokens", false), ("x.annas-token", false), ("annas", false),
            ("ANNAS-TOKEN", false), ("", false), ("%", false), ("Basic %%%", false),
        ]) func words(value: String, isShown: Bool)
    {
        #expect(TokenTexts(Set(Self.tokens.map(\.text))).isShown(in: value) == isShown)
        #expect(!TokenTexts([]).isShown(in: value))
    }

    @Test(
        "logs show no token",
        arguments: [
            ("player annas-token 1.0", "player - 1.0"), ("http://h/a%2Fannas-token/b", "http://h/-/b"),
            ("bytes=0-1", "bytes=0-1"), ("'annas-token'", "'-'"), ("a,annas-token", "-"),
        ]) func logs(text: String, shown: String)
    {
        #expect(TokenTexts([Self.token]).hidden(in: text) == shown)
    }

    @Test(
        "no field with a token is sent to an origin",
        arguments: [
            "Referer: http://localhost/annas-token/http/a/b", "Referer: http://elsewhere/?annas-token",
            "Referer: http://elsewhere/%2Fannas-token%2Fa", "Authorization: Bearer annas-token",
            "AUTHORIZATION: bEaReR bertas-token", "Authorization: Bearer annas-token, Basic eDp5",
            "Authorization: Basic eDp5, Bearer bertas-token", "Authorization: Basic YmVydGE6YW5uYXMtdG9rZW4=",
            "Authorization: Digest username=\"a\", uri=\"/annas-token/http/a/b\", response=\"0\"",
            "Proxy-Authorization: Basic YW5uYTphbm5hcy10b2tlbg==", "Destination: http://localhost/annas-token/http/a/c",
            "Origin: http://annas-token", "Location: /annas-token/http/a", "Content-Location: /annas-token/http/a",
            "Cookie: a=b; session=annas-token", "X-Forwarded-Uri: /annas-token/http", "X-Forwarded-For: annas-token",
            "Forwarded: for=\"annas-token\"", "Via: 1.1 annas-token", "X-Custom: annas-token",
            "User-Agent: annas-token",
            "If-Match: \"annas-token\"", "If-None-Match: \"bertas-token\"", "If-Range: \"annas-token\"",
        ]) func fields(line: String) async throws
    {
        try await ProxyBench.run(configureProxy: { $0.tokens = Self.tokens }) { proxy async throws in
            proxy.bench.publish("/a", length: 10) {
                $0.fields[.cacheControl] = "no-store"
                $0.statusOfOtherMethods = 204
            }
            for method in ["GET", "HEAD", "POST", "MOVE"] {
                let target = "/annas-token" + proxy.target("/a")
                _ = try await RawClient.exchange(
                    port: proxy.server.port, target, [line, "Authorization: Custom theirs", "Content-Length: 0"],
                    method: method)
            }
            let requests = await proxy.bench.origin.settledSnapshot().requests
            #expect(requests.count == 4 || line.hasPrefix("Origin"))
            let name = line.prefix { $0 != ":" }.lowercased()
            for request in requests {
                #expect(
                    request.fields.allSatisfy {
                        !$0.value.contains("token") && !$0.value.contains("ZW") && !$0.value.contains("b2tlb")
                    }, "\(request.fields)")
                if name != "authorization" || !line.contains(",") {
                    #expect(request.fields[values: .authorization] == ["Custom theirs"])
                }
            }
        }
    }

    @Test("the server's own address is no referrer: the URL behind it is", arguments: ["POST", "GET", "MOVE"])
    func ownAddress(method: String) async throws {
        try await ProxyBench.run(configureProxy: { $0.tokens = Self.tokens }) { proxy async throws in
            proxy.bench.publish("/a", length: 10) {
                $0.fields[.cacheControl] = "no-store"
                $0.statusOfOtherMethods = 204
            }
            let referrers = [
                ("http://localhost/annas-token/http/a/b?q", "http://a/b?q"), ("http://LOCALHOST/annas-token/", nil),
                ("//localhost/x", nil), ("http://localhost/bertas-token/http/a/b", nil),
                ("https://tv.example/", "https://tv.example/"),
            ]
            for (referrer, _) in referrers {
                let target = "/annas-token" + proxy.target("/a")
                _ = try await RawClient.exchange(
                    port: proxy.server.port, target, ["Referer: \(referrer)", "Content-Length: 0"], method: method)
            }
            let requests = await proxy.bench.origin.settledSnapshot().requests
            #expect(requests.map { $0.fields[.referer] } == referrers.map(\.1))
        }
    }
}
