import ByteRanges
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Lists of what may be played soon, and seconds of files.
@Suite(.limit(minutes: 2)) struct PreloadTests {
    /// A WAVE file of a minute: 8,000 bytes per second behind a header of 44.
    private static func wave(seconds: Int = 60) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        let length = seconds * 8_000
        return Array("RIFF".utf8) + number(length + 36, 4) + Array("WAVEfmt ".utf8) + number(16, 4) + number(1, 2)
            + number(1, 2) + number(8_000, 4) + number(8_000, 4) + number(1, 2) + number(8, 2)
            + Array("data".utf8) + number(length, 4) + TestPattern.bytes(in: 0..<Int64(length), seed: 3)
    }

    private static func publish(_ path: String, _ bench: Bench, _ personality: TestOrigin.Personality = .init()) {
        bench.origin.set(
            TestOrigin.Resource(.bytes(wave()), mediaType: "audio/wav", personality: personality), at: path)
    }

    private static func states(_ cache: MediaCache) -> [String] {
        cache.preloads.list.map { preload in
            switch preload.state {
            case .queued: "queued"
            case .running: "running"
            case .done: "done"
            case .failed(let error): "\(error.code)"
            }
        }
    }

    private static func settled(_ cache: MediaCache) async {
        for await list in cache.preloads.updates(every: .zero) {
            let isOver = list.allSatisfy { preload in
                switch preload.state {
                case .done, .failed: true
                case .queued, .running: false
                }
            }
            if isOver { return }
        }
    }

    @Test("seconds become bytes, and a second time asks the origin nothing", arguments: [1.0, 10.0, 59.9, 1e300])
    func seconds(_ seconds: Double) async throws {
        try await Bench.run { bench async throws in
            Self.publish("/song", bench)
            let song = try bench.cache.resource(for: bench.origin.url("/song"))
            try await song.preload(.seconds(seconds))
            let stored = await song.storedProgress().ranges
            let wanted = min(44 + Int64(min(seconds, 60) * 8_000), 480_044)
            #expect(stored.contains(0..<wanted))
            #expect(stored.byteCount <= max(wanted, 64 << 10) + 4096)
            let requests = bench.origin.snapshot.requestCount
            try await song.preload(.seconds(seconds))
            #expect(bench.origin.snapshot.requestCount == requests)
        }
    }

    @Test(arguments: [PreloadAmount.seconds(0), .seconds(-1), .seconds(.nan), .segments(0), .bytes(-1)])
    func nothingIsAskedForNothing(_ amount: PreloadAmount) async throws {
        try await Bench.run { bench async throws in
            try await bench.cache.resource(for: bench.origin.url("/song")).preload(amount)
            #expect(bench.origin.snapshot.requestCount == 0)
        }
    }

    @Test func aSegmentOfAFileIsSixSeconds() async throws {
        try await Bench.run { bench async throws in
            Self.publish("/song", bench)
            let song = try bench.cache.resource(for: bench.origin.url("/song"))
            try await song.preload(.segments(4))
            let stored = await song.storedProgress().ranges
            #expect(stored.contains(0..<44 + 24 * 8_000) && stored.byteCount < 210_000)
        }
    }

    @Test func anUnknownFormatIsAnEstimateThatIsTold() async throws {
        try await Bench.run { bench async throws in
            bench.origin.set(
                TestOrigin.Resource(.bytes(Array(repeating: 65, count: 4 << 20)), mediaType: "video/mp4"), at: "/film")
            let log = EventLog(bench.cache)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            try await film.preload(.seconds(5))
            #expect(await film.storedProgress().ranges == ByteRangeSet(0..<1 << 20))
            let event = await log.first { if case .preloadEstimated = $0 { true } else { false } }
            guard case .preloadEstimated(film.key, let reason)? = event else {
                return #expect(Bool(false), "\(String(describing: event))")
            }
            #expect(reason.contains("unknown"))
        }
    }

    @Test("what must not be stored is not transferred as a whole")
    func notStored() async throws {
        try await Bench.run { bench async throws in
            Self.publish("/song", bench, .init { $0.fields[.cacheControl] = "no-store" })
            let error = await #expect(throws: RepriseError.self) {
                try await bench.cache.resource(for: bench.origin.url("/song")).preload(.seconds(10))
            }
            #expect(error?.code == .notStored)
        }
        try await Bench.run(isStoring: false) { bench async throws in
            Self.publish("/song", bench)
            let error = await #expect(throws: RepriseError.self) {
                try await bench.cache.resource(for: bench.origin.url("/song")).preload(.seconds(10))
            }
            #expect(error?.code == .storageUnavailable)
            #expect(bench.origin.snapshot.requestCount == 0)
        }
    }

    @Test("a file that changes between two windows is told, not mixed")
    func changed() async throws {
        try await Bench.run { bench async throws in
            // Its first window names a table far behind, where the file is another one by then.
            let box: [UInt8] = [0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("isomiso2".utf8)
            let media: [UInt8] = [0, 7, 0xA1, 0x20] + Array("mdat".utf8)
            let content = box + media + [UInt8](repeating: 0, count: 600_000)
            bench.origin.set(
                TestOrigin.Resource(.bytes(content), mediaType: "video/mp4", etag: "\"1\""), at: "/film")
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            _ = try await bench.bytes("/film", .bounded(0..<64 << 10))
            bench.origin.set(
                TestOrigin.Resource(.bytes(content.reversed()), mediaType: "video/mp4", etag: "\"2\""), at: "/film")
            let error = await #expect(throws: RepriseError.self) { try await film.preload(.seconds(5)) }
            #expect(error?.code == .validatorChanged)
        }
    }

    @Test("a list: amounts by distance, the current one is left alone, and a new list ends what fell out")
    func list() async throws {
        try await Bench.run { bench async throws in
            let paths = (0..<5).map { "/\($0)" }
            for path in paths { Self.publish(path, bench) }
            let songs = try paths.map { try bench.cache.resource(for: bench.origin.url($0)) }
            bench.cache.preload(songs, current: 1) { $0 == 1 ? .seconds(20) : $0 == -1 ? .bytes(10) : nil }
            await Self.settled(bench.cache)
            #expect(bench.cache.preloads.list.map(\.key) == [songs[2].key, songs[0].key])
            #expect(await songs[2].storedProgress().ranges.contains(0..<160_044))
            #expect(await songs[0].storedProgress().ranges == ByteRangeSet(0..<10))
            #expect(bench.origin.snapshot["/1"].requestCount == 0)

            bench.origin.holdHeads("/4")
            bench.cache.preload([songs[4]])
            await bench.origin.waitUntil { $0["/4"].requestCount >= 1 }
            #expect(Self.states(bench.cache) == ["running"])
            bench.cache.preload([songs[3]])
            await Self.settled(bench.cache)
            #expect(Self.states(bench.cache) == ["done"])
            #expect(await songs[4].storedProgress().ranges.isEmpty)
            bench.cache.preload([])
            #expect(bench.cache.preloads.list.isEmpty)
        }
    }

    @Test func byDefaultTheNearestGetTheMost() async throws {
        try await Bench.run { bench async throws in
            let songs = try (0..<9).map { try bench.cache.resource(for: bench.origin.url("/\($0)")) }
            bench.cache.preload(songs, current: 2)
            let list = bench.cache.preloads.list
            #expect(list.map(\.key) == songs[3...7].map(\.key))
            #expect(list.map(\.amount) == [.seconds(10), .seconds(5), .seconds(3), .seconds(3), .seconds(3)])
            bench.cache.preload(songs, current: .max)
            #expect(bench.cache.preloads.list.isEmpty)
        }
    }

    @Test("a preload that is asked for once more asks the origin, whatever it refused a moment ago")
    func mendedOrigin() async throws {
        try await Bench.run { bench async throws in
            Self.publish("/a", bench, .init { $0.status = 404 })
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            await #expect(throws: RepriseError.self) { try await resource.preload(.bytes(1_000)) }
            Self.publish("/a", bench)
            try await resource.preload(.bytes(1_000))
            let progress = await resource.storedProgress()
            #expect(progress.ranges.contains(0..<1_000))
        }
    }

    @Test func aFailureIsToldAndTheOthersGoOn() async throws {
        try await Bench.run { bench async throws in
            Self.publish("/2", bench)
            let songs = try ["/1", "/2"].map { try bench.cache.resource(for: bench.origin.url($0)) }
            bench.cache.preload(songs)
            await Self.settled(bench.cache)
            #expect(Self.states(bench.cache) == ["originRefused", "done"])
        }
    }

    @Test("closing the cache ends what runs, and keeps the bytes")
    func closing() async throws {
        try await Bench.run { bench async throws in
            Self.publish("/song", bench)
            bench.origin.hold("/song", at: 100_000)
            let song = try bench.cache.resource(for: bench.origin.url("/song"))
            bench.cache.preload([song]) { _ in .all }
            await eventually { await song.storedProgress().ranges.byteCount >= 100_000 }
            await bench.cache.close()
            try await bench.reopened { cache async throws in
                let song = try cache.resource(for: bench.origin.url("/song"))
                #expect(await song.storedProgress().ranges.byteCount >= 100_000)
                #expect(cache.preloads.list.isEmpty)
            }
        }
    }
}
