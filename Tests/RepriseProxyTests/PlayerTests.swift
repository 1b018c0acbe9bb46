import ByteRanges
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Real players through the proxy: media are fetched once when played, and not fetched when played again.
@Suite(
    .serialized, .limit(minutes: 5), .playerMedia,
    .enabled(if: Players.ffmpeg != nil, "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct PlayerTests {
    /// The origin's bytes per second, and the bytes an abort may cost: one write of a fiftieth of a second that the
    /// origin's kernel has accepted and no longer sends.
    private static let rate = 3_000_000
    private static let lostByAnAbort = Int64(rate / 50)

    @Test(arguments: MediaFile.allCases)
    func ffmpegPlaysWhatItPlaysWithoutTheProxyAndNothingIsFetchedTwice(file: MediaFile) async throws {
        try await Self.run(file) { player async throws in
            let frames = try await Players.ffmpegScript(player.direct)
            #expect(try await Players.ffmpegScript(player.proxied) == frames)
            let first = await player.settled()
            try await player.again { url async throws in #expect(try await Players.ffmpegScript(url) == frames) }
            let second = await player.settled()
            let all = try await Players.ffmpegFrames(player.direct)
            #expect(try await Players.ffmpegFrames(player.proxied) == all)
            #expect(frames.count > 3 * 10 && all.count >= 60 * 10)
            await player.report("ffmpeg", first, second)
            await Self.expectFetchedOnce(player, first, second)
        }
    }

    @Test(
        .enabled(if: Players.mpv != nil, "mpv is not installed; scripts/bootstrap test installs it"),
        arguments: MediaFile.allCases)
    func mpvPlaysSeeksAndPlaysAgainAndNothingIsFetchedTwice(file: MediaFile) async throws {
        try await Self.run(file) { player async throws in
            Self.expectScript(try await Players.mpvScript(player.proxied))
            let first = await player.settled()
            try await player.again { url async throws in Self.expectScript(try await Players.mpvScript(url)) }
            let second = await player.settled()
            await player.report("mpv", first, second)
            await Self.expectFetchedOnce(player, first, second)
        }
    }

    @Test("what was preloaded plays while the origin is away", arguments: MediaFile.allCases)
    func preloaded(file: MediaFile) async throws {
        try await Self.run(file) { player async throws in
            let bench = player.proxy.bench
            let frames = try await Players.ffmpegFrames(player.direct, after: ["-t", "2"])
            let resource = try bench.cache.resource(for: bench.origin.url("/\(file.rawValue)"))
            try await resource.preload(.seconds(3))
            let length = try #require(await resource.stored()?.information.completeLength)
            let sent = await player.settled().bodyBytesSent
            await bench.origin.stop()
            #expect(try await Players.ffmpegFrames(player.proxied, after: ["-t", "2"]) == frames)
            print("preloaded \(file.rawValue): 3 s of 60 are \(sent) of \(length) bytes")
            #expect(sent < length / 4 && frames.count > 10)
        }
    }

    private static func expectFetchedOnce(
        _ player: Player, _ first: TestOrigin.PathCounters, _ second: TestOrigin.PathCounters
    ) async {
        #expect(first.bodyBytesSent > 0)
        #expect(second.bodyBytesSent == first.bodyBytesSent, "the second time costs the origin nothing")
        let aborts = Int64(first.requests.count { $0.outcome == .aborted })
        #expect(first.bytesSentMoreThanOnce <= aborts * lostByAnAbort)
        // Exactly the bytes received: every byte that the cache received was new.
        let cache = player.proxy.bench.cache
        await cache.close()
        #expect(cache.statistics.bytesFetched == cache.storedBytes)
    }

    /// Seeks land on the key frame before the place; key frames are two seconds apart.
    private static func expectScript(_ parts: [ClosedRange<Double>]) {
        for (part, place) in zip(parts, Players.places) {
            #expect(place - 2.5...place + 0.5 ~= part.lowerBound)
            #expect(part.upperBound - part.lowerBound > 0.29)
        }
    }

    /// Runs `body` with `file` at the origin, unlimited for direct requests and at ``rate`` for the proxy, so that
    /// players seek to bytes that have not arrived yet.
    private static func run(_ file: MediaFile, _ body: (Player) async throws -> Void) async throws {
        let path = try await #require(PlayerMedia.current).path(of: file)
        // The grace period is longer than real players need, because a busy machine runs them slowly. The origin's
        // kernel buffers little, because buffered bytes count as sent.
        try await ProxyBench.run(
            sendBufferSize: 16 << 10, configureProxy: { $0.gracePeriod = .milliseconds(300) }
        ) { proxy async throws in
            let content = TestOrigin.Content.file(path: path)
            let origin = proxy.bench.origin
            origin.set(TestOrigin.Resource(content, mediaType: file.mediaType), at: "/direct/\(file.rawValue)")
            let paced = TestOrigin.Personality { $0.bytesPerSecond = rate }
            origin.set(
                TestOrigin.Resource(content, mediaType: file.mediaType, personality: paced), at: "/\(file.rawValue)")
            try await body(Player(file: file, proxy: proxy))
        }
    }

    /// A file behind the proxy and, at another path, directly at the origin.
    private struct Player {
        let file: MediaFile
        let proxy: ProxyBench

        var direct: String { proxy.bench.origin.url("/direct/\(file.rawValue)") }
        var proxied: String { proxy.server.address + proxy.target("/\(file.rawValue)") }

        /// Plays the stored file, at the URL that `body` gets.
        ///
        /// A player that is slow to leave at the end of that gets nothing more.
        func again(_ body: (String) async throws -> Void) async throws {
            try await proxy.again({ $0.gracePeriod = .seconds(60) }) { again async throws in
                try await body(again.server.address + again.target("/\(file.rawValue)"))
            }
        }

        /// The origin's counters once it no longer sends anything.
        func settled() async -> TestOrigin.PathCounters {
            await proxy.bench.origin.waitUntil { $0.responsesUnderWay == 0 }
            return await proxy.bench.origin.settledSnapshot()["/\(file.rawValue)"]
        }

        func report(_ name: String, _ first: TestOrigin.PathCounters, _ second: TestOrigin.PathCounters) async {
            let distinct = first.distinctBytesSent.byteCount
            let ratio = Double(first.bodyBytesSent) / Double(max(distinct, 1))
            let last = await settled()
            print(
                "player \(name) \(file.rawValue):",
                "\(first.requestCount) requests, \(first.bodyBytesSent) / \(distinct) = \((ratio * 1000).rounded() / 1000);",
                "again \(second.requestCount - first.requestCount) requests,",
                "\(second.bodyBytesSent - first.bodyBytesSent) bytes; in all \(last.distinctBytesSent.byteCount) bytes,",
                "\(last.bytesSentMoreThanOnce) twice")
        }
    }
}
