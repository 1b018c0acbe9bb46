import HTTPTypes
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Blocking requests, parts and hints of Low-Latency HLS through a real proxy (rfc8216bis §6.2.5, §B.1).
@Suite("Low-Latency HLS", .limit(minutes: 1)) struct LowLatencyTests {
    private static let type = "application/vnd.apple.mpegurl"
    private static let list = "/live/list.m3u8"
    private static let blocking = "/live/list.m3u8?_HLS_msn=5&_HLS_part=1"

    /// The stream with parts `0...part` of segment 5; `part` + 1 is hinted.
    private static func text(upTo part: Int) -> String {
        let parts = (0...part).map { "#EXT-X-PART:DURATION=0.3,URI=\"5.\($0).mp4\"" }.joined(separator: "\n")
        return """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=24,PART-HOLD-BACK=1
            #EXT-X-PART-INF:PART-TARGET=0.3
            #EXT-X-MEDIA-SEQUENCE:4
            #EXTINF:4,
            /root/4.mp4
            \(parts)
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="5.\(part + 1).mp4"

            """
    }

    private struct Site {
        let proxy: ProxyBench
        let clock: ShiftableClock

        var origin: TestOrigin { proxy.bench.origin }

        static func run(
            client: NIOOrigin = .patient(), isShared: Bool = false, _ body: (Site) async throws -> Void
        ) async throws {
            let clock = ShiftableClock()
            try await ProxyBench.run(
                client: client, configureProxy: { $0.clock = clock.cacheClock },
                configure: {
                    $0.clock = clock.cacheClock
                    $0.reuse.isShared = isShared
                }
            ) { try await body(Site(proxy: $0, clock: clock)) }
        }

        func publish(
            _ text: String, at path: String, type: String? = LowLatencyTests.type, fields: HTTPFields = [:],
            status: Int? = nil
        ) {
            let personality = TestOrigin.Personality {
                $0.fields = fields
                $0.status = status
            }
            origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: type, etag: nil, lastModified: nil, personality: personality),
                at: path)
        }

        func requests(_ path: String) -> [HTTPRequestSummary] { origin.snapshot[path].requests }

        /// The clients' answers, once all of them wait at the proxy and `then` has run.
        func all(
            _ count: Int, _ path: String, _ fields: [String] = [], then: () async throws -> Void
        ) async throws -> [(head: RawClient.Head, body: [UInt8])] {
            let clients = try (0..<count).map { _ in try RawClient(port: proxy.server.port) }
            for client in clients { try await client.get(proxy.target(path), fields) }
            await eventually { proxy.server.answersUnderWay == count && !requests(path).isEmpty }
            try await then()
            return try await withThrowingTaskGroup(of: (RawClient.Head, [UInt8]).self) { group in
                for client in clients {
                    group.addTask {
                        let head = try await client.head()
                        return (head, try await client.body(head.length ?? 0))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
    }

    @Test("case 52: ten clients wait for one request, and each gets the list with its age")
    func tenClientsWaitForOneRequest() async throws {
        try await Site.run { site async throws in
            site.publish(Self.text(upTo: 0), at: Self.list)
            _ = try await site.proxy.get(Self.list)
            site.publish(Self.text(upTo: 1), at: Self.blocking)
            site.origin.holdHeads(Self.blocking)
            let answers = try await site.all(10, Self.blocking) { site.origin.release(Self.blocking) }
            #expect(site.requests(Self.blocking).count == 1)
            let through = "/http/127.0.0.1:\(site.origin.port)"
            let expected = Self.text(upTo: 1).replacing("/root/4", with: "\(through)/root/4")
            for (head, body) in answers {
                #expect(head.status == 200)
                #expect(String(decoding: body, as: UTF8.self) == expected)
                #expect(head.fields["age"] == "0")
            }
            let collapsed = answers.count { $0.head.fields["cache-status"]?.contains("collapsed") == true }
            #expect(collapsed == 9)
            site.clock.shift(by: .seconds(3))
            let late = try await site.proxy.get(Self.blocking)
            #expect(late.head.fields["cache-status"] == "reprise; hit")
            #expect(late.head.fields["age"] == "3")
            site.clock.shift(by: .seconds(22))
            _ = try await site.proxy.get(Self.blocking)
            #expect(site.requests(Self.blocking).count == 2, "six target durations are over")
            let statistics = site.proxy.bench.cache.statistics
            #expect(statistics.bytesFromJoinedFetch > statistics.bytesFetched, "ten clients, one fetch")
            let entries = try await site.proxy.bench.cache.entries()
            #expect(!entries.contains { $0.url.target.contains("_HLS_") }, "nothing of it is stored")
        }
    }

    @Test("case 53: the origin may hold a blocking request for longer than any other")
    func aHeldRequestIsNotTimedOut() async throws {
        var configuration = NIOOrigin.Configuration()
        configuration.responseTimeout = .milliseconds(20)
        try await Site.run(client: NIOOrigin(configuration: configuration)) { site async throws in
            site.publish(Self.text(upTo: 1), at: Self.blocking)
            site.publish("", at: "/other", type: "video/mp4")
            site.origin.holdHeads(Self.blocking)
            site.origin.holdHeads("/other")
            let answers = try await site.all(1, Self.blocking) { () async throws in
                // The client's own limit passes in the meantime.
                let other = try await site.proxy.get("/other")
                #expect(other.head.status == 504)
                site.origin.release(Self.blocking)
            }
            #expect(answers.map(\.head.status) == [200])
            #expect(site.requests(Self.blocking).count == 1)
        }
    }

    @Test("case 54: what the origin says after the hold is handed on at once", arguments: [503, 400, 404])
    func aRefusalIsHandedOn(status: Int) async throws {
        try await Site.run { site async throws in
            site.publish(Self.text(upTo: 0), at: Self.list)
            _ = try await site.proxy.get(Self.list)
            site.publish("", at: Self.blocking, fields: [.retryAfter: "7"], status: status)
            let answer = try await site.proxy.get(Self.blocking)
            #expect(answer.head.status == status)
            #expect(answer.head.fields["retry-after"] == "7")
            #expect(site.requests(Self.blocking).count == 1, "without another try")
            site.clock.shift(by: .seconds(1))
            #expect(try await site.proxy.get(Self.blocking).head.status == status)
            #expect(site.requests(Self.blocking).count == 1)
            site.clock.shift(by: .seconds(2))
            _ = try await site.proxy.get(Self.blocking)
            #expect(site.requests(Self.blocking).count == 2, "half a target duration is over")
        }
    }

    @Test("case 55: without the origin, a blocking request never gets the older list")
    func anOlderListIsNoAnswer() async throws {
        try await Site.run { site async throws in
            site.publish(Self.text(upTo: 0), at: Self.list, fields: [.cacheControl: "max-age=600"])
            #expect(try await site.proxy.get(Self.list).head.status == 200)
            await site.origin.stop()
            let answer = try await site.proxy.get(Self.blocking)
            #expect(answer.head.status == 503)
            #expect(answer.head.fields["retry-after"] == "1")
            #expect(try await site.proxy.get(Self.list).head.status == 200, "the other request does")
        }
    }

    @Test("case 56: a delta update is a playlist of its own")
    func aDeltaUpdateIsKeptApart() async throws {
        try await Site.run { site async throws in
            let delta = "/live/list.m3u8?_HLS_skip=YES"
            site.publish(Self.text(upTo: 0), at: Self.list, fields: [.cacheControl: "max-age=600"])
            let skipping = Self.text(upTo: 0).replacing(
                "#EXTINF:4,\n/root/4.mp4", with: "#EXT-X-SKIP:SKIPPED-SEGMENTS=1")
            site.publish(skipping, at: delta)
            let whole = try await site.proxy.get(Self.list).body
            #expect(try await site.proxy.get(delta).body == Array(skipping.utf8))
            #expect(try await site.proxy.get(Self.list).body == whole)
            #expect(site.requests(Self.list).count == 1)
        }
    }

    @Test("case 57: a part is sent as it comes, and its request ends with the last client")
    func aHintIsSentAsItComes() async throws {
        try await Site.run { site async throws in
            let hint = "/live/5.1.mp4"
            site.publish(Self.text(upTo: 0), at: Self.list)
            _ = try await site.proxy.get(Self.list)
            site.publish(String(repeating: "part", count: 5000), at: hint, type: "video/mp4")
            site.origin.hold(hint, at: 6000)
            let first = try RawClient(port: site.proxy.server.port)
            let second = try RawClient(port: site.proxy.server.port)
            for client in [first, second] { try await client.get(site.proxy.target(hint)) }
            for client in [first, second] {
                #expect(try await client.head().length == 20_000)
                #expect(try await client.body(6000).prefix(4).elementsEqual("part".utf8))
            }
            #expect(site.requests(hint).map(\.outcome) == [.underWay], "one request for both, and before its end")
            site.origin.release(hint)
            for client in [first, second] { #expect(try await client.body(14_000).count == 14_000) }
            let entries = try await site.proxy.bench.cache.entries()
            #expect(!entries.contains { $0.url.target == hint }, "nothing of it is stored")
        }
    }

    @Test("case 57: a held request ends with the last client that waits for it")
    func aHintEndsWithItsLastClient() async throws {
        try await Site.run { site async throws in
            let hint = "/live/5.1.mp4"
            site.publish(Self.text(upTo: 0), at: Self.list)
            _ = try await site.proxy.get(Self.list)
            site.publish("part", at: hint, type: "video/mp4")
            site.origin.holdHeads(hint)
            let clients = try (0..<2).map { _ in try RawClient(port: site.proxy.server.port) }
            for client in clients { try await client.get(site.proxy.target(hint)) }
            await eventually { site.proxy.server.answersUnderWay == 2 && !site.requests(hint).isEmpty }
            clients[0].disconnect()
            await eventually { site.proxy.server.answersUnderWay == 1 }
            #expect(site.requests(hint).map(\.outcome) == [.underWay])
            clients[1].disconnect()
            await eventually { site.requests(hint).map(\.outcome) == [.aborted] }
        }
    }

    @Test("case 57: a hint that came to nothing is asked for again")
    func anUnpublishedHintIsNotRemembered() async throws {
        try await Site.run { site async throws in
            let hint = "/live/5.1.mp4"
            site.publish(Self.text(upTo: 0), at: Self.list)
            _ = try await site.proxy.get(Self.list)
            site.publish("", at: hint, status: 404)
            #expect(try await site.proxy.get(hint).head.status == 404)
            site.publish("part", at: hint, type: "video/mp4")
            let answer = try await site.proxy.get(hint)
            #expect(answer.head.status == 200)
            #expect(answer.body == Array("part".utf8))
            #expect(try await site.proxy.get(hint).head.fields["cache-status"] == "reprise; hit")
        }
    }

    @Test("case 58: a range without an end is passed on, and so is its answer (RFC 8673)")
    func anEndlessRangeIsPassedOn() async throws {
        let growing = "https://cdn.example/live/5.mp4"
        let origin = CannedOrigin { request in
            guard request.url.description == growing else {
                let text = Self.text(upTo: 0).replacing(
                    "URI=\"5.1.mp4\"", with: "URI=\"5.mp4\",BYTERANGE-START=1000")
                return CannedOrigin.Answer(status: 200, fields: [.contentType: Self.type], body: text)
            }
            return CannedOrigin.Answer(
                status: 206, fields: [.contentRange: "bytes 1000-9007199254740991/*", .contentType: "video/mp4"],
                body: "part")
        }
        try await origin.serve { server async throws in
            _ = try await RawClient.exchange(port: server.port, "/https/cdn.example/live/list.m3u8")
            let answer = try await server.raw([
                "GET /https/cdn.example/live/5.mp4 HTTP/1.1", "Host: localhost", "Connection: close",
                "Range: bytes=1000-9007199254740991",
            ])
            #expect(answer.hasPrefix("HTTP/1.1 206 "))
            #expect(answer.contains("\r\nContent-Range: bytes 1000-9007199254740991/*\r\n"))
            #expect(answer.contains("part"))
            #expect(origin.requests.last?.fields[.range] == "bytes=1000-9007199254740991")
        }
    }

    @Test("case 59: parts of a segment that is listed are bytes of that segment, and stored")
    func aListedSegmentIsStored() async throws {
        try await Site.run { site async throws in
            let text = """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-PART-INF:PART-TARGET=0.3
                #EXT-X-PART:DURATION=0.3,URI="5.mp4",BYTERANGE="4@0"
                #EXT-X-PART:DURATION=0.3,URI="5.mp4",BYTERANGE="4@4"

                """
            site.publish(text, at: Self.list, fields: [.cacheControl: "no-cache"])
            site.publish("partpart", at: "/live/5.mp4", type: "video/mp4")
            _ = try await site.proxy.get(Self.list)
            #expect(try await site.proxy.get("/live/5.mp4", ["Range: bytes=0-3"]).body.count == 4)
            #expect(try await site.proxy.bench.cache.entries().allSatisfy { !$0.url.target.hasSuffix("5.mp4") })
            site.publish(text + "#EXTINF:4,\n5.mp4\n", at: Self.list, fields: [.cacheControl: "no-cache"])
            _ = try await site.proxy.get(Self.list)
            #expect(try await site.proxy.get("/live/5.mp4", ["Range: bytes=0-3"]).body.count == 4)
            await site.proxy.becomeIdle()
            #expect(try await site.proxy.bench.cache.entries().contains { $0.url.target.hasSuffix("5.mp4") })
        }
    }

    @Test("Other credentials have a request of their own, and what is private is not shared")
    func anotherUserAsksAlone() async throws {
        try await Site.run(isShared: true) { site async throws in
            site.publish(Self.text(upTo: 1), at: Self.blocking, fields: [.cacheControl: "max-age=60"])
            _ = try await site.proxy.get(Self.blocking, ["Authorization: Bearer one"])
            _ = try await site.proxy.get(Self.blocking, ["Authorization: Bearer two"])
            #expect(site.requests(Self.blocking).map { $0.fields[.authorization] } == ["Bearer one", "Bearer two"])
            site.publish(Self.text(upTo: 1), at: Self.blocking, fields: [.cacheControl: "private, max-age=60"])
            site.origin.holdHeads(Self.blocking)
            let before = site.requests(Self.blocking).count
            let answers = try await site.all(3, Self.blocking) { site.origin.release(Self.blocking) }
            #expect(answers.allSatisfy { $0.head.status == 200 })
            #expect(site.requests(Self.blocking).count == before + 3)
        }
    }

    @Test("X-Playback-Session-Id makes no difference, even if the origin varies by it")
    func aSessionOfAVPlayerIsNoVariant() async throws {
        try await Site.run { site async throws in
            site.publish(
                Self.text(upTo: 1), at: Self.blocking,
                fields: [.vary: "X-Playback-Session-Id", .cacheControl: "max-age=60"])
            for session in ["a", "b"] {
                _ = try await site.proxy.get(Self.blocking, ["X-Playback-Session-Id: \(session)"])
            }
            #expect(site.requests(Self.blocking).count == 1)
        }
    }

    @Test("Fifty clients follow a stream with one request for each list and each part")
    func fiftyClientsFollowAStream() async throws {
        try await Site.run { site async throws in
            site.publish(Self.text(upTo: 0), at: Self.list)
            _ = try await site.proxy.get(Self.list)
            var delays: [Duration] = []
            for part in 1...4 {
                let (list, file) = ("/live/list.m3u8?_HLS_msn=5&_HLS_part=\(part)", "/live/5.\(part).mp4")
                site.publish(Self.text(upTo: part), at: list)
                site.origin.holdHeads(list)
                var released = ContinuousClock.now
                let lists = try await site.all(50, list) {
                    released = .now
                    site.origin.release(list)
                }
                delays.append(ContinuousClock.now - released)
                #expect(lists.allSatisfy { $0.head.status == 200 && $0.body.count > 100 })
                site.publish(String(repeating: "x", count: 30_000), at: file, type: "video/mp4")
                site.origin.hold(file, at: 10_000)
                let clients = try (0..<50).map { _ in try RawClient(port: site.proxy.server.port) }
                for client in clients { try await client.get(site.proxy.target(file)) }
                for client in clients {
                    #expect(try await client.head().length == 30_000)
                    #expect(try await client.body(10_000).count == 10_000, "before the part ends")
                }
                site.origin.release(file)
                for client in clients { #expect(try await client.body(20_000).count == 20_000) }
                #expect(site.requests(list).count == 1)
                #expect(site.requests(file).count == 1)
            }
            print("50 clients, from the origin's release to the last client's whole list: \(delays)")
        }
    }
}
