import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Origins that report errors with status 200, in front of stored media.
@Suite("Errors in disguise", .limit(minutes: 2)) struct DisguisedErrorTests {
    private typealias Site = StreamSite

    private static let length: Int64 = 500_000
    private static var film: [UInt8] { TestPattern.bytes(in: 0..<length, seed: 1) }

    /// Publishes a film, without validators unless it `isTagged`.
    private static func publishFilm(_ site: Site, isTagged: Bool = false) {
        site.proxy.bench.publish("/film.ts", length: length, etag: isTagged ? "\"v\"" : nil, type: "video/mp2t") {
            $0.fields[.cacheControl] = "max-age=0"
        }
    }

    /// A new play: the origin is asked.
    private static func shift(_ site: Site) { site.clock.shift(by: .seconds(100_000)) }

    @Test(
        "a stored film is served in place of them, whatever they call themselves",
        arguments: ["text/plain", "application/xml", "image/png", "application/octet-stream", "video/mp2t", nil],
        [TestOrigin.Personality.Framing.contentLength, .chunked])
    func filmStays(type: String?, framing: TestOrigin.Personality.Framing) async throws {
        try await Site.run { site async throws in
            Self.publishFilm(site)
            #expect(try await site.get("/film.ts").body == Self.film)
            Self.shift(site)
            site.publish("FAILED TO CONNECT", at: "/film.ts", type: type, etag: nil) { $0.framing = framing }
            let reply = try await site.get("/film.ts")
            #expect(reply.status == 200)
            #expect(reply.body == Self.film)
            #expect(site.requests("/film.ts") == 2)
        }
    }

    @Test(
        "a short body whose length shows only at its end does not replace a film, whatever forbids storing it",
        arguments: [TestOrigin.Personality.Framing.contentLength, .chunked, .closeDelimited],
        [
            ("\u{0}\u{0}\u{0}\u{20}ftypisom", nil, nil), ("\u{0}\u{1}", "no-store", nil), ("\u{0}\u{1}", nil, "gzip"),
            ("", nil, nil),
        ]
            as [(String, String?, String?)])
    func shortBody(framing: TestOrigin.Personality.Framing, body: (text: String, control: String?, coding: String?))
        async throws
    {
        try await Site.run { site async throws in
            Self.publishFilm(site)
            #expect(try await site.get("/film.ts").body == Self.film)
            Self.shift(site)
            let personality = TestOrigin.Personality {
                ($0.framing, $0.contentEncoding, $0.fields[.cacheControl]) = (framing, body.coding, body.control)
            }
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(body.text.utf8)), mediaType: "video/mp4", etag: nil, lastModified: nil,
                    personality: personality), at: "/film.ts")
            #expect(try await site.get("/film.ts").body == Self.film)
        }
    }

    @Test("so it is in place of other statuses of success without a film", arguments: [202, 204])
    func statuses(status: Int) async throws {
        try await Site.run { site async throws in
            Self.publishFilm(site)
            _ = try await site.get("/film.ts")
            Self.shift(site)
            site.fail("/film.ts", with: status)
            #expect(try await site.get("/film.ts").body == Self.film)
        }
    }

    @Test(
        "an error in answer to a hole, or to the whole that a hole needs, costs none of the stored bytes",
        arguments: [true, false])
    func hole(isTagged: Bool) async throws {
        try await Site.run { site async throws in
            Self.publishFilm(site, isTagged: isTagged)
            _ = try await site.get("/film.ts", ["Range: bytes=0-199999"])
            await site.proxy.becomeIdle()
            Self.shift(site)
            site.publish("FAILED TO CONNECT", at: "/film.ts", type: "text/plain", etag: nil)
            _ = try? await site.get("/film.ts", ["Range: bytes=300000-"])
            await site.proxy.becomeIdle()
            let stored = try await site.proxy.bench.cache.entries().first { $0.url.target == "/film.ts" }
            #expect(stored?.information.completeLength == Self.length)
            #expect(stored?.storedBytes ?? 0 >= 200_000)
        }
    }

    @Test("a 416 or a 412 does not remove stored bytes", arguments: [416, 412])
    func refusedRange(status: Int) async throws {
        try await Site.run { site async throws in
            Self.publishFilm(site, isTagged: true)
            #expect(try await site.get("/film.ts").body == Self.film)
            Self.shift(site)
            site.fail("/film.ts", with: status)
            _ = try await site.get("/film.ts")
            await site.proxy.becomeIdle()
            let stored = try await site.proxy.bench.cache.entries().first { $0.url.target == "/film.ts" }
            #expect(stored?.storedBytes == Self.length)
        }
    }

    @Test("a kept film is not replaced by one of less than half its length, another one is", arguments: [true, false])
    func lesserFilm(isKept: Bool) async throws {
        try await Site.run { site async throws in
            let cache = site.proxy.bench.cache
            Self.publishFilm(site, isTagged: true)
            #expect(try await site.get("/film.ts").body == Self.film)
            if isKept {
                try await cache.retain(try cache.resource(for: site.origin.url("/film.ts")), as: .pinned(until: nil))
            }
            Self.shift(site)
            site.publishSegment("/film.ts", length: 200_000, seed: 2)
            let expected = isKept ? Self.film : TestPattern.bytes(in: 0..<200_000, seed: 2)
            #expect(try await site.get("/film.ts").body == expected)
        }
    }

    @Test("a HEAD that contradicts makes a film stale: it is served while the origin is away (RFC 9111 §4.3.5)")
    func head() async throws {
        try await Site.run { site async throws in
            Self.publishFilm(site, isTagged: true)
            #expect(try await site.get("/film.ts").body == Self.film)
            Self.shift(site)
            site.publishSegment("/film.ts", length: 17, seed: 2)
            #expect(try await site.get("/film.ts", method: "HEAD").status == 200)
            await site.origin.stop()
            #expect(try await site.get("/film.ts").body == Self.film)
        }
    }
}
