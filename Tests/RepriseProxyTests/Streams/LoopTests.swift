import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Links and redirects that lead back to the proxy (case 37, RFC 9110 §7.6.3).
@Suite("Loops", .limit(minutes: 1)) struct LoopTests {
    @Test("case 37: a redirect to the proxy ends with 508 at the second request, once for all readers")
    func redirect() async throws {
        try await StreamSite.run { site async throws in
            let own = "http://127.0.0.1:\(site.proxy.server.port)"
            let personality = TestOrigin.Personality {
                $0.status = 302
                $0.fields[.location] = own + site.proxy.target("/loop.m3u8")
            }
            site.origin.set(TestOrigin.Resource(.bytes([]), personality: personality), at: "/loop.m3u8")
            let reply = try await site.get("/loop.m3u8")
            #expect(reply.status == 508)
            #expect(site.requests("/loop.m3u8") == 1)
        }
    }

    @Test("case 37: a list that names the proxy, once or wrapped twice, comes back unchanged, and is refused if asked")
    func wrapped() async throws {
        try await StreamSite.run { site async throws in
            let host = "127.0.0.1:\(site.proxy.server.port)"
            let once = "http://\(host)\(site.proxy.target("/1.ts"))"
            let twice = "http://\(host)/http/\(host)\(site.proxy.target("/1.ts"))"
            site.publish(StreamSite.list([once, twice], ended: true), at: "/list.m3u8")
            site.publishSegment("/1.ts")
            let client = try RawClient(port: site.proxy.server.port)
            try await client.send(
                "GET \(site.proxy.target("/list.m3u8")) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let head = try await client.head()
            let text = String(decoding: try await client.body(try #require(head.length)), as: UTF8.self)
            #expect(text == StreamSite.list([once, twice], ended: true))
            func get(_ url: String) async throws -> Int {
                let target = String(url.dropFirst("http://\(host)".count))
                return try await RawClient.exchange(port: site.proxy.server.port, target).head.status
            }
            #expect(try await get(once) == 200)
            #expect(try await get(twice) == 508)
        }
    }

    @Test("only a name of its own in Via is a loop; those of other proxies are kept, with comments and other protocols")
    func names() async throws {
        let origin = CannedOrigin { _ in CannedOrigin.Answer(status: 200, fields: [.contentLength: "0"]) }
        try await origin.serve { server async throws in
            let others = "1.0 fred, HTTP/1.1 p.example.net (1.1 reprise), 1.1 reprise"
            let (head, _) = try await RawClient.exchange(port: server.port, "/https/a.example/x", ["Via: \(others)"])
            #expect(head.status == 200)
            let via = try #require(HTTPField.Name("Via"))
            let sent = try #require(origin.requests.first?.fields[via])
            #expect(sent.hasPrefix(others + ", 1.1 reprise-"))
            let own = sent.dropFirst(others.count + 2)
            for value in ["\(sent)", "1.1\t\(own.dropFirst(4)) (a comment)", "1.0 fred,\(own),1.1 other"] {
                let (head, _) = try await RawClient.exchange(port: server.port, "/https/a.example/x", ["Via: \(value)"])
                #expect(head.status == 508, "\(value)")
            }
            #expect(origin.requests.count == 1)
        }
    }

    @Test("a server is called by its name in all answers, requests, metrics and its status") func ownName() async throws
    {
        try await ProxyBench.run(configureProxy: { $0.name = "2-living.room" }) { proxy async throws in
            proxy.bench.publish("/a", length: 100)
            let member = "\"2-living.room\"; "
            for status in ["fwd=uri-miss", "hit"] {
                let (head, _) = try await proxy.get("/a")
                #expect(head.fields["via"] == "1.1 2-living.room")
                #expect(head.fields["cache-status"]?.hasPrefix(member + status) == true)
            }
            for (path, method) in [("/a", "HEAD"), ("/nothing", "GET"), ("/a", "POST")] {
                let (head, _) = try await proxy.get(path, method: method)
                #expect(head.fields["cache-status"]?.hasPrefix(member) == true, "\(method) \(path)")
            }
            let unreachable = try await RawClient.exchange(port: proxy.server.port, "/http/127.0.0.1:1/")
            #expect(unreachable.head.fields["cache-status"]?.hasPrefix(member) == true)
            let metrics = try await proxy.server.metrics()
            #expect(metrics.sum("reprise_build_info", ["name": "2-living.room"]) == 1)
            let status = try await RawClient.exchange(port: proxy.server.port, "/-/status.json")
            #expect(String(decoding: status.body, as: UTF8.self).contains(#""name":"2-living.room""#))
        }
    }
}
