import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// How long a playlist is used without asking its origin (rfc8216bis §6.2.1, §B.1).
@Suite("Freshness of playlists", .limit(minutes: 2)) struct PlaylistFreshnessTests {
    private typealias Site = StreamSite

    @Test("a live list is fresh for half a target duration, however long it had not changed (case 47)")
    func live() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts", "2.ts"]), at: "/live.m3u8")
            _ = try await site.get("/live.m3u8")
            site.clock.shift(by: .seconds(2))
            let hit = try await site.get("/live.m3u8")
            #expect(hit.cache == "reprise; hit")
            #expect(hit.head.fields["age"] == "2")
            #expect(site.requests("/live.m3u8") == 1)
            site.publish(Site.list(["2.ts", "3.ts"], sequence: 1), at: "/live.m3u8", etag: "\"w\"")
            site.clock.shift(by: .seconds(1))
            #expect(try await site.get("/live.m3u8").text.hasSuffix("3.ts\n"), "older than three seconds")
        }
    }

    @Test("three players cost one request each half target duration, and get nothing older (case 47)")
    func players() async throws {
        try await Site.run { site async throws in
            for round in 0..<4 {
                site.publish(
                    Site.list(["\(round).ts", "\(round + 1).ts"], sequence: round), at: "/live.m3u8",
                    etag: "\"\(round)\"")
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<3 { group.addTask { try await site.get("/live.m3u8").text } }
                    for try await text in group { #expect(text.hasSuffix("\n\(round + 1).ts\n")) }
                }
                #expect(try await site.get("/live.m3u8").text.hasSuffix("\n\(round + 1).ts\n"))
                #expect(site.origin.snapshot.requestCount == round + 1)
                site.clock.shift(by: .seconds(3))
            }
        }
    }

    @Test("the origin's own lifetime goes first", arguments: [("max-age=60", 1), ("max-age=1", 2), ("no-cache", 3)])
    func explicit(control: String, requests: Int) async throws {
        for isEnded in [false, true] {
            try await Site.run { site async throws in
                site.publish(Site.list(["1.ts"], ended: isEnded), at: "/list.m3u8", control: control)
                for _ in 0..<2 { _ = try await site.get("/list.m3u8") }
                site.clock.shift(by: .seconds(2))
                _ = try await site.get("/list.m3u8")
                #expect(site.requests("/list.m3u8") == requests)
            }
        }
    }

    @Test(
        "a VOD list is stored for good, and served a day later without its origin (case 50)", arguments: [false, true])
    func vod(isShared: Bool) async throws {
        try await Site.run(isShared: isShared) { site async throws in
            let list = Site.list(["1.ts"], type: "VOD", ended: true)
            site.publish(list, at: "/list.m3u8")
            _ = try await site.get("/list.m3u8")
            site.fail("/list.m3u8", with: 503)
            site.clock.shift(by: .seconds(86_400))
            #expect(try await site.get("/list.m3u8").text == list)
            #expect(site.requests("/list.m3u8") == 1)
        }
    }

    @Test("the role of a list is known after a restart (case 50)") func restart() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"], type: "VOD", ended: true), at: "/vod.m3u8")
            site.publish(Site.list(["1.ts"], sequence: 7), at: "/live.m3u8")
            _ = try await site.get("/vod.m3u8")
            _ = try await site.get("/live.m3u8")
            try await site.proxy.bench.reopened { cache async throws in
                let entries = try await cache.entries()
                let roles = Dictionary(uniqueKeysWithValues: entries.map { ($0.url.target, $0.information.role) })
                #expect(roles["/vod.m3u8"] == StreamRole(.playlist, for: .permanent, sequence: 0))
                let limited = StreamRole.Term.limited(fresh: .seconds(3), usable: .seconds(9))
                #expect(roles["/live.m3u8"] == StreamRole(.playlist, for: limited, isLive: true, sequence: 7))
            }
        }
    }

    @Test("a list that has ended is validated, and always served when the origin fails (case 51)")
    func ended() async throws {
        try await Site.run { site async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n#EXTINF:6,\n1.ts\n"
            site.publish(list, at: "/list.m3u8")
            for _ in 0..<2 { _ = try await site.get("/list.m3u8") }
            #expect(site.requests("/list.m3u8") == 1, "a player that reads it twice")
            site.clock.shift(by: .seconds(200))
            #expect(try await site.get("/list.m3u8").text == list)
            #expect(site.requests("/list.m3u8") == 2)
            site.fail("/list.m3u8", with: 503)
            site.clock.shift(by: .seconds(86_400 * 30))
            #expect(try await site.get("/list.m3u8").text == list)
        }
    }

    @Test("a stream that had ended and goes on shows what is new, with the names of its old segments")
    func goesOn() async throws {
        try await Site.run { site async throws in
            for name in ["0.ts", "1.ts"] { site.publishSegment("/\(name)", seed: 1) }
            site.publish(Site.list(["0.ts", "1.ts"], ended: true), at: "/list.m3u8", etag: "\"old\"")
            _ = try await site.get("/list.m3u8")
            let old = try await site.get("/1.ts").body
            site.clock.shift(by: .seconds(2))
            for name in ["0.ts", "1.ts"] { site.publishSegment("/\(name)", seed: 2) }
            site.publish(Site.list(["0.ts", "1.ts"]), at: "/list.m3u8", etag: "\"new\"")
            #expect(try await !site.get("/list.m3u8").text.contains("ENDLIST"))
            let new = try await site.get("/1.ts").body
            #expect(new == TestPattern.bytes(in: 0..<1000, seed: 2) && new != old)
        }
    }

    @Test(
        "an old live list is served for one and a half target durations when its origin fails", arguments: [404, 503])
    func failures(status: Int) async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"]), at: "/live.m3u8")
            _ = try await site.get("/live.m3u8")
            site.fail("/live.m3u8", with: status)
            site.clock.shift(by: .seconds(8))
            #expect(try await site.get("/live.m3u8").status == (status == 404 ? 404 : 200))
            site.clock.shift(by: .seconds(2))
            #expect(try await site.get("/live.m3u8").status == status)
            site.publish(Site.list(["2.ts"], sequence: 1), at: "/live.m3u8", etag: "\"w\"")
            site.clock.shift(by: .seconds(6))
            #expect(
                try await site.get("/live.m3u8").text.hasSuffix("2.ts\n"), "one target duration later at the latest")
        }
    }

    @Test("a live list that does not change is passed on, and nothing is invented (case 48)") func unchanged()
        async throws
    {
        try await Site.run { site async throws in
            let list = Site.list(["1.ts"])
            site.publish(list, at: "/live.m3u8")
            for _ in 0..<4 {
                let reply = try await site.get("/live.m3u8")
                #expect(reply.text == list)
                #expect(reply.head.fields["age"] == "0")
                site.clock.shift(by: .seconds(5))
            }
            #expect(site.requests("/live.m3u8") == 4)
            #expect(site.origin.snapshot["/live.m3u8"].bodyBytesSent == list.utf8.count, "then 304")
        }
    }

    @Test("a live list without a name and type of its own is not media in play (case 42)") func octets() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"]), at: "/live", type: "application/octet-stream")
            _ = try await site.get("/live")
            site.publish(Site.list(["2.ts"], sequence: 1), at: "/live", type: "application/octet-stream", etag: "\"w\"")
            site.clock.shift(by: .seconds(3))
            #expect(try await site.get("/live").text.hasSuffix("2.ts\n"))
        }
    }

    @Test("a list of playlists is validated each time, and served when the origin fails") func multivariant()
        async throws
    {
        try await Site.run { site async throws in
            let list = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n"
            site.publish(list, at: "/main.m3u8")
            for _ in 0..<2 { #expect(try await site.get("/main.m3u8").text == list) }
            #expect(site.requests("/main.m3u8") == 2)
            site.fail("/main.m3u8", with: 500)
            site.clock.shift(by: .seconds(86_400))
            #expect(try await site.get("/main.m3u8").text == list)
        }
    }

    @Test("an MPD that changes is fresh for half its update period; one that does not is validated")
    func dash() async throws {
        try await Site.run { site async throws in
            func mpd(_ attributes: String) -> String {
                "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" \(attributes)><Period/></MPD>"
            }
            site.publish(
                mpd("type=\"dynamic\" minimumUpdatePeriod=\"PT4S\""), at: "/live.mpd", type: "application/dash+xml")
            site.publish(mpd("type=\"static\""), at: "/vod.mpd", type: "application/dash+xml")
            for _ in 0..<2 {
                _ = try await site.get("/live.mpd")
                _ = try await site.get("/vod.mpd")
            }
            #expect(site.requests("/live.mpd") == 1)
            site.clock.shift(by: .seconds(2))
            _ = try await site.get("/live.mpd")
            _ = try await site.get("/vod.mpd")
            #expect(site.requests("/live.mpd") == 2)
            #expect(site.requests("/vod.mpd") == 2)
        }
    }

    @Test("a weak tag that stays the same does not keep a new text away (case 46)") func weakTag() async throws {
        let clock = ShiftableClock()
        let origin = ScriptedOrigin { _, number in
            ScriptedOrigin.Answer(
                200, [.eTag: "W/\"v\"", .contentType: Site.hls],
                body: Array(Site.list(["\(number).ts"], sequence: number).utf8))
        }
        try await origin.run(configure: { $0.clock = clock.cacheClock }) { cache async throws in
            try await CannedOrigin.serve(cache, configure: { $0.clock = clock.cacheClock }) { server async throws in
                let target = "/http/origin.example/live.m3u8"
                let (first, _) = try await RawClient.exchange(port: server.port, target)
                clock.shift(by: .seconds(3))
                let tag = try #require(first.fields["etag"])
                let (head, body) = try await RawClient.exchange(port: server.port, target, ["If-None-Match: \(tag)"])
                #expect(head.status == 200)
                #expect(String(decoding: body, as: UTF8.self).hasSuffix("2.ts\n"))
            }
        }
    }

    @Test("ranges and lengths are those of the written text (cases 43, 44)") func ranges() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["/1.ts"], type: "VOD", ended: true), at: "/show/list.m3u8")
            let whole = try await site.get("/show/list.m3u8")
            #expect(whole.text.contains("/http/127.0.0.1:"))
            let count = whole.body.count
            for (range, expected) in [("0-", 0..<count), ("0-1", 0..<2), ("100-", 100..<count)] {
                let part = try await site.get("/show/list.m3u8", ["Range: bytes=\(range)"])
                #expect(part.status == 206)
                #expect(
                    part.head.fields["content-range"]
                        == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(count)")
                #expect(part.body == Array(whole.body[expected]))
            }
            #expect(try await site.get("/show/list.m3u8", method: "HEAD").head.length == count)
            let tag = try #require(whole.head.fields["etag"])
            #expect(try await site.get("/show/list.m3u8", ["If-None-Match: \(tag)"]).status == 304)
            site.clock.shift(by: .seconds(86_400))
            let again = try await site.get("/show/list.m3u8", ["Cache-Control: no-cache"])
            #expect(again.body == whole.body, "after the origin's 304")
            #expect(again.cache.contains("fwd-status=304"))
        }
    }

    @Test("another token is another text under another tag (case 45)") func tokens() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["/1.ts"], ended: true), at: "/list.m3u8")
            let plain = try await site.get("/list.m3u8").head.fields["etag"]
            try await site.proxy.again({ $0.token = "secret" }) { other async throws in
                let (head, _) = try await RawClient.exchange(
                    port: other.server.port, "/secret" + other.target("/list.m3u8"))
                #expect(head.fields["etag"] != nil && head.fields["etag"] != plain)
            }
        }
    }
}
