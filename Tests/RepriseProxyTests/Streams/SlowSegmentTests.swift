import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Segments whose origin takes its time.
@Suite("Slow segments", .limit(minutes: 1)) struct SlowSegmentTests {
    private static let session = "X-Playback-Session-Id: 6F1D"
    private static let segment = "/http/origin.example/1.ts"

    private struct Site {
        let clock: ManualClock
        let origin: ScriptedOrigin
        let server: ProxyServer
        /// Lets the origin answer.
        let open: @Sendable () -> Void

        func ask(_ fields: [String], _ target: String = SlowSegmentTests.segment) async throws -> RawClient {
            let client = try RawClient(port: server.port)
            try await client.get(target, fields + ["Connection: close"])
            return client
        }
    }

    private static func run(_ body: (Site) async throws -> Void) async throws {
        let clock = ManualClock()
        let (gate, key) = AsyncStream<Void>.makeStream()
        let origin = ScriptedOrigin { request, _ in
            if request.url.target == "/live.m3u8" {
                return ScriptedOrigin.Answer(
                    200, [.contentType: StreamSite.hls, .cacheControl: "max-age=600"],
                    body: Array(StreamSite.list(["1.ts"]).utf8))
            }
            if request.fields[.range] != "bytes=0-499" { for await _ in gate {} }
            return .media(request, TestPattern.bytes(in: 0..<1000, seed: 1))
        }
        let cacheClock = CacheClock(clock) {
            Date(timeIntervalSince1970: 1_800_000_000 + clock.now.offset / .seconds(1))
        }
        try await origin.run(configure: { $0.clock = cacheClock }) { cache async throws in
            try await CannedOrigin.serve(
                cache,
                configure: {
                    $0.clock = cacheClock
                    $0.gracePeriod = .zero
                }
            ) { server async throws in
                defer { key.finish() }
                _ = try await RawClient.exchange(port: server.port, "/http/origin.example/live.m3u8")
                try await body(Site(clock: clock, origin: origin, server: server) { key.finish() })
            }
        }
    }

    @Test(
        "AVPlayer is told after two seconds to ask again, and then finds the response to its first request",
        arguments: [session, "User-Agent: AppleCoreMedia/1.0.0.21F90 (iPhone; U; CPU OS 17_5_1 like Mac OS X)"])
    func impatient(field: String) async throws {
        try await Self.run { site async throws in
            let first = try await site.ask([field])
            await site.origin.wasAsked(2)
            site.clock.advance(by: .milliseconds(1900))
            #expect(try await first.receivesNothing())
            site.clock.advance(by: .milliseconds(100))
            let head = try await first.head()
            #expect(head.status == 503)
            #expect(head.fields["retry-after"] == "1")
            await eventually { site.server.answersUnderWay == 0 }
            let second = try await site.ask([field])
            await eventually { site.server.answersUnderWay == 1 }
            site.open()
            #expect(try await second.head().status == 200)
            #expect(try await second.body(1000) == TestPattern.bytes(in: 0..<1000, seed: 1))
            #expect(site.origin.requests.count == 2, "one for the list, one for the segment")
        }
    }

    @Test("other players wait, because some of them skip a segment after 503, and so does AVPlayer for other files")
    func patient() async throws {
        try await Self.run { site async throws in
            let clients = [try await site.ask([]), try await site.ask([Self.session], "/http/origin.example/film.mp4")]
            await site.origin.wasAsked(3)
            site.clock.advance(by: .seconds(10))
            for client in clients { #expect(try await client.receivesNothing()) }
            site.open()
            for client in clients { #expect(try await client.head().status == 200) }
        }
    }

    @Test("a segment whose beginning is stored has begun, and is not broken off")
    func begun() async throws {
        try await Self.run { site async throws in
            let bytes = TestPattern.bytes(in: 0..<1000, seed: 1)
            let beginning = try await site.ask([Self.session, "Range: bytes=0-499"])
            #expect(try await beginning.head().status == 206)
            #expect(try await beginning.body(500) == Array(bytes[..<500]))
            await eventually { site.server.answersUnderWay == 0 }
            let whole = try await site.ask([Self.session])
            #expect(try await whole.head().status == 200)
            #expect(try await whole.body(500) == Array(bytes[..<500]))
            await site.origin.wasAsked(3)
            site.clock.advance(by: .seconds(10))
            #expect(try await whole.receivesNothing())
            site.open()
            #expect(try await whole.body(500) == Array(bytes[500...]))
        }
    }
}
