import ByteRanges
import Foundation
import HTTPSemantics
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Processes that are killed while they read, fetch and evict: each following one opens the cache and serves no wrong
/// byte.
///
/// `REPRISE_KILLS` sets how many are killed at random moments; 160 by default, besides those at named points.
@Suite(.serialized, .limit(minutes: 90)) struct CrashTests {
    /// The settings read by `CrashChild`.
    private struct Settings: Encodable {
        var directory: String
        var url: String
        var lengths: [Int64]
        var seed: UInt64 = 0
        var limit: Int64 = 9_000_000
        var recordMilliseconds: Int64 = 20
        var readers = 4
        var key: String?
        var resets = false
        var crashPoint: String?
        var passage = 1
        var pinned = 1
        var stream: String?
        var isFinal = false
    }

    private static let lengths: [Int64] = [30_000_000, 900_000, 3_000_000, 150_000, 2_000_000, 65_536, 1_200_000]
    private static let key = String(repeating: "c3", count: 32)
    private static var kills: Int { ProcessInfo.processInfo.environment["REPRISE_KILLS"].flatMap { Int($0) } ?? 160 }

    private static var program: String {
        get throws {
            let bundles = Bundle.allBundles.map(\.bundlePath).filter { $0.hasSuffix(".xctest") }
            let candidates = (bundles + CommandLine.arguments).map {
                URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("CrashChild").path
            }
            return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0) })
        }
    }

    /// Longest time for a process that ends by itself, on a busy machine.
    private static let longest = Duration.seconds(240)

    private static func run(_ settings: Settings, for limit: Duration) async throws -> ChildProcess.Outcome {
        let json = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        return try await ChildProcess.run(try program, [json], limit: limit)
    }

    private static func withOrigin(
        paced rate: Int? = nil, _ body: (TestOrigin, inout Settings) async throws -> Void
    ) async throws {
        let origin = try await TestOrigin.start()
        let directory = try TemporaryDirectory()
        for (index, length) in lengths.enumerated() {
            origin.set(
                TestOrigin.Resource(
                    .pattern(seed: UInt64(index), length: length), mediaType: "video/mp4",
                    personality: TestOrigin.Personality { $0.bytesPerSecond = rate }), at: "/\(index)")
        }
        var settings = Settings(directory: directory.path, url: origin.url("/"), lengths: lengths)
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin, &settings)) } catch { result = .failure(error) }
        await origin.stop()
        directory.remove()
        try result.get()
    }

    /// Killed by itself or by the clock: anything else is a wrong byte, a cache that does not open, or a crash.
    private static func expectKilled(_ outcome: ChildProcess.Outcome, _ what: String) {
        #expect(
            outcome.exit == .overTime || outcome.exit == .signal(SIGKILL),
            "\(what): \(outcome) \(outcome.output.suffix(300))")
    }

    /// Everything still plays completely and correctly, and the directory keeps its limit.
    private static func expectSound(_ settings: Settings) async throws {
        var settings = settings
        settings.crashPoint = nil
        settings.isFinal = true
        let outcome = try await run(settings, for: Self.longest)
        #expect(outcome.exit == .status(0), "\(outcome) \(outcome.output.suffix(300))")
        #expect(DiskUse.bytes(under: settings.directory) <= settings.limit + (1 << 20))
    }

    @Test(arguments: [false, true]) func killedAtRandomMoments(isSealed: Bool) async throws {
        try await Self.withOrigin { origin, settings in
            settings.key = isSealed ? Self.key : nil
            var random = SeededGenerator(seed: isSealed ? 2 : 1)
            var opened = 0
            var opening = Duration.zero
            for number in 0..<Self.kills / 2 {
                settings.seed = random.next()
                // How long an opening takes depends on what else the machine does: it is measured now and then.
                if number.isMultiple(of: 16) { opening = try await Self.timeToOpen(settings) }
                let limit = opening / 2 + .milliseconds(Int64.random(in: 10...220, using: &random))
                let outcome = try await Self.run(settings, for: limit)
                Self.expectKilled(outcome, "kill \(number)")
                opened += outcome.output.hasPrefix("READY") ? 1 : 0
                let used = DiskUse.bytes(under: settings.directory)
                #expect(
                    used <= settings.limit + (1 << 20),
                    "kill \(number): \(used) bytes\n\(DiskUse.list(settings.directory))")
            }
            #expect(opened > Self.kills / 8, "most were killed before the cache was open")
            try await Self.expectSound(settings)
        }
    }

    /// How long a process runs that kills itself as soon as the cache is open.
    private static func timeToOpen(_ settings: Settings) async throws -> Duration {
        var settings = settings
        settings.crashPoint = CrashPoint.opened.rawValue
        let start = ContinuousClock.now
        Self.expectKilled(try await run(settings, for: .seconds(60)), "opening")
        return .now - start
    }

    @Test(arguments: [false, true]) func killedAtEachNamedPoint(isSealed: Bool) async throws {
        try await Self.withOrigin { origin, settings in
            settings.key = isSealed ? Self.key : nil
            var random = SeededGenerator(seed: 3)
            var reached: Set<String> = []
            for point in CrashPoint.allCases where !Self.isApart(point) {
                for passage in [1, 2, 9] {
                    settings.seed = random.next()
                    settings.crashPoint = point.rawValue
                    // Extents are evicted when one medium needs more room than there is.
                    settings.readers = point.rawValue.hasPrefix("extent") ? 1 : 4
                    settings.lengths = settings.readers == 1 ? [Self.lengths[0]] : Self.lengths
                    settings.pinned = settings.readers == 1 ? 0 : 1
                    settings.passage = passage
                    if point == .settingAside {
                        guard passage < 3 else { continue }
                        // SQLite could repair the file from a log that contains all of it.
                        for suffix in ["-wal", "-shm"] {
                            try? FileManager.default.removeItem(
                                atPath: settings.directory + "/catalogue.sqlite" + suffix)
                        }
                        try Data("damaged".utf8).write(
                            to: URL(fileURLWithPath: settings.directory + "/catalogue.sqlite"))
                    }
                    // The first passage comes sooner or later, however slow the machine is; a later one need not.
                    let limit = Duration.milliseconds(settings.readers == 1 ? 5_000 : 700)
                    let outcome = try await Self.run(settings, for: passage == 1 ? Self.longest : limit)
                    Self.expectKilled(outcome, "\(point) passage \(passage)")
                    if outcome.exit == .signal(SIGKILL) { reached.insert(point.rawValue) }
                }
            }
            settings.lengths = Self.lengths
            settings.pinned = 1
            let all = Set(CrashPoint.allCases.filter { !Self.isApart($0) }.map(\.rawValue))
            #expect(reached == all, "never reached: \(all.subtracting(reached))")
            try await Self.expectSound(settings)
        }
    }

    /// Points that a process which only plays does not come to.
    private static func isApart(_ point: CrashPoint) -> Bool { [.closing, .resetting, .migrating].contains(point) }

    @Test("killed while a directory of an unreleased format is set aside: all of it is kept", arguments: 1...6)
    func killedWhileSettingUnreleasedAside(passage: Int) async throws {
        let fixture = try FormatFixture(isSealed: false)
        defer { fixture.remove() }
        try fixture.makeUnreleased(9)
        for name in ["index.suspect", "index.resetting", "catalogue.sqlite-wal", "catalogue.sqlite-shm"] {
            try Data().write(to: URL(fileURLWithPath: "\(fixture.path)/\(name)"))
        }
        let names = try Set(FileManager.default.contentsOfDirectory(atPath: fixture.path))
        var settings = Settings(directory: fixture.path, url: "http://127.0.0.1:9/", lengths: [])
        settings.crashPoint = CrashPoint.settingAside.rawValue
        settings.passage = passage
        let outcome = try await Self.run(settings, for: Self.longest)
        #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
        let origin = ScriptedOrigin { _, _ in .init(404) }
        let cache = try await MediaCache.open(directory: fixture.path, origin: origin)
        #expect((cache.resetReason == nil) == (passage == 6))
        #expect(try await cache.entries().isEmpty)
        await cache.close()
        let folder = fixture.path + "/unreleased"
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == names)
        // It is a whole cache directory.
        for name in ["index.suspect", "index.resetting"] {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        try FormatFixture.setFormat(1, application: 0x5265_0001, in: folder)
        try await fixture.expectEverything(in: folder)
    }

    @Test("killed while it empties a cache for another key: all is there, or nothing", arguments: [1, 2, 3, 4])
    func killedWhileResetting(passage: Int) async throws {
        try await Self.withOrigin { origin, settings in
            let made = try #require(KeyFile.key(hexadecimal: Self.key).map { CacheEncryption(key: $0) })
            settings.key = Self.key
            // Killed, so that the last records are in the log only.
            settings.crashPoint = CrashPoint.recorded.rawValue
            settings.passage = 4
            Self.expectKilled(try await Self.run(settings, for: .seconds(60)), "making")
            let directory = settings.directory
            func entries() throws -> Set<CacheKey> {
                Set(try CacheInspector(directory: directory, encryption: made).entries().map(\.key))
            }
            let before = try entries()
            #expect(!before.isEmpty)
            settings.key = String(repeating: "5a", count: 32)
            settings.resets = true
            settings.crashPoint = CrashPoint.resetting.rawValue
            settings.passage = passage
            let outcome = try await Self.run(settings, for: Self.longest)
            #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            let after = try entries()
            #expect(after.isEmpty || after == before)
            // With the log still there the database is the old one.
            settings.resets = !after.isEmpty
            try await Self.expectSound(settings)
        }
    }

    @Test("killed before the index of another key has its tables: any key opens it, and hears what happened")
    func killedBeforeTheNewIndexHasTables() async throws {
        try await Self.withOrigin { origin, settings in
            let made = try #require(KeyFile.key(hexadecimal: Self.key).map { CacheEncryption(key: $0) })
            let other = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
            settings.key = Self.key
            settings.crashPoint = CrashPoint.recorded.rawValue
            settings.passage = 4
            Self.expectKilled(try await Self.run(settings, for: .seconds(60)), "making")
            settings.key = String(repeating: "5a", count: 32)
            settings.resets = true
            settings.crashPoint = CrashPoint.migrating.rawValue
            settings.passage = 1
            let outcome = try await Self.run(settings, for: Self.longest)
            #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            for encryption in [made, CacheEncryption(key: other), nil] {
                let copy = try TemporaryDirectory()
                defer { copy.remove() }
                let path = copy.path + "/cache"
                try FileManager.default.copyItem(atPath: settings.directory, toPath: path)
                #expect(try CacheInspector(directory: path, encryption: encryption).entries().isEmpty)
                var configuration = MediaCache.Configuration()
                configuration.encryption = encryption
                let origin = ScriptedOrigin { _, _ in .init(404) }
                for isFirst in [true, false] {
                    let cache = try await MediaCache.open(
                        directory: path, origin: origin, configuration: configuration)
                    let reason = cache.resetReason
                    #expect((reason?.contains("being emptied for another key") == true) == isFirst, "\(reason ?? "")")
                    await cache.close()
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: path)
                let marks = ["index.resetting", "index.suspect"]
                #expect(!names.contains { $0.hasPrefix("catalogue.damaged") || marks.contains($0) }, "\(names)")
            }
        }
    }

    @Test func killedWhileClosing() async throws {
        try await Self.withOrigin { origin, settings in
            settings.crashPoint = CrashPoint.closing.rawValue
            settings.isFinal = true
            let outcome = try await Self.run(settings, for: .seconds(60))
            #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
            try await Self.expectSound(settings)
        }
    }

    /// A download at 4 MB/s, killed repeatedly; bytes that a kill costs are sent by the next process.
    ///
    /// With records every 200 ms that is at most 1 MiB, with the default of a second the bytes of a second; plus bytes
    /// in the socket, which were sent and never read.
    @Test(arguments: [(200, 1 << 20), (1000, 4_000_000)])
    func aKilledDownloadFetchesLittleAgain(recordMilliseconds: Int64, most: Int64) async throws {
        try await Self.withOrigin(paced: 4_000_000) { origin, settings in
            settings.limit = 100_000_000
            settings.recordMilliseconds = recordMilliseconds
            settings.pinned = 0
            settings.isFinal = true
            settings.lengths = [Self.lengths[0]]
            var random = SeededGenerator(seed: 4)
            var killed = 0
            var before: Int64 = 0
            func expectLittle(_ number: Int) async {
                let again = await origin.settledSnapshot()["/0"].bytesSentMoreThanOnce
                #expect(again - before <= most + (512 << 10), "kill \(number)")
                before = again
            }
            for number in 0..<5 {
                let limit = Duration.milliseconds(recordMilliseconds + Int64.random(in: 150...700, using: &random))
                if try await Self.run(settings, for: limit).exit == .overTime { killed += 1 }
                await expectLittle(number - 1)
            }
            try await Self.expectSound(settings)
            await expectLittle(4)
            #expect(killed >= 3)
        }
    }

    @Test("a stream's download that is killed twenty times ends whole, and needs no origin after that")
    func killedStream() async throws {
        try await Self.withOrigin(paced: 4_000_000) { origin, settings in
            let segments = Array(1..<Self.lengths.count)
            settings.limit = 20_000_000
            let list = """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-KEY:METHOD=AES-128,URI="/key"
                \(segments.map { "#EXTINF:4,\n/\($0)" }.joined(separator: "\n"))
                #EXT-X-ENDLIST

                """
            origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"), at: "/list")
            origin.set(
                TestOrigin.Resource(
                    .bytes(Array(repeating: 1, count: 16)), mediaType: "application/octet-stream",
                    fields: [.cacheControl: "no-store"]), at: "/key")
            (settings.pinned, settings.stream) = (0, origin.url("/list"))
            let points: [CrashPoint] = [.written, .published, .recording, .recorded]
            var random = SeededGenerator(seed: 14)
            var killed = 0
            for number in 0..<20 {
                let point = points.randomElement(using: &random) ?? .recorded
                (settings.crashPoint, settings.passage) = (point.rawValue, Int.random(in: 1...3, using: &random))
                let outcome = try await Self.run(settings, for: .seconds(60))
                // Stored as a whole it passes fewer of them.
                guard outcome.exit != .status(0) else { continue }
                Self.expectKilled(outcome, "kill \(number) at \(point)")
                killed += 1
            }
            #expect(killed >= 5)
            settings.crashPoint = nil
            #expect(try await Self.run(settings, for: .seconds(60)).exit == .status(0))
            let inspector = try CacheInspector(directory: settings.directory)
            let entries = try inspector.entries()
            #expect(Set(entries.map(\.url.target)) == Set(["/list", "/key"] + segments.map { "/\($0)" }))
            #expect(entries.allSatisfy { $0.isComplete && $0.retention == .download })
            await origin.stop()
            #expect(try await Self.run(settings, for: .seconds(60)).exit == .status(0), "all is stored")
        }
    }
}
