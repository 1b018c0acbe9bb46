import Foundation
import Logging
import Reprise
import RepriseHTTPClient
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Downloads of streams whose process is killed again and again: they end whole, fetch little twice, and play to the
/// end without the origin, from lists that name only stored tracks.
///
/// `REPRISE_STREAM_KILLS=20` kills at so many random moments and at every point that a download passes; 3 by default,
/// at moments only. `REPRISE_STREAM_PLAYERS` names the players, as for ``StreamPlayerTests``.
@Suite(
    .serialized, .limit(minutes: 30),
    .enabled(if: Players.ffmpeg != nil, "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct KilledDownloadTests {
    /// The settings that `CrashChild` reads.
    private struct Settings: Encodable {
        var directory: String
        var stream: String
        var crashPoint: String?
        var passage = 1
        var url = ""
        var lengths: [Int64] = []
        var seed: UInt64 = 0
        var limit: Int64 = 100_000_000
        var recordMilliseconds: Int64 = 1000
        var readers = 0
        var pinned = 0
        var resets = false
        var isFinal = false
    }

    private static let kills = ProcessInfo.processInfo.environment["REPRISE_STREAM_KILLS"].flatMap { Int($0) }
    /// Points that a process passes which downloads and never evicts.
    private static let points = ["reserved", "written", "published", "recording", "recorded", "opened"]
    /// Bytes per second of each response.
    private static let rate = 40_000

    private static func program() throws -> String {
        let bundles = Bundle.allBundles.map(\.bundlePath).filter { $0.hasSuffix(".xctest") }
        let candidates = (bundles + CommandLine.arguments).map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("CrashChild").path
        }
        return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0) })
    }

    private static func run(_ settings: Settings, for limit: Duration) async throws -> ChildProcess.Outcome {
        let json = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        return try await ChildProcess.run(try program(), [json], limit: limit)
    }

    @Test(
        "killed again and again, it ends whole and plays without the origin",
        arguments: [StreamMedia.variants, .dashTemplate])
    func killed(media: StreamMedia) async throws {
        let files = try await media.make()
        let (origin, pages) = (try await TestOrigin.start(), try await TestOrigin.start())
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await killAndPlay(media, files, origin, pages, directory: directory.path))
        } catch {
            result = .failure(error)
        }
        await origin.stop()
        await pages.stop()
        try result.get()
    }

    private func killAndPlay(
        _ media: StreamMedia, _ files: [String: [UInt8]], _ origin: TestOrigin, _ pages: TestOrigin, directory: String
    ) async throws {
        for (name, bytes) in files {
            origin.set(
                TestOrigin.Resource(
                    .bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\"",
                    personality: TestOrigin.Personality { $0.bytesPerSecond = Self.rate }), at: "/show/\(name)")
        }
        var settings = Settings(directory: directory, stream: origin.url("/show/\(media.index)"))
        try await kill(&settings, media, files, origin)
        settings.crashPoint = nil
        #expect(try await Self.run(settings, for: .seconds(120)).exit == .status(0), "it ends whole")
        let sent = await origin.settledSnapshot()
        await origin.stop()
        #expect(try await Self.run(settings, for: .seconds(60)).exit == .status(0), "nothing more is needed")
        let wanted = Set(try CacheInspector(directory: directory).entries().filter(\.isComplete).map(\.url.target))
        #expect(Set(sent.requests.filter { $0.status == 200 || $0.status == 206 }.map(\.path)) == wanted)
        try await play(media, origin, pages, directory: directory)
    }

    /// Kills the download at random moments, and at points; expects that a kill costs no more than a second's bytes.
    private func kill(
        _ settings: inout Settings, _ media: StreamMedia, _ files: [String: [UInt8]], _ origin: TestOrigin
    ) async throws {
        var random = SeededGenerator(seed: 14)
        var (killed, before) = (0, Int64(0))
        // Three files are fetched at once; what lies in their sockets was sent and never read.
        let largest = files.filter { !$0.key.hasSuffix(".m3u8") && !$0.key.hasSuffix(".mpd") }.values.map(\.count).max()
        let most = 3 * Int64(Self.rate) + 3 * Int64(largest ?? 0)
        func note(_ outcome: ChildProcess.Outcome, _ what: String) async {
            guard outcome.exit != .status(0) else { return }
            #expect(outcome.exit == .overTime || outcome.exit == .signal(SIGKILL), "\(what): \(outcome)")
            killed += 1
            let again = await origin.settledSnapshot().bytesSentMoreThanOnce
            #expect(again - before <= most, "\(what): \(again - before) bytes again")
            before = again
        }
        for number in 0..<(Self.kills ?? 3) {
            let moment = Duration.milliseconds(Int64.random(in: 300...2500, using: &random))
            await note(try await Self.run(settings, for: moment), "kill \(number)")
        }
        for point in Self.kills == nil ? [] : Self.points {
            settings.crashPoint = point
            await note(try await Self.run(settings, for: .seconds(60)), point)
        }
        print("\(media.rawValue): \(killed) kills, \(before) bytes sent again, at most \(most) by one")
        #expect(killed >= 1)
    }

    /// Plays the stream stored in `directory` with each player; the origin is gone.
    private func play(
        _ media: StreamMedia, _ origin: TestOrigin, _ pages: TestOrigin, directory: String
    ) async throws {
        let client = NIOOrigin.patient()
        let cache = try await MediaCache.open(directory: directory, origin: client)
        var configuration = ProxyConfiguration()
        configuration.logger.logLevel = .critical
        configuration.allowedPages = ["http://127.0.0.1:\(pages.port)"]
        let server = try await ProxyServer.start(cache, configuration: configuration)
        let target = "/http/127.0.0.1:\(origin.port)/show/\(media.index)"
        let result: Result<Void, any Error>
        do {
            let list = try await RawClient.exchange(port: server.port, target).body
            try expectStoredTracksOnly(String(decoding: list, as: UTF8.self), media)
            for player in StreamPlayer.allCases where StreamPlayer.isWanted(player) {
                guard player.path != nil else {
                    print("skipped: \(player) is not installed")
                    continue
                }
                guard !media.isDASH || player.playsDASH else { continue }
                try await player.play(server.address + target, pages: pages)
                print("\(media.rawValue): \(player) plays it to the end without the origin")
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await server.stop()
        await cache.close()
        await client.shutdown()
        try result.get()
    }

    /// Of the variants the one that was downloaded, and what belongs to it.
    private func expectStoredTracksOnly(_ list: String, _ media: StreamMedia) throws {
        guard media == .variants else { return #expect(list.contains("<MPD")) }
        // The sound is listed as a variant, too.
        #expect(list.matches(of: /#EXT-X-STREAM-INF.*RESOLUTION/).count == 1, "\(list)")
        #expect(list.contains("RESOLUTION=160x90"), "\(list)")
        #expect(list.matches(of: /TYPE=AUDIO/).count == 1, "\(list)")
        #expect(list.matches(of: /TYPE=SUBTITLES/).count == 1, "\(list)")
    }
}
