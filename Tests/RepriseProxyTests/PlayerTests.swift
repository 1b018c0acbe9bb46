import ByteRanges
import Foundation
import RepriseProxy
import RepriseTesting
import TestSupport
import Testing

/// Real players through the proxy: what they play is fetched once, and what they play again is not fetched.
@Suite(
    .serialized, .timeLimit(.minutes(5)), .playerMedia,
    .enabled(if: Players.ffmpeg != nil, "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct PlayerTests {
    @Test(arguments: MediaFile.allCases)
    func ffmpegPlaysWhatItPlaysWithoutTheProxyAndNothingIsFetchedTwice(file: MediaFile) async throws {
        try await Self.run(file) { player async throws in
            let frames = try await Players.ffmpegScript(player.direct)
            #expect(try await Players.ffmpegScript(player.proxied) == frames)
            let first = await player.settled()
            #expect(try await Players.ffmpegScript(player.proxied) == frames)
            let second = await player.settled()
            let all = try await Players.ffmpegFrames(player.direct)
            #expect(try await Players.ffmpegFrames(player.proxied) == all)
            let whole = await player.settled()
            player.report("ffmpeg", first, second)
            #expect(frames.count > 3 * 10 && all.count >= 60 * 10)
            #expect(first.bodyBytesSent > 0)
            #expect(first.bytesSentMoreThanOnce == 0)
            #expect(second.bodyBytesSent == first.bodyBytesSent)
            #expect(whole.bytesSentMoreThanOnce == 0)
        }
    }

    @Test(
        .enabled(if: Players.mpv != nil, "mpv is not installed; scripts/bootstrap test installs it"),
        arguments: MediaFile.allCases)
    func mpvPlaysSeeksAndPlaysAgainAndNothingIsFetchedTwice(file: MediaFile) async throws {
        try await Self.run(file) { player async throws in
            Self.expectScript(try await Players.mpvScript(player.proxied))
            let first = await player.settled()
            Self.expectScript(try await Players.mpvScript(player.proxied))
            let second = await player.settled()
            player.report("mpv", first, second)
            #expect(first.bodyBytesSent > 0)
            #expect(first.bytesSentMoreThanOnce == 0)
            #expect(second.bodyBytesSent == first.bodyBytesSent)
        }
    }

    /// Seeks land on the key frame before the place; key frames are two seconds apart.
    private static func expectScript(_ parts: [ClosedRange<Double>]) {
        for (part, place) in zip(parts, Players.places) {
            #expect(place - 2.5...place + 0.5 ~= part.lowerBound)
            #expect(part.upperBound - part.lowerBound >= 0.25)
        }
    }

    private static func run(_ file: MediaFile, _ body: (Player) async throws -> Void) async throws {
        let path = try await #require(PlayerMedia.current).path(of: file)
        try await ProxyBench.run(
            sendBufferSize: 16 << 10,
            configureProxy: {
                $0.gracePeriod = .milliseconds(Int(ProcessInfo.processInfo.environment["H8_GRACE"] ?? "50") ?? 50)
            }
        ) { proxy async throws in
            let E = ProcessInfo.processInfo.environment
            let content: TestOrigin.Content =
                E["H8_BYTES"] == "1"
                ? .bytes(Array(try Data(contentsOf: URL(fileURLWithPath: path)))) : .file(path: path)
            proxy.bench.origin.set(
                TestOrigin.Resource(content, mediaType: file.mediaType), at: "/direct/\(file.rawValue)")
            proxy.bench.origin.set(
                TestOrigin.Resource(
                    content, mediaType: file.mediaType,
                    personality: TestOrigin.Personality { $0.bytesPerSecond = Int(E["H8_PACE"] ?? "3000000") }),
                at: "/\(file.rawValue)")
            try await body(Player(file: file, proxy: proxy))
        }
    }

    /// A file behind the proxy and, at another path, directly at the origin.
    private struct Player {
        let file: MediaFile
        let proxy: ProxyBench

        var direct: String { proxy.bench.origin.url("/direct/\(file.rawValue)") }
        var proxied: String { proxy.server.address + proxy.target("/\(file.rawValue)") }

        /// The origin's counters once it sends nothing any more.
        func settled() async -> TestOrigin.PathCounters {
            await proxy.bench.origin.waitUntil { $0.responsesUnderWay == 0 }
            return await proxy.bench.origin.settledSnapshot()["/\(file.rawValue)"]
        }

        func report(_ name: String, _ first: TestOrigin.PathCounters, _ second: TestOrigin.PathCounters) {
            let distinct = first.distinctBytesSent.byteCount
            let ratio = Double(first.bodyBytesSent) / Double(max(distinct, 1))
            print(
                "player \(name) \(file.rawValue): \(first.requestCount) requests, \(first.bodyBytesSent) / \(distinct) = \(ratio)",
                "again: \(second.requestCount - first.requestCount) requests, \(second.bodyBytesSent - first.bodyBytesSent)"
            )
        }
    }
}
