import Foundation
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// What a playlist says about the files that it lists.
@Suite("Segments", .limit(minutes: 2)) struct SegmentTests {
    private typealias Site = StreamSite

    @Test(
        "a segment of an ended list is not asked about again",
        arguments: [(nil, 1), ("max-age=60", 1), ("no-cache", 2)])
    func ended(control: String?, requests: Int) async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"], ended: true), at: "/list.m3u8")
            site.publishSegment("/1.ts", control: control)
            _ = try await site.get("/list.m3u8")
            for _ in 0..<2 {
                #expect(try await site.get("/1.ts").body == TestPattern.bytes(in: 0..<1000, seed: 1))
                site.clock.shift(by: .seconds(86_400 * 100))
            }
            #expect(site.requests("/1.ts") == requests)
            let role = try await site.proxy.bench.cache.entries().first { $0.url.target == "/1.ts" }?.information.role
            #expect(role == .endedSegment)
        }
    }

    @Test("a segment that was stored before its list was read is not asked about again either") func storedBefore()
        async throws
    {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"], ended: true), at: "/list.m3u8")
            site.publishSegment("/1.ts")
            _ = try await site.get("/1.ts")
            _ = try await site.get("/list.m3u8")
            for _ in 0..<2 {
                #expect(try await site.get("/1.ts").status == 200)
                site.clock.shift(by: .seconds(86_400 * 100))
            }
            #expect(site.requests("/1.ts") == 1)
        }
    }

    @Test("segments of a template are known by it") func templates() async throws {
        try await Site.run { site async throws in
            site.publish(
                """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet>
                <Representation id="v" bandwidth="1"><BaseURL>media/</BaseURL>
                <SegmentTemplate media="$RepresentationID$/$Number$.m4s?a" duration="2"/></Representation>
                </AdaptationSet></Period></MPD>
                """, at: "/list.mpd", type: "application/dash+xml")
            site.publishSegment("/media/v/1.m4s?a")
            site.publishSegment("/media/v/1.m4s?b")
            _ = try await site.get("/list.mpd")
            _ = try await site.get("/media/v/1.m4s?a")
            _ = try await site.get("/media/v/1.m4s?b")
            let entries = try await site.proxy.bench.cache.entries()
            #expect(entries.first { $0.url.target == "/media/v/1.m4s?a" }?.information.role == .endedSegment)
            #expect(entries.first { $0.url.target == "/media/v/1.m4s?b" }?.information.role == nil)
        }
    }

    @Test(
        "a sequence number that falls starts segments again: new bytes are served (case 49)", arguments: [false, true])
    func restartedEncoder(isReopened: Bool) async throws {
        try await Site.run { site async throws in
            func play(_ proxy: ProxyBench) async throws -> [UInt8] {
                _ = try await proxy.get("/live.m3u8")
                return try await proxy.get("/0.ts").body
            }
            site.publish(Site.list(["0.ts", "1.ts"], sequence: 700), at: "/live.m3u8")
            site.publishSegment("/0.ts", seed: 1, control: "max-age=600")
            #expect(try await play(site.proxy) == TestPattern.bytes(in: 0..<1000, seed: 1))
            site.publish(Site.list(["0.ts", "1.ts"]), at: "/live.m3u8", etag: "\"w\"")
            site.publishSegment("/0.ts", seed: 2, control: "max-age=600")
            site.clock.shift(by: .seconds(3))
            if isReopened {
                // Another proxy has seen no list: the number was recorded with the list.
                try await site.proxy.again({ $0.clock = site.clock.cacheClock }) { other async throws in
                    #expect(try await play(other) == TestPattern.bytes(in: 0..<1000, seed: 2))
                }
            } else {
                #expect(try await play(site.proxy) == TestPattern.bytes(in: 0..<1000, seed: 2))
            }
        }
    }

    @Test("an ended list that became another one starts its segments again") func replacedList() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"], ended: true), at: "/list.m3u8", control: "no-cache")
            site.publishSegment("/1.ts", seed: 1)
            _ = try await site.get("/list.m3u8")
            _ = try await site.get("/1.ts")
            site.publish(
                Site.list(["1.ts", "2.ts"], ended: true), at: "/list.m3u8", etag: "\"w\"", control: "no-cache")
            site.publishSegment("/1.ts", seed: 2)
            _ = try await site.get("/list.m3u8")
            #expect(try await site.get("/1.ts").body == TestPattern.bytes(in: 0..<1000, seed: 2))
        }
    }

    @Test("an ended list with new tokens is the same: its stored segments are used", arguments: [false, true])
    func newTokens(isInItsURL: Bool) async throws {
        try await Site.run(keyPolicy: .droppingQueryItems(["t"])) { site async throws in
            for token in 1...2 {
                let list = isInItsURL ? "/list.m3u8?t=\(token)" : "/list.m3u8"
                site.publish(
                    Site.list(["1.ts?t=\(token)"], ended: true), at: list, etag: "\"\(token)\"", control: "no-cache")
                site.publishSegment("/1.ts?t=\(token)")
                _ = try await site.get(list)
                #expect(try await site.get("/1.ts?t=\(token)").body == TestPattern.bytes(in: 0..<1000, seed: 1))
            }
            #expect(site.requests("/1.ts?t=1") == 1)
            #expect(site.requests("/1.ts?t=2") == 0)
        }
    }

    @Test("segments of a live list belong to the share that goes first") func liveShare() async throws {
        try await Site.run(limit: 16_000_000) { site async throws in
            for number in 1...3 {
                site.publishSegment("/film\(number).mp4", length: 4_000_000)
                _ = try await site.get("/film\(number).mp4")
            }
            for number in 0..<40 {
                site.publish(Site.list(["\(number).ts"], sequence: number), at: "/live.m3u8", etag: "\"\(number)\"")
                site.publishSegment("/\(number).ts", length: 600_000)
                _ = try await site.get("/live.m3u8")
                #expect(try await site.get("/\(number).ts").body.count == 600_000)
                await site.proxy.becomeIdle()
                site.clock.shift(by: .seconds(3))
            }
            let names = try await site.proxy.bench.cache.entries().map(\.url.target)
            #expect(names.count { $0.hasPrefix("/film") } == 3)
            #expect(names.contains("/39.ts") && names.count { $0.hasSuffix(".ts") } <= 3)
            for number in 0..<40 { #expect(site.requests("/\(number).ts") == 1) }
        }
    }

    @Test("a list of films or stations in the syntax of HLS says nothing about them") func otherLists() async throws {
        try await Site.run { site async throws in
            site.publish("#EXTM3U\n#EXTINF:-1,A film\nfilm.mp4\n", at: "/films.m3u", type: "audio/x-mpegurl")
            site.publishSegment("/film.mp4")
            _ = try await site.get("/films.m3u")
            _ = try await site.get("/film.mp4")
            let entries = try await site.proxy.bench.cache.entries()
            #expect(entries.first { $0.url.target == "/film.mp4" }?.information.role == nil)
        }
    }

    @Test(
        "a segment that the origin refuses is refused at once, and for one that it fails to send 503 comes",
        arguments: [(404, 404), (403, 403), (410, 410), (500, 503), (502, 503), (503, 503), (504, 503)])
    func refusals(status: Int, told: Int) async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"]), at: "/live.m3u8")
            _ = try await site.get("/live.m3u8")
            site.fail("/1.ts", with: status)
            let reply = try await site.get("/1.ts")
            #expect(reply.status == told)
            #expect(reply.head.fields["retry-after"] == (told == 503 ? "1" : nil))
            #expect(reply.cache.contains("fwd-status=\(status)"))
        }
    }

    @Test("an unreachable origin is asked for two seconds, then a player is told to ask again")
    func unreachable() async throws {
        let clock = ManualClock()
        let origin = ScriptedOrigin { request, _ in
            guard request.url.target == "/live.m3u8" else { throw RepriseError(.originUnreachable, "No answer.") }
            return ScriptedOrigin.Answer(
                200, [.contentType: Site.hls, .cacheControl: "max-age=600"], body: Array(Site.list(["1.ts"]).utf8))
        }
        let cacheClock = CacheClock(clock) {
            Date(timeIntervalSince1970: 1_800_000_000 + clock.now.offset / .seconds(1))
        }
        try await origin.run(configure: {
            $0.clock = cacheClock
            $0.retry.firstDelay = .milliseconds(900)
            $0.retry.maximumDelay = .seconds(8)
            $0.retry.attempts = 1000
        }) { cache async throws in
            try await CannedOrigin.serve(cache) { server async throws in
                _ = try await RawClient.exchange(port: server.port, "/http/origin.example/live.m3u8")
                let start = clock.now
                let asked = origin.requests.count
                let client = try RawClient(port: server.port)
                try await client.get("/http/origin.example/1.ts", ["Connection: close"])
                let reply = Task { try await client.head() }
                // Its two seconds have begun. The clock stood still so far: others that sleep would move it on.
                while origin.requests.count == asked { await breathe() }
                let driver = Task {
                    // Delays are drawn at random; the clock goes on as long as there is one.
                    while !Task.isCancelled {
                        if clock.sleeperCount > 0, start.duration(to: clock.now) < .seconds(2) {
                            clock.advance(by: .milliseconds(50))
                        }
                        await breathe()
                    }
                }
                defer { driver.cancel() }
                let head = try await reply.value
                #expect(head.status == 503)
                #expect(head.fields["retry-after"] == "1")
                #expect(origin.requests.count > asked)
            }
        }
    }

    @Test("an I-frame asked for with blocks around it comes from stored bytes (case 61)") func iFrames() async throws {
        try await Site.run { site async throws in
            site.publish(
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-I-FRAMES-ONLY\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
                    + "#EXTINF:6,\n#EXT-X-BYTERANGE:100@200\n1.ts\n#EXT-X-ENDLIST\n", at: "/frames.m3u8")
            site.publishSegment("/1.ts")
            _ = try await site.get("/frames.m3u8")
            _ = try await site.get("/1.ts", ["Range: bytes=0-511"])
            let frame = try await site.get("/1.ts", ["Range: bytes=176-303"])
            #expect(frame.status == 206)
            #expect(frame.body == TestPattern.bytes(in: 176..<304, seed: 1))
            #expect(site.requests("/1.ts") == 1)
        }
    }

    @Test("a file of parts that grows is passed on, and stored once it is listed as a segment (case 59)")
    func growingParts() async throws {
        try await Site.run { site async throws in
            func part(_ length: Int, at offset: Int) -> String {
                "#EXT-X-PART:DURATION=1,URI=\"1.mp4\",BYTERANGE=\"\(length)@\(offset)\"\n"
            }
            site.publish(
                Site.list([], more: "#EXT-X-PART-INF:PART-TARGET=1\n" + part(1000, at: 0)), at: "/live.m3u8")
            site.publishSegment("/1.mp4", length: 1000, seed: 1)
            _ = try await site.get("/live.m3u8")
            let first = try await site.get("/1.mp4", ["Range: bytes=0-999"])
            #expect(first.status == 206)
            #expect(first.body == TestPattern.bytes(in: 0..<1000, seed: 1))
            // Another tag: the origin has written more.
            site.publishSegment("/1.mp4", length: 5000, seed: 2)
            let second = try await site.get("/1.mp4", ["Range: bytes=1000-1999"])
            #expect(second.body == TestPattern.bytes(in: 1000..<2000, seed: 2))
            #expect(try await !site.proxy.bench.cache.entries().contains { $0.url.target == "/1.mp4" })
            site.publish(Site.list(["1.mp4"]), at: "/live.m3u8", etag: "\"w\"")
            site.clock.shift(by: .seconds(3))
            _ = try await site.get("/live.m3u8")
            #expect(try await site.get("/1.mp4").body == TestPattern.bytes(in: 0..<5000, seed: 2))
            #expect(try await site.proxy.bench.cache.entries().contains { $0.url.target == "/1.mp4" })
        }
    }
}
