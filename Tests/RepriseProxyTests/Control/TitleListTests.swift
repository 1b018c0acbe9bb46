import Foundation
import HTTPSemantics
import Reprise
import RepriseStreams
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Lists of titles in other orders, chosen ones, one title, and the list for players.
@Suite(.limit(minutes: 1)) struct TitleListTests {
    private struct Titles: Decodable {
        struct Title: Decodable {
            let id, url: String
            let name: String?
        }
        struct Facets: Decodable, Equatable {
            let hosts, tags: [String]
        }

        let titles: [Title]
        let next: String?
        let facets: Facets?
        let count: Int?

        var names: [String] { titles.map { String($0.url.split(separator: "/").last ?? "") } }
    }

    private static func text(_ proxy: ProxyBench, _ target: String, status: Int = 200) async throws -> String {
        let answer = try await RawClient.exchange(port: proxy.server.port, "/-/" + target)
        #expect(answer.head.status == status, "\(target)")
        #expect(answer.head.fields["cache-control"] == "no-store")
        return String(decoding: answer.body, as: UTF8.self)
    }

    private static func titles(_ proxy: ProxyBench, _ query: String) async throws -> Titles {
        try JSONDecoder().decode(Titles.self, from: Data(try await text(proxy, "titles.json?" + query).utf8))
    }

    private struct Details: Decodable {
        struct Track: Decodable {
            let kind: String
            let segments, storedSegments: Int
            let storedShare: Double?
        }
        struct File: Decodable {
            let url: String
            let storedBytes: Int64
        }
        let id: String
        let isStream: Bool
        let remarks: [String]
        let tracks: [Track]?
        let list: [File]?
        let listed: Int?
    }

    private static func details(_ proxy: ProxyBench, _ name: String) async throws -> Details {
        let titles = try await Self.titles(proxy, "search=" + name)
        let id = try #require(titles.titles.first?.id)
        return try JSONDecoder().decode(
            Details.self, from: Data(try await Self.text(proxy, "title.json?id=" + id).utf8))
    }

    private struct History: Decodable {
        struct Day: Decodable {
            let day: String
            let savedBytes, servedBytes, fetchedBytes: Int64
        }
        let days: [Day]
    }

    private static func history(_ proxy: ProxyBench) async throws -> [History.Day] {
        try JSONDecoder().decode(History.self, from: Data(try await text(proxy, "history.json").utf8)).days
    }

    private struct Status: Decodable {
        struct Play: Decodable {
            let url: String
            let isStream: Bool
            let players: Int
            let storedBytes: Int64
        }
        let playing: [Play]
    }

    private static func playing(_ proxy: ProxyBench) async throws -> [String] {
        let status = try JSONDecoder().decode(
            Status.self, from: Data(try await Self.text(proxy, "status.json").utf8))
        return status.playing.map { play in
            "\(play.url.split(separator: "/").last ?? "") \(play.isStream) \(play.players) \(play.storedBytes)"
        }
    }

    /// Four files, used one after the other: a small one, one that is kept and has a name, half of one, and one with a
    /// query and a tag.
    private static func run(
        clock: ShiftableClock = ShiftableClock(), _ body: (ProxyBench) async throws -> Void
    ) async throws {
        try await ProxyBench.run(configure: { $0.clock = clock.cacheClock }) { proxy async throws in
            let files: [(String, Int64)] = [
                ("/Ant.mp4", 100), ("/bee.mp4", 3000), ("/cow.mp4", 4000), ("/dog.mp4?key=secret", 2000),
            ]
            for (path, length) in files { proxy.bench.publish(path, length: length) }
            for (path, length) in files {
                clock.shift(by: .seconds(60))
                _ = try await proxy.bench.bytes(path, path == "/cow.mp4" ? .bounded(0..<length / 2) : nil)
            }
            await proxy.bench.cache.becomeIdle()
            let bee = try proxy.bench.cache.resource(for: proxy.bench.origin.url("/bee.mp4"))
            try await proxy.bench.cache.nameTitle(of: bee, name: "Zebra", tag: nil)
            try await proxy.bench.cache.retain(bee, as: .pinned)
            let dog = try proxy.bench.cache.resource(for: proxy.bench.origin.url("/dog.mp4?key=secret"))
            try await proxy.bench.cache.nameTitle(of: dog, name: nil, tag: "pets")
            try await body(proxy)
        }
    }

    @Test(
        "titles are listed in each order, and chosen",
        arguments: [
            ("sort=lastUsed", ["dog.mp4", "cow.mp4", "bee.mp4", "Ant.mp4"]),
            ("sort=name", ["Ant.mp4", "cow.mp4", "dog.mp4", "bee.mp4"]),
            ("sort=size", ["bee.mp4", "cow.mp4", "dog.mp4", "Ant.mp4"]),
            ("kept=yes", ["bee.mp4"]), ("kept=yes&sort=size", ["bee.mp4"]), ("tag=pets", ["dog.mp4"]),
            ("tag=pets&sort=name", ["dog.mp4"]), ("tag=pet", []), ("search=zebra", ["bee.mp4"]),
            ("search=zebra&tag=pets", []), ("host=127.0.0.1", []), ("offline=yes", ["dog.mp4", "bee.mp4", "Ant.mp4"]),
            ("offline=yes&sort=name", ["Ant.mp4", "dog.mp4", "bee.mp4"]),
        ]) func orders(query: String, expected: [String]) async throws
    {
        try await Self.run { proxy async throws in
            let titles = try await Self.titles(proxy, query)
            #expect(titles.names.map { $0.replacing("?…", with: "") } == expected)
            #expect(titles.next == nil)
            // The same by pages of two.
            var names: [String] = []
            var place: String? = ""
            while let after = place {
                let page = try await Self.titles(proxy, query + "&limit=2" + after)
                names += page.names.map { $0.replacing("?…", with: "") }
                place = page.next.map { "&after=" + $0 }
            }
            #expect(names == expected)
        }
    }

    @Test("the first page says what there is to choose from, and how many titles match") func facets() async throws {
        try await Self.run { proxy async throws in
            let host = "127.0.0.1:\(proxy.bench.origin.port)"
            let page = try await Self.titles(proxy, "sort=name&limit=2&search=mp4")
            #expect(page.facets == Titles.Facets(hosts: [host], tags: ["pets"]) && page.count == 4)
            #expect(try await Self.titles(proxy, "sort=name&after=2").facets == nil)
            #expect(try await Self.titles(proxy, "sort=name&host=\(host)").count == 4)
            // The list is known by now, so that the usual order has them, too.
            #expect(try await Self.titles(proxy, "kept=yes").count == 1)
        }
    }

    @Test("the list is read once for several requests, and again when it is old") func catalogOnce() async throws {
        let clock = ShiftableClock()
        try await Self.run(clock: clock) { proxy async throws in
            let catalog = TitleCatalog(proxy.bench.cache, clock: clock.cacheClock)
            #expect(await catalog.overview(nil) == nil)
            #expect(try await catalog.titles(nil, in: .name).count == 4)
            proxy.bench.publish("/new.mp4", length: 10)
            _ = try await proxy.bench.bytes("/new.mp4")
            await proxy.bench.cache.becomeIdle()
            #expect(try await catalog.titles(nil, in: .name).count == 4)
            clock.shift(by: .seconds(5))
            // No request waits while it is read again.
            #expect(await catalog.overview(TitleSearch("new mp4"))?.count == 0)
            await eventually { await catalog.overview(TitleSearch("new mp4"))?.count == 1 }
            #expect(try await catalog.titles(TitleSearch("new mp4"), in: .name).count == 1)
            proxy.bench.publish("/newer.mp4", length: 10)
            _ = try await proxy.bench.bytes("/newer.mp4")
            await proxy.bench.cache.becomeIdle()
            #expect(try await catalog.titles(TitleSearch("newer"), in: .lastUsed).isEmpty)
            await catalog.noteChange()
            #expect(try await catalog.titles(TitleSearch("newer"), in: .lastUsed).count == 1)
            clock.shift(by: .seconds(60))
            #expect(await catalog.overview(nil) == nil)
            #expect(try await catalog.titles(nil, in: .size).count == 6)
            await catalog.stop()
        }
    }

    @Test(
        "a search finds names, tags and addresses as people type them, and no secret of a query",
        arguments: [
            ("ANT", ["Ant.mp4"]), ("zebra", ["bee.mp4"]), ("bee zebra", ["bee.mp4"]), ("zebra bee", ["bee.mp4"]),
            ("pets", ["dog.mp4"]), ("e f.mp4", ["e%20f.mp4"]), ("e%20f", ["e%20f.mp4"]), ("secret", []),
            ("zebra ant", []), ("mp4", ["Ant.mp4", "cow.mp4", "dog.mp4", "e%20f.mp4", "bee.mp4"]),
        ]) func search(text: String, found: [String]) async throws
    {
        let clock = ShiftableClock()
        try await Self.run(clock: clock) { proxy async throws in
            proxy.bench.publish("/e%20f.mp4", length: 10)
            _ = try await proxy.bench.bytes("/e%20f.mp4")
            await proxy.bench.cache.becomeIdle()
            let catalog = TitleCatalog(proxy.bench.cache, clock: clock.cacheClock)
            let titles = try await catalog.titles(TitleSearch(text), in: .name)
            #expect(titles.map(\.url.lastPathComponent) == found)
            await catalog.stop()
        }
    }

    @Test("a picture that is being made is waited for, and not made again") func pictureOnce() async throws {
        try await Self.run { proxy async throws in
            let (begun, ending) = (Promise<Void>(), Promise<Void>())
            let made = Mutex<[CacheKey]>([])
            let pictures = TitlePictures(proxy.bench.cache) { _, key in
                made.withLock { $0.append(key) }
                begun.fulfill()
                await ending.value
                return key.text.contains("Ant") ? [1, 2, 3] : nil
            }
            let titles = try await proxy.bench.cache.titles()
            let ant = try #require(titles.first { $0.url.lastPathComponent == "Ant.mp4" })
            #expect(pictures.want([ant]).isWaiting)
            await begun.value
            #expect(pictures.want(titles).isWaiting)
            ending.fulfill()
            await eventually { !pictures.want(titles).isWaiting }
            #expect(made.withLock { Set($0).count == titles.count && $0.count == titles.count })
            #expect(pictures.want(titles).made == [ant.key] && pictures.picture(of: ant.key) == [1, 2, 3])
            pictures.stop()
        }
    }

    @Test("one title is told with its files, its tracks and what is wrong with its host") func details() async throws {
        try await ProxyBench.run(configure: { $0.downloadsStreams = true }) { proxy async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts?k=secret\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                at: "/show/list.m3u8")
            proxy.bench.publish("/show/1.ts?k=secret", length: 1000, type: "video/mp2t")
            proxy.bench.publish("/film.mp4", length: 10)
            for path in ["/show/list.m3u8", "/show/1.ts?k=secret", "/film.mp4"] {
                #expect(try await proxy.get(path).head.status == 200)
            }
            await proxy.becomeIdle()
            proxy.bench.cache.remark("It is slow.", about: try ResourceURL(proxy.bench.origin.url("/film.mp4")))
            let show = try await Self.details(proxy, "list.m3u8")
            #expect(show.isStream && show.listed == 2 && show.remarks == ["It is slow."])
            #expect(show.list?.map { String($0.url.split(separator: "/").last ?? "") } == ["1.ts?…", "list.m3u8"])
            let track = try #require(show.tracks?.first)
            #expect(show.tracks?.count == 1 && track.kind == "media")
            #expect(track.segments == 2 && track.storedSegments == 1 && track.storedShare == 0.5)
            let film = try await Self.details(proxy, "film")
            #expect(!film.isStream && film.list == nil && film.listed == nil && film.tracks == nil)
        }
    }

    @Test("players browse the titles by name, and play them", arguments: [nil, "secret-token"])
    func playlist(token: String?) async throws {
        try await ProxyBench.run(configureProxy: { $0.token = token }) { proxy async throws in
            proxy.bench.publish("/b%20c.mp4", length: 100)
            proxy.bench.publish("/a%0A%23EXT.mp4?key=secret", length: 100)
            for path in ["/b%20c.mp4", "/a%0A%23EXT.mp4?key=secret"] { _ = try await proxy.bench.bytes(path) }
            await proxy.bench.cache.becomeIdle()
            let film = try proxy.bench.cache.resource(for: proxy.bench.origin.url("/b%20c.mp4"))
            try await proxy.bench.cache.nameTitle(of: film, name: "One two", tag: nil)
            let prefix = token.map { "/\($0)" } ?? ""
            let answer = try await RawClient.exchange(port: proxy.server.port, prefix + "/-/titles.m3u")
            #expect(answer.head.fields["content-type"] == "audio/x-mpegurl; charset=utf-8")
            let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map(String.init)
            let players = token.flatMap { AccessToken($0, name: nil, mayControl: true).forPlayers }
            let address = "http://localhost" + (players.map { "/\($0.text)" } ?? "")
            let id = proxy.bench.cache.id(
                of: try proxy.bench.cache.resource(
                    for: proxy.bench.origin.url("/a%0A%23EXT.mp4?key=secret")
                ).key)
            #expect(
                lines == [
                    "#EXTM3U", "#EXTINF:-1,a#EXT.mp4", "\(address)/-/play?id=\(id)", "#EXTINF:-1,One two",
                    "\(address)/http/127.0.0.1:\(proxy.bench.origin.port)/b%20c.mp4",
                ])
            #expect(!lines.joined().contains("key=secret"))
        }
    }

    @Test("what was served and fetched is told day by day, for a month") func history() async throws {
        let clock = ShiftableClock()
        try await ProxyBench.run(configure: { $0.clock = clock.cacheClock }) { proxy async throws in
            #expect(try await Self.history(proxy).isEmpty)
            proxy.bench.publish("/film.mp4", length: 1000)
            for _ in 0..<3 { #expect(try await proxy.get("/film.mp4").head.status == 200) }
            await proxy.becomeIdle()
            let first = try #require(try await Self.history(proxy).first)
            #expect((first.savedBytes, first.servedBytes, first.fetchedBytes) == (2000, 3000, 1000))
            for _ in 0..<40 {
                clock.shift(by: .seconds(86_400))
                #expect(try await proxy.get("/film.mp4").head.status == 200)
                await proxy.becomeIdle()
                _ = try await Self.history(proxy)
            }
            let days = try await Self.history(proxy)
            #expect(days.count == 31 && days.map(\.day) == days.map(\.day).sorted())
            #expect(days.allSatisfy { $0.servedBytes == 1000 } && !days.map(\.day).contains(first.day))
            // Sums over the whole life are what they were.
            #expect(try await proxy.bench.cache.lifetimeStatistics().bytesServed == 43_000)
        }
    }

    @Test("a title plays while its player asks, and half a minute longer; a stream is one title") func playing()
        async throws
    {
        let clock = ShiftableClock()
        try await ProxyBench.run(
            configureProxy: { $0.clock = clock.cacheClock },
            configure: { ($0.clock, $0.downloadsStreams) = (clock.cacheClock, true) }
        ) { proxy async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                at: "/list.m3u8")
            proxy.bench.publish("/1.ts", length: 1000, type: "video/mp2t")
            proxy.bench.publish("/film.mp4", length: 10)
            #expect(try await Self.playing(proxy).isEmpty)
            for path in ["/list.m3u8", "/1.ts"] { #expect(try await proxy.get(path).head.status == 200) }
            for agent in ["mpv", "VLC", "mpv"] {
                let target = proxy.target("/film.mp4")
                let answer = try await RawClient.exchange(port: proxy.server.port, target, ["User-Agent: \(agent)"])
                #expect(answer.head.status == 200)
            }
            await proxy.becomeIdle()
            let stream = "list.m3u8 true 1 \(1000 + list.utf8.count)"
            #expect(try await Self.playing(proxy) == ["film.mp4 false 2 10", stream])
            clock.shift(by: .seconds(20))
            #expect(try await proxy.get("/1.ts").head.status == 200)
            clock.shift(by: .seconds(15))
            #expect(try await Self.playing(proxy) == [stream])
            clock.shift(by: .seconds(31))
            #expect(try await Self.playing(proxy).isEmpty)
        }
    }
}
