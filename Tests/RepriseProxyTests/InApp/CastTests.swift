import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// A proxy for devices of the network, which may be hostile: they get one title and nothing else.
@Suite(.limit(minutes: 1)) struct CastTests {
    private struct Site {
        let bench: Bench
        let proxy: InAppProxy
        let token: String

        static func run(title: String = "/s/main.m3u8", _ body: (Site) async throws -> Void) async throws {
            try await Bench.run { bench async throws in
                let rules = ItemRules(
                    fields: [.authorization: "Bearer app"], partition: nil, networkPolicy: .any)
                let url = try ResourceURL(bench.origin.url(title))
                let proxy = try InAppProxy(
                    bench.cache, rules: rules, reach: .network(.loopback, CastScope(url)))
                let token = try #require(proxy.address(of: url).split(separator: "/").dropFirst(2).first)
                let site = Site(bench: bench, proxy: proxy, token: String(token))
                site.publish()
                let result: Result<Void, any Error>
                do { result = .success(try await body(site)) } catch { result = .failure(error) }
                await proxy.stop()
                try result.get()
            }
        }

        private func publish() {
            publish("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n/s/v.m3u8\n", at: "/s/main.m3u8")
            publish(
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n",
                at: "/s/v.m3u8")
            for name in ["a", "b"] { bench.publish("/s/\(name).ts", length: 10_000, type: "video/mp2t") }
        }

        private func publish(_ text: String, at path: String) {
            bench.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: StreamSite.hls,
                    personality: TestOrigin.Personality { $0.fields[.setCookie] = "session=secret" }), at: path)
        }

        func target(_ path: String) -> String {
            "/\(token)/http/" + bench.origin.url(path).dropFirst("http://".count)
        }

        /// Asks as a device does, with exactly these fields besides Host.
        func ask(
            _ target: String, _ fields: [String] = [], method: String = "GET", host: String = "127.0.0.1"
        ) async throws -> (head: RawClient.Head, body: [UInt8]) {
            let client = try RawClient(port: proxy.port)
            let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)", "Connection: close"] + fields
            try await client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            let head = try await client.head()
            let body = try await client.upTo(method == "HEAD" ? 0 : head.length ?? 1 << 16)
            return (head, body)
        }

        func text(_ target: String) async throws -> String {
            String(decoding: try await ask(target).body, as: UTF8.self)
        }

        func count(_ path: String) -> Int { bench.origin.snapshot[path].requestCount }
    }

    @Test func aStreamIsServedWithLinksBelowItsToken() async throws {
        try await Site.run { site async throws in
            let list = try await site.text(site.target("/s/main.m3u8"))
            let link = try #require(list.split(separator: "\n").last.map(String.init))
            #expect(link == site.target("/s/v.m3u8"), "without a host, so that it leads to the same one")
            let media = try await site.text(link)
            #expect(media.contains("\na.ts\n"))
            let segment = try await site.ask(site.target("/s/a.ts"), ["Range: bytes=100-199"])
            #expect(segment.head.status == 206)
            #expect(segment.body == TestPattern.bytes(in: 100..<200, seed: 1))
            let known = try await site.ask(site.target("/s/a.ts"), method: "HEAD")
            #expect(known.head.length == 10_000)
        }
    }

    @Test func nothingElseIsServedThoughItIsStored() async throws {
        try await Site.run { site async throws in
            _ = try await site.bench.cache.resource(for: site.bench.origin.url("/s/b.ts")).read().collect()
            let requests = site.bench.origin.snapshot.requestCount
            let before = try await site.ask(site.target("/s/a.ts")).head.status
            #expect(before == 404, "no playlist that was served names it yet")
            _ = try await site.text(site.target("/s/main.m3u8"))
            for path in ["/s/b.ts", "/s/a.ts", "/s/main.m3u8?x=1", "/", "/s/"] {
                #expect(try await site.ask(site.target(path)).head.status == 404, "\(path)")
            }
            for other in ["/http/127.0.0.1:1/a", "/http/192.168.0.1/", "/https/router.local/admin"] {
                #expect(try await site.ask("/\(site.token)\(other)").head.status == 404, "\(other)")
            }
            #expect(site.bench.origin.snapshot.requestCount == requests + 1, "the origin is asked for the title only")
        }
    }

    @Test func itTellsNothingOfItselfAndCannotBeControlled() async throws {
        try await Site.run { site async throws in
            let paths = [
                "/-/live", "/-/ready", "/-/status.json", "/-/api/status.json", "/metrics", "/", "/-/", "",
                "/-/events",
            ]
            for path in paths {
                let known = try await site.ask("/\(site.token)\(path)")
                #expect(known.head.status == 404 || known.head.status == 400, "\(path)")
                let unknown = try await site.ask(path.isEmpty ? "/" : path)
                #expect(unknown.head.status == 403, "\(path)")
                for answer in [known, unknown] {
                    let text = String(decoding: answer.body, as: UTF8.self)
                    #expect(!text.contains("On disk"), "\(path)")
                }
            }
        }
    }

    @Test func withoutTheTokenThereIsNothing() async throws {
        try await Site.run { site async throws in
            let right = site.target("/s/main.m3u8")
            let wrong = String(site.token.reversed())
            for target in [
                right.replacing(site.token, with: wrong), String(right.dropFirst(site.token.utf8.count + 1)),
            ] {
                #expect(try await site.ask(target).head.status == 403)
                let shown = try await site.ask(target, ["Authorization: Bearer \(site.token)"])
                #expect(shown.head.status == 403)
            }
            #expect(site.count("/s/main.m3u8") == 0)
        }
    }

    @Test(
        "no name stands for the address (DNS rebinding)",
        arguments: ["localhost", "evil.example", "127.0.0.2", "[::1]", "127.0.0.1:abc", "127.0.0.1:99999"])
    func hostsByName(_ host: String) async throws {
        try await Site.run { site async throws in
            let target = site.target("/s/main.m3u8")
            #expect(try await site.ask(target, host: host).head.status == 403)
            #expect(try await site.ask(target, host: "127.0.0.1:\(site.proxy.port)").head.status == 200)
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "PROPFIND"])
    func devicesOnlyRead(_ method: String) async throws {
        try await Site.run { site async throws in
            let answer = try await site.ask(site.target("/s/main.m3u8"), ["Content-Length: 0"], method: method)
            #expect(answer.head.status == 405 && answer.head.fields["allow"] == "GET, HEAD")
            #expect(site.count("/s/main.m3u8") == 0)
        }
    }

    @Test func whatADeviceSendsReachesNoOriginAndWhatTheOriginSetsNoDevice() async throws {
        try await Site.run { site async throws in
            let fields = [
                "Cookie: a=b", "Authorization: Bearer device", "X-Forwarded-Host: evil.example", "Accept-Language: xx",
                "User-Agent: Device/1", "X-Playback-Session-Id: 7", "Cache-Control: no-cache", "Pragma: no-cache",
            ]
            for _ in 0..<2 {
                let answer = try await site.ask(site.target("/s/main.m3u8"), fields)
                #expect(answer.head.status == 200)
                #expect(answer.head.fields["set-cookie"] == nil)
            }
            let sent = try #require(site.bench.origin.snapshot["/s/main.m3u8"].requests.first)
            #expect(sent.fields[.authorization] == "Bearer app")
            for name in ["Cookie", "X-Forwarded-Host", "Accept-Language", "X-Playback-Session-Id", "Cache-Control"] {
                #expect(sent.fields[try #require(HTTPField.Name(name))] == nil, "\(name)")
            }
            #expect(sent.fields[.userAgent] != "Device/1")
            let answer = try await site.ask(site.target("/s/main.m3u8"), ["Cache-Control: no-store"])
            #expect(answer.head.status == 200)
            #expect(await site.bench.cache.isCached(try #require(URL(string: site.bench.origin.url("/s/main.m3u8")))))
        }
    }

    @Test("a receiver that is a web page may read (Fetch standard §3.3)") func pages() async throws {
        try await Site.run { site async throws in
            let page = ["Origin: https://receiver.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: empty"]
            let answer = try await site.ask(site.target("/s/main.m3u8"), page)
            #expect(answer.head.status == 200)
            #expect(answer.head.fields["access-control-allow-origin"] == "*")
            let element = try await site.ask(
                site.target("/s/main.m3u8"), ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: video"])
            #expect(element.head.status == 200)
            let preflight = try await site.ask(
                site.target("/s/main.m3u8"),
                page + ["Access-Control-Request-Method: GET", "Access-Control-Request-Headers: range"],
                method: "OPTIONS")
            #expect(preflight.head.status == 204)
            let stranger = try await site.ask("/x/http/a/b", page)
            #expect(stranger.head.status == 403)
        }
    }

    @Test func oneDeviceHasAFewConnections() async throws {
        try await Site.run { site async throws in
            var clients: [RawClient] = []
            for _ in 0..<16 { clients.append(try RawClient(port: site.proxy.port)) }
            await eventually { site.proxy.connections == 16 }
            let surplus = try RawClient(port: site.proxy.port)
            let nothing = try await surplus.upTo(1)
            #expect(nothing.isEmpty, "it is closed")
            #expect(site.proxy.connections == 16)
            clients.removeAll()
            await eventually { site.proxy.connections == 0 }
            #expect(try await site.ask(site.target("/s/main.m3u8")).head.status == 200)
        }
    }

    @Test func anotherTitleOfTheSameHostIsNotServed() async throws {
        try await Site.run(title: "/s/a.ts") { site async throws in
            #expect(try await site.ask(site.target("/s/a.ts")).head.status == 200)
            #expect(try await site.ask(site.target("/s/main.m3u8")).head.status == 404)
        }
    }

    @Test func itsListenerIsOpenedAgainAndEndsWithIt() async throws {
        try await Site.run { site async throws in
            _ = shutdown(site.proxy.descriptor, CInt(SHUT_RDWR))
            #expect(site.proxy.check())
            #expect(try await site.ask(site.target("/s/main.m3u8")).head.status == 200)
            await site.proxy.stop()
            #expect(throws: RawClient.Failure.self) { _ = try RawClient(port: site.proxy.port) }
        }
    }
}
