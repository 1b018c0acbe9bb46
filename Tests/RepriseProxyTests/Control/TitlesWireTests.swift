import Dispatch
import Foundation
import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// `titles.json` and `play`, as the page and attackers use them.
@Suite(.limit(minutes: 1)) struct TitlesWireTests {
    private struct Titles: Decodable {
        struct Title: Decodable {
            let id, url: String
            let name, tag, kept, mediaType: String?
            let isStream, isComplete: Bool
            let storedShare: Double?
            let files, plays: Int
            let storedBytes: Int64
            let completeLength: Int64?
            let spans: [[Int64]]?
        }

        let titles: [Title]
        let next: String?
    }

    private static func titles(_ proxy: ProxyBench, _ query: String = "") async throws -> Titles {
        let answer = try await RawClient.exchange(port: proxy.server.port, "/-/titles.json" + query)
        #expect(answer.head.status == 200)
        #expect(answer.head.fields["cache-control"] == "no-store")
        return try JSONDecoder().decode(Titles.self, from: Data(answer.body))
    }

    private static func run(token: String? = nil, _ body: (ProxyBench) async throws -> Void) async throws {
        try await ProxyBench.run(configureProxy: { $0.token = token }) { proxy async throws in
            for name in ["/a.mp4", "/b.mp4?signature=secret", "/c.mp4"] { proxy.bench.publish(name, length: 1000) }
            for name in ["/a.mp4", "/b.mp4?signature=secret"] { _ = try await proxy.bench.bytes(name) }
            _ = try await proxy.bench.bytes("/c.mp4", .bounded(0..<100))
            await proxy.bench.cache.becomeIdle()
            let film = try proxy.bench.cache.resource(for: proxy.bench.origin.url("/a.mp4"))
            try await proxy.bench.cache.nameTitle(of: film, name: "Film", tag: "tag")
            try await proxy.bench.cache.retain(film, as: .pinned)
            try await body(proxy)
        }
    }

    @Test func titlesComePageByPage() async throws {
        try await Self.run { proxy async throws in
            let all = try await Self.titles(proxy)
            #expect(all.next == nil)
            let named = try #require(all.titles.first { $0.name == "Film" })
            #expect(named.tag == "tag" && named.kept == "pinned" && named.mediaType == "video/mp4")
            #expect(named.spans == [[0, 1000]] && named.completeLength == 1000 && named.storedBytes == 1000)
            #expect(!named.isStream && named.files == 1 && named.plays == 1)
            #expect(named.isComplete && named.storedShare == 1)
            let part = try #require(all.titles.first { $0.url.hasSuffix("/c.mp4") })
            #expect(part.spans == [[0, part.storedBytes]] && !part.isComplete)
            #expect(part.storedShare == Double(part.storedBytes) / 1000)
            var (ids, after): ([String], String?) = ([], nil)
            repeat {
                let page = try await Self.titles(proxy, "?limit=1" + (after.map { "&after=\($0)" } ?? ""))
                #expect(page.titles.count <= 1)
                ids += page.titles.map(\.id)
                after = page.next
            } while after != nil
            #expect(ids == all.titles.map(\.id))
            let found = try await Self.titles(proxy, "?search=fil%20a.mp4")
            #expect(found.titles.map(\.id) == [named.id])
        }
    }

    private static let stream = [
        "/master.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\nlow.m3u8\n",
        "/low.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n",
    ]

    private static func publishStream(_ proxy: ProxyBench) {
        for (path, text) in stream {
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl"), at: path)
        }
        for path in ["/1.ts", "/2.ts"] { proxy.bench.publish(path, length: 1000, type: "video/mp2t") }
    }

    @Test("of a stream it is told how much plays, and not the bytes of its playlist")
    func streams() async throws {
        try await ProxyBench.run(configure: { $0.downloadsStreams = true }) { proxy async throws in
            Self.publishStream(proxy)
            let steps =
                [("/master.m3u8", nil, false), ("/low.m3u8", 0, false), ("/1.ts", 0.5, false), ("/2.ts", 1, true)]
                as [(String, Double?, Bool)]
            for (path, share, isComplete) in steps {
                #expect(try await proxy.get(path).head.status == 200)
                await proxy.becomeIdle()
                let titles = try await Self.titles(proxy).titles
                let title = try #require(titles.first { $0.url.hasSuffix("/master.m3u8") })
                #expect(titles.count == 1 && title.isStream, "\(titles)")
                #expect(title.storedShare == share && title.isComplete == isComplete, "\(path): \(title)")
                #expect(title.spans == nil && title.completeLength == nil)
            }
        }
    }

    @Test("what is known of a stream is looked up again only when something of it has changed")
    func rememberedShares() async throws {
        try await ProxyBench.run(configure: { $0.downloadsStreams = true }) { proxy async throws in
            Self.publishStream(proxy)
            // As players do: the playlist that names the others first.
            for path in ["/master.m3u8", "/low.m3u8"] {
                #expect(try await proxy.get(path).head.status == 200)
            }
            await proxy.becomeIdle()
            let shares = StreamShares()
            func look() async throws -> (share: Double?, reads: Int) {
                let items = try await proxy.bench.cache.titlePage(limit: 10).items
                var reads = 0
                let streams = try await shares.streams(items) { changed in
                    reads += changed.count
                    return try await proxy.bench.cache.storedStreams(changed)
                }
                return (streams.values.first?.share, reads)
            }
            #expect(try await look() == (0, 1))
            #expect(try await look() == (0, 0))
            #expect(try await proxy.get("/1.ts").head.status == 200)
            await proxy.becomeIdle()
            #expect(try await look() == (0.5, 1))
            #expect(try await look() == (0.5, 0))
        }
    }

    @Test("a search ends when its client leaves, and files are served beside it") func clientsThatLeave() async throws {
        try await Self.run { proxy async throws in
            let semaphore = DispatchSemaphore(value: 0)
            let other = Task { await DiskQueue.scans.run { semaphore.wait() } }
            do {
                defer { semaphore.signal() }
                var clients: [RawClient] = []
                for _ in 0..<4 {
                    let client = try RawClient(port: proxy.server.port)
                    try await client.get("/-/titles.json?search=mp4")
                    clients.append(client)
                }
                await eventually { proxy.server.answersUnderWay == 4 }
                #expect(try await proxy.get("/a.mp4").body.count == 1000)
                #expect(try await Self.titles(proxy).titles.count == 3)
                clients = []
                await eventually { proxy.server.answersUnderWay == 0 }
            }
            await other.value
            await eventually { proxy.server.answersUnderWay == 0 }
            #expect(try await Self.titles(proxy, "?search=mp4").titles.count == 3)
        }
    }

    @Test("no query of a URL is told, and the player is led to the whole URL") func secrets() async throws {
        for token in [nil, "token"] {
            try await Self.run(token: token) { proxy async throws in
                let prefix = token.map { "/" + $0 } ?? ""
                let answer = try await RawClient.exchange(port: proxy.server.port, prefix + "/-/titles.json")
                #expect(!String(decoding: answer.body, as: UTF8.self).contains("secret"))
                let titles = try JSONDecoder().decode(Titles.self, from: Data(answer.body)).titles
                let title = try #require(titles.first { $0.url.contains("/b.mp4") })
                let fields = ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: video", "Range: bytes=0-"]
                let play = try await RawClient.exchange(
                    port: proxy.server.port, prefix + "/-/play?id=" + title.id, fields)
                #expect(play.head.status == 307)
                let location = try #require(play.head.fields["location"])
                #expect(location == prefix + proxy.target("/b.mp4?signature=secret"))
                let media = try await RawClient.exchange(port: proxy.server.port, location, fields)
                #expect(media.head.status == 206 && media.body.count == 1000)
            }
        }
    }

    @Test(
        "wrong questions are told in words",
        arguments: [
            ("titles.json?limit=0", 400), ("titles.json?limit=201", 400), ("titles.json?limit=x", 400),
            ("titles.json?sort=x", 400), ("titles.json?kept=no", 400), ("titles.json?sort=name&after=x", 400),
            ("titles.json?sort=name&after=-1", 400),
            ("titles.json?sort=name&after=\(Int.max)", 400), ("titles.m3u?limit=1", 400), ("title.json", 404),
            ("title.json?id=x", 404), ("history.json?x=1", 400), ("titles.json?limit=1&limit=2", 400),
            ("titles.json?after=x", 400), ("titles.json?other=1", 400),
            ("titles.json?search=" + String(repeating: "x", count: 257), 400), ("play", 404), ("play?id=x", 404),
            ("play?id=" + String(repeating: "0", count: 64), 404), ("play?url=http://a.example/", 400),
        ]) func wrongQuestions(target: String, status: Int) async throws
    {
        try await Self.run { proxy async throws in
            let answer = try await RawClient.exchange(port: proxy.server.port, "/-/" + target)
            #expect(answer.head.status == status)
            let body = try JSONDecoder().decode(ControlFailure.Body.self, from: Data(answer.body))
            #expect(!body.error.isEmpty)
            let post = try await RawClient.exchange(port: proxy.server.port, "/-/" + target, method: "POST")
            #expect(post.head.status == 405)
        }
    }

    @Test("a page of another site learns nothing and plays nothing") func foreignPages() async throws {
        try await Self.run { proxy async throws in
            let id = try #require(try await Self.titles(proxy).titles.first?.id)
            let targets = [
                "/-/titles.json", "/-/play?id=\(id)", "/-/title.json?id=\(id)", "/-/titles.m3u", "/-/history.json",
            ]
            for target in targets {
                for fields in [
                    ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: video"], ["Sec-Fetch-Site: same-site"],
                    ["Origin: http://evil.example"],
                ] {
                    let answer = try await RawClient.exchange(port: proxy.server.port, target, fields)
                    #expect(answer.head.status == 403)
                    #expect(answer.head.fields["location"] == nil)
                }
            }
        }
    }
}
