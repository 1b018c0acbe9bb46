import Foundation
import Logging
import Reprise
import RepriseHTTPClient
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Downloads of streams whose process is killed again and again: they end whole, fetch nothing twice that was recorded,
/// and play to the end without the origin, from lists that name only stored tracks.
///
/// A kill costs the bytes that were sent since the last record, which is at most a second old, and chunks that were not
/// whole. `REPRISE_STREAM_KILLS` sets how many commands are killed, 20 by default. `REPRISE_STREAM_PLAYERS` names the
/// players, as for ``StreamPlayerTests``.
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
        var recordMilliseconds: Int64 = 20
        var readers = 0
        var pinned = 0
        var resets = false
        var isFinal = false
    }

    private static let kills = ProcessInfo.processInfo.environment["REPRISE_STREAM_KILLS"].flatMap { Int($0) } ?? 20
    /// Points that a process passes which downloads and never evicts.
    private static let points = ["opened", "reserved", "written", "published", "recording", "recorded"]
    /// Seconds of the title.
    private static let seconds = 20

    /// Starts a program that was built with the tests.
    private static func start(_ name: String, _ arguments: [String]) throws -> ChildProcess {
        let bundles = Bundle.allBundles.map(\.bundlePath).filter { $0.hasSuffix(".xctest") }
        let candidates = (bundles + CommandLine.arguments).map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent(name).path
        }
        let program = try #require(
            candidates.first { FileManager.default.isExecutableFile(atPath: $0) }, "no \(name) in \(candidates)")
        let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("REPRISE_") }
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        return try ChildProcess(program, arguments, environment: environment, limit: .seconds(120))
    }

    @Test(
        "killed again and again, it ends whole and plays without the origin",
        arguments: [StreamMedia.variants, .dashTemplate])
    func killed(media: StreamMedia) async throws {
        let files = try await media.make(seconds: Self.seconds)
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
                TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\""),
                at: "/show/\(name)")
        }
        let stream = origin.url("/show/\(media.index)")
        let command = {
            try Self.start(
                "reprise",
                ["download", "--audio", "all", "--subtitles", "all", "--cache-dir", directory, stream])
        }
        var processes = KilledProcesses(
            origin: origin, directory: directory, stream: stream, lengths: Self.lengths(of: files, media))
        try await kill(&processes, command, media)
        try await processes.end(command)
        let sent = await origin.settledSnapshot()
        await origin.stop()
        #expect(try await command().outcome().exit == .status(0), "nothing more is needed")
        let wanted = Set(try CacheInspector(directory: directory).entries().filter(\.isComplete).map(\.url.target))
        #expect(Set(sent.requests.filter { $0.status == 200 || $0.status == 206 }.map(\.path)) == wanted)
        try await play(media, origin, pages, directory: directory)
    }

    /// The segments that the download takes: the first of three variants and the sound, or both tracks.
    private static func lengths(of files: [String: [UInt8]], _ media: StreamMedia) -> [String: Int64] {
        let segments = files.filter { name, _ in
            media.isDASH ? name.hasSuffix(".m4s") : name.wholeMatch(of: /v[03]_\d+\.ts/) != nil
        }
        return Dictionary(uniqueKeysWithValues: segments.map { ("/show/\($0.key)", Int64($0.value.count)) })
    }

    /// Kills a process at each point, and the command at places that are spread over the download by chance.
    private func kill(
        _ processes: inout KilledProcesses, _ command: () throws -> ChildProcess, _ media: StreamMedia
    ) async throws {
        let start = ContinuousClock.now
        let all = try processes.missing()
        var settings = Settings(directory: processes.directory, stream: processes.stream)
        for point in Self.points {
            settings.crashPoint = point
            let json = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
            try await processes.killItself({ try Self.start("CrashChild", [json]) }, after: all / 25, point)
        }
        var random = SeededGenerator(seed: 14)
        for number in 0..<Self.kills {
            // What two such places take on average leaves room for the places after them.
            let share = try processes.missing() / Int64(Self.kills - number + 1)
            let count = Int64.random(in: 1...max(1, share), using: &random)
            try await processes.kill(
                command, after: count, isRecorded: number.isMultiple(of: 2), "kill \(number) after \(count) bytes")
        }
        let left = try processes.missing()
        // How many differs: every second kill may cost all that its process was sent.
        #expect(left > 0 && left < all, "the places lie in the download: \(left) of \(all) bytes are left")
        let time = (ContinuousClock.now - start) / .seconds(1)
        print(
            "\(media.rawValue): \(processes.kills) kills in \(time.formatted(.number.precision(.fractionLength(1)))) s,"
                + " \(processes.lost) of \(all) bytes lost by them, at most \(processes.mostLost) by one")
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
