import HTTPTypes
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Bodies without a length, which are moments of something live.
@Suite("Live bodies", .limit(minutes: 2)) struct LiveBodyTests {
    private typealias Site = StreamSite

    private static let path = "/channel"

    /// Publishes bytes of `seed`, whose end is marked as `framing` says.
    private static func publish(
        _ site: Site, _ seed: UInt64, _ framing: TestOrigin.Personality.Framing, control: String? = nil,
        isEndless: Bool = false
    ) {
        site.proxy.bench.publish(path, length: 10_000, seed: seed, etag: nil, type: "video/mp2t") {
            ($0.framing, $0.fields[.cacheControl], $0.isEndless) = (framing, control, isEndless)
        }
    }

    /// The body for a client of HTTP/1.0, which ends with the connection.
    private static func body(_ site: Site) async throws -> [UInt8] {
        let client = try RawClient(port: site.proxy.server.port)
        try await client.send("GET \(site.proxy.target(path)) HTTP/1.0\r\nHost: localhost\r\n\r\n")
        #expect(try await client.head().status == 200)
        return try await client.upTo(1 << 22)
    }

    @Test(
        "each play reaches the origin",
        arguments: [(.closeDelimited, nil), (.closeDelimited, "no-cache"), (.chunked, "no-cache")]
            as [(TestOrigin.Personality.Framing, String?)])
    func nextPlay(framing: TestOrigin.Personality.Framing, control: String?) async throws {
        try await Site.run { site async throws in
            for seed in 1...3 as ClosedRange<UInt64> {
                Self.publish(site, seed, framing, control: control)
                #expect(try await Self.body(site) == TestPattern.bytes(in: 0..<10_000, seed: seed))
            }
            #expect(site.requests(Self.path) == 3)
        }
    }

    @Test("a chunked body that has ended is a file, as a transcode is") func transcode() async throws {
        try await Site.run { site async throws in
            Self.publish(site, 1, .chunked)
            for _ in 0..<2 { #expect(try await Self.body(site).count == 10_000) }
            #expect(site.requests(Self.path) == 1)
        }
    }

    @Test("a lifetime that the origin gives is honored") func lifetime() async throws {
        try await Site.run { site async throws in
            Self.publish(site, 1, .closeDelimited, control: "max-age=60")
            for _ in 0..<2 { #expect(try await Self.body(site).count == 10_000) }
            #expect(site.requests(Self.path) == 1)
        }
    }

    @Test("a second viewer does not begin where the first one began") func secondViewer() async throws {
        try await Site.run { site async throws in
            Self.publish(site, 1, .chunked, isEndless: true)
            site.origin.hold(Self.path, at: 50_000)
            let viewers = [try RawClient(port: site.proxy.server.port), try RawClient(port: site.proxy.server.port)]
            for (number, viewer) in viewers.enumerated() {
                try await viewer.get(site.proxy.target(Self.path))
                #expect(try await viewer.head().status == 200)
                #expect(try await viewer.skip(10_000) == 10_000)
                guard number == 0 else { continue }
                // It has got everything that the origin has sent.
                let key = CacheKey(site.origin.url(Self.path))
                await eventually {
                    site.proxy.bench.cache.engine.liveResource(key)?.liveGeneration?
                        .ask { state in
                            state.schedule.fetches.values.contains { $0.cursor == 50_000 }
                                && state.schedule.readers.values.contains { $0.waitingOn != nil }
                        } == true
                }
                site.clock.shift(by: .seconds(10))
            }
            #expect(site.requests(Self.path) == 2)
            for viewer in viewers { viewer.disconnect() }
            site.origin.release(Self.path)
            await site.proxy.becomeIdle()
        }
    }

    @Test("a body without end costs no film", arguments: [TestOrigin.Personality.Framing.chunked, .closeDelimited])
    func room(framing: TestOrigin.Personality.Framing) async throws {
        try await Site.run(limit: 48_000_000) { site async throws in
            site.publishSegment("/film.mp4", length: 40_000_000)
            #expect(try await site.get("/film.mp4").body.count == 40_000_000)
            await site.proxy.becomeIdle()
            Self.publish(site, 1, framing, isEndless: true)
            let viewer = try RawClient(port: site.proxy.server.port)
            try await viewer.get(site.proxy.target(Self.path))
            #expect(try await viewer.head().status == 200)
            #expect(try await viewer.skip(60_000_000) == 60_000_000)
            viewer.disconnect()
            await site.proxy.becomeIdle()
            let film = try await site.proxy.bench.cache.entries().first { $0.url.target == "/film.mp4" }
            #expect(film?.storedBytes == 40_000_000)
        }
    }
}

/// Files that grow while they are read.
@Suite("Growing files (RFC 9110 §14.4)", .limit(minutes: 2)) struct GrowingFileTests {
    private typealias Site = StreamSite

    private static let path = "/recording.ts"

    private static func publish(_ site: Site, _ length: Int64, isTagged: Bool, control: String? = nil) {
        site.proxy.bench.publish(path, length: length, etag: isTagged ? "\"\(length)\"" : nil, type: "video/mp2t") {
            $0.fields[.cacheControl] = control
        }
    }

    @Test(
        "what lies beyond the known end is asked for",
        arguments: ["100000-", "100000-149999", "90000-149999", "-1000"], [true, false])
    func beyond(range: String, isTagged: Bool) async throws {
        try await Site.run { site async throws in
            Self.publish(site, 100_000, isTagged: isTagged)
            #expect(try await site.get(Self.path).body.count == 100_000)
            Self.publish(site, 150_000, isTagged: isTagged)
            let reply = try await site.get(Self.path, ["Range: bytes=\(range)"])
            #expect(reply.status == 206)
            #expect(reply.head.fields["content-range"]?.hasSuffix("-149999/150000") == true)
        }
    }

    @Test("a file that has not grown keeps its stored bytes", arguments: [true, false])
    func unchanged(isTagged: Bool) async throws {
        try await Site.run { site async throws in
            Self.publish(site, 100_000, isTagged: isTagged)
            _ = try await site.get(Self.path)
            #expect(try await site.get(Self.path, ["Range: bytes=90000-149999"]).body.count == 10_000)
            #expect(try await site.get(Self.path, ["Range: bytes=100000-"]).status == 416)
            let asked = site.requests(Self.path)
            #expect(try await site.get(Self.path).body == TestPattern.bytes(in: 0..<100_000, seed: 1))
            #expect(site.requests(Self.path) == asked)
        }
    }

    @Test("while the origin says that it is fresh, the stored end counts (RFC 9111 §4.2)") func fresh() async throws {
        try await Site.run { site async throws in
            Self.publish(site, 100_000, isTagged: true, control: "max-age=60")
            _ = try await site.get(Self.path)
            Self.publish(site, 150_000, isTagged: true, control: "max-age=60")
            #expect(try await site.get(Self.path, ["Range: bytes=100000-"]).status == 416)
            #expect(site.requests(Self.path) == 1)
        }
    }
}
