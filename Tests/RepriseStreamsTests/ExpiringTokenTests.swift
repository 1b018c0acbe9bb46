import HTTPTypes
import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Tokens and signatures that expire in the middle of a stream's download.
@Suite("Expiring tokens of streams' downloads", .limit(minutes: 2)) struct ExpiringTokenTests {
    enum Kind: String, CaseIterable {
        case hls = "list.m3u8"
        case dash = "list.mpd"
    }

    private static let length: Int64 = 200_000
    private static let names = (1...6).map { "\($0).m4s" }
    private static let broken = names[..<3].map { "/show/\($0)" }

    private static func list(_ kind: Kind) -> String {
        switch kind {
        case .hls:
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + names.map { "#EXTINF:4,\n\($0)\n" }.joined()
                + "#EXT-X-ENDLIST\n"
        case .dash:
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT24S">
            <Period><AdaptationSet contentType="video"><Representation id="v" bandwidth="1"><SegmentList duration="4">
            \(names.map { "<SegmentURL media=\"\($0)\"/>" }.joined())
            </SegmentList></Representation></AdaptationSet></Period></MPD>
            """
        }
    }

    /// Puts the stream at the origin for those with `token`; `most` is where the first three bodies break off.
    private static func publish(
        _ kind: Kind, _ token: String?, _ bench: Bench, brokenAt most: Int64? = nil
    ) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(list(kind).utf8)),
                mediaType: kind == .hls ? "application/vnd.apple.mpegurl" : "application/dash+xml", etag: "\"l\"",
                personality: TestOrigin.Personality { $0.demandedAuthorization = token }), at: "/show/\(kind.rawValue)")
        for (number, name) in names.enumerated() {
            bench.publish("/show/\(name)", length: length, seed: UInt64(number)) {
                $0.demandedAuthorization = token
                if number < broken.count { $0.truncateAfter = most }
            }
        }
    }

    private static func run(
        _ program: TokenProgram, _ kind: Kind, _ body: (Bench, MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.authorize = { await program.answer($0) }
        }) { bench async throws in
            try await body(bench, try bench.cache.resource(for: bench.origin.url("/show/\(kind.rawValue)")))
        }
    }

    /// Downloads until three segments are on their way, lets their bodies break off, and accepts only `token` then;
    /// `change` is called before.
    private static func expire(
        _ kind: Kind, to token: String, _ bench: Bench, _ resource: MediaResource, change: () -> Void
    ) async throws {
        publish(kind, "1", bench, brokenAt: 100_000)
        for path in broken { bench.origin.hold(path, at: 50_000) }
        try await bench.cache.downloads.add(resource)
        await bench.origin.waitUntil { counters in broken.allSatisfy { counters[$0].bodyBytesSent >= 50_000 } }
        change()
        publish(kind, token, bench)
        for path in broken { bench.origin.release(path) }
    }

    private static func expectWhole(_ bench: Bench) async throws {
        for (number, name) in names.enumerated() {
            let bytes = try await bench.bytes("/show/\(name)")
            #expect(bytes == TestPattern.bytes(in: 0..<length, seed: UInt64(number)), "\(name)")
        }
        // Stored bytes are not fetched again: no range begins before the place where the body broke off.
        for path in broken {
            let starts = bench.origin.snapshot[path].requests.map { $0.requestedRange?.lowerBound ?? 0 }
            #expect(starts.first == 0 && starts.dropFirst().allSatisfy { $0 == 100_000 }, "\(path) \(starts)")
        }
    }

    @Test("three segments that are refused together ask once, and no byte comes twice", arguments: Kind.allCases)
    func askedOnce(kind: Kind) async throws {
        let program = TokenProgram("1")
        try await Self.run(program, kind) { bench, resource async throws in
            // The answer comes when all three are refused.
            let refused = { @Sendable [origin = bench.origin] in
                _ = await origin.waitUntil { counters in
                    Self.broken.allSatisfy { counters[$0].requests.contains { $0.status == 401 } }
                }
            }
            try await Self.expire(kind, to: "2", bench, resource) { program.give("2", after: refused) }
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(program.reasons == [.downloadStarts, .refused(status: 401)])
            #expect(await bench.origin.settledSnapshot().bytesSentMoreThanOnce == 0)
            try await Self.expectWhole(bench)
        }
    }

    @Test("a token that stays refused: the download waits for authorization with its bytes, and goes on with another")
    func staysRefused() async throws {
        let program = TokenProgram("1")
        try await Self.run(program, .hls) { bench, resource async throws in
            try await Self.expire(.hls, to: "2", bench, resource) { program.give("0") }
            let download = try await bench.cache.endedDownload()
            guard case .waiting(.authorization, let error) = download.state else {
                return #expect(Bool(false), "\(download.state)")
            }
            #expect(error.code == .originRefused && error.refusal?.head.status == .unauthorized)
            // At most once for each file that was under way.
            #expect(program.reasons.count <= 1 + Self.broken.count)
            program.give("2")
            await bench.cache.becomeIdle()
            try await bench.cache.downloads.resume(resource.key)
            for await list in bench.cache.downloads.updates(every: .zero) {
                if case .done? = list.first?.state { break }
            }
            #expect(await bench.origin.settledSnapshot().bytesSentMoreThanOnce == 0)
            try await Self.expectWhole(bench)
        }
    }
}
