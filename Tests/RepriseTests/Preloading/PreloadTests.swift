import ByteRanges
import HTTPTypes
import Primitives
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

    @Test("what was removed is fetched again when the same list is set")
    func removed() async throws {
        try await Bench.run { bench async throws in
            Self.publish("/song", bench)
            let song = try bench.cache.resource(for: bench.origin.url("/song"))
            for _ in 0..<2 {
                bench.cache.preload([song]) { _ in .bytes(1_000) }
                await Self.settled(bench.cache)
                let progress = await song.storedProgress()
                #expect(progress.ranges.contains(0..<1_000))
                try await bench.cache.removeAll()
            }
        }
    }

    @Test("what was evicted is fetched again when the same list is set after half a minute")
    func evicted() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            Self.publish("/song", bench)
            let song = try bench.cache.resource(for: bench.origin.url("/song"))
            bench.cache.preload([song]) { _ in .bytes(1_000) }
            await Self.settled(bench.cache)
            await bench.cache.becomeIdle()
            await bench.cache.prune(toSize: 0)
            clock.shift(by: .seconds(30))
            bench.cache.preload([song]) { _ in .bytes(1_000) }
            await Self.settled(bench.cache)
            let progress = await song.storedProgress()
            #expect(progress.ranges.contains(0..<1_000))
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

    // MARK: - Origins that ignore ranges

    /// Frames of 417 bytes, 38 in a second (MPEG-1 Layer III, 128 kbit/s, 44.1 kHz).
    private static let song = [UInt8](
        repeatElement([0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 413), count: 10_000).joined())

    /// A Matroska file of 4 MB, a cluster of 10 kB each second, whose cues stand at its end (RFC 9559 §5.1).
    private static let film: [UInt8] = {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func element(_ id: [UInt8], _ content: [UInt8]...) -> [UInt8] {
            let content = content.flatMap { $0 }
            return id + number(1 << 56 | content.count, 8) + content
        }
        let tracks = element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], element([0xD7], [1]), element([0x83], [1])))
        let clusters = (0..<400).flatMap { second in
            let block = element([0xA3], [0x81, 0, 0, 0], [UInt8](repeating: 7, count: 10_000))
            return element([0x1F, 0x43, 0xB6, 0x75], element([0xE7], number(second * 1000, 4)), block)
        }
        func seek(_ position: Int) -> [UInt8] {
            let id = element([0x53, 0xAB], [0x1C, 0x53, 0xBB, 0x6B])
            let place = element([0x53, 0xAC], number(position, 8))
            return element([0x11, 0x4D, 0x9B, 0x74], element([0x4D, 0xBB], id, place))
        }
        let head = seek(seek(0).count + tracks.count + clusters.count) + tracks
        let cues = element([0x1C, 0x53, 0xBB, 0x6B], element([0xBB], element([0xB3], [0])))
        return element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array("webm".utf8)))
            + element([0x18, 0x53, 0x80, 0x67], head, clusters, cues)
    }()

    private static func publish(
        _ content: [UInt8], _ bench: Bench, etag: String? = "\"1\"", ignoringRanges: Bool = true
    ) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(content), mediaType: "application/octet-stream", etag: etag,
                personality: .init { $0.ignoresRange = ignoringRanges }), at: "/file")
    }

    /// No response outlives its last reader.
    private static func withoutLinger(_ configuration: inout MediaCache.Configuration) { configuration.linger = .zero }

    @Test(
        "one response brings the beginning, and no more than that, where the origin ignores ranges (RFC 9110 §14.2)",
        arguments: [song, film], [nil, "\"1\""])
    func withoutRanges(content: [UInt8], etag: String?) async throws {
        try await Bench.run(sendBufferSize: 64 << 10, configure: Self.withoutLinger) { bench async throws in
            Self.publish(content, bench, etag: etag)
            let file = try bench.cache.resource(for: bench.origin.url("/file"))
            try await file.preload(.seconds(30))
            let needed: Int64 = content == Self.song ? 480_000 : 300_000
            let stored = await file.storedProgress().ranges
            #expect(stored.contains(0..<needed) && stored.byteCount < 2_000_000, "\(stored)")
            #expect(bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test("an origin that ignores ranges from now on is asked at most once for what can be left out")
    func rangesNoMore() async throws {
        for content in [Self.song, Self.film] {
            try await Bench.run(sendBufferSize: 64 << 10, configure: Self.withoutLinger) { bench async throws in
                Self.publish(content, bench, ignoringRanges: false)
                let file = try bench.cache.resource(for: bench.origin.url("/file"))
                try await file.preload(.bytes(64 << 10))
                Self.publish(content, bench)
                bench.origin.resetCounters()
                try await file.preload(.seconds(30))
                let needed: Int64 = content == Self.song ? 480_000 : 300_000
                let stored = await file.storedProgress().ranges
                #expect(stored.contains(0..<needed) && stored.byteCount < 2_000_000, "\(stored)")
                // One of them once more, without If-Range.
                #expect(bench.origin.snapshot.requestCount <= 3)
            }
        }
    }

    @Test("what is needed from the end of a file is waited for in one response")
    func neededFromTheEnd() async throws {
        try await Bench.run(configure: Self.withoutLinger) { bench async throws in
            func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
                (0..<4).reversed().map { UInt8(truncatingIfNeeded: (content.count + 8) >> (8 * $0)) } + Array(type.utf8)
                    + content
            }
            let content =
                box("ftyp", Array("isom".utf8) + [0, 0, 2, 0]) + box("mdat", [UInt8](repeating: 0, count: 3 << 20))
                + box("moov", [UInt8](repeating: 0, count: 5_000))
            Self.publish(content, bench)
            let file = try bench.cache.resource(for: bench.origin.url("/file"))
            try await file.preload(.seconds(3))
            let stored = await file.storedProgress().ranges
            #expect(stored == ByteRangeSet(0..<Int64(content.count)))
            #expect(bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test("the end of a file belongs to its beginning where ranges work")
    func withRanges() async throws {
        for content in [Self.song, Self.film] {
            try await Bench.run { bench async throws in
                Self.publish(content, bench, ignoringRanges: false)
                let file = try bench.cache.resource(for: bench.origin.url("/file"))
                try await file.preload(.seconds(30))
                let (stored, length) = (await file.storedProgress().ranges, Int64(content.count))
                #expect(stored.contains(length - 20..<length) && stored.byteCount < 1_000_000, "\(stored)")
            }
        }
    }

    @Test("all counts that the origin sends, also what no reader takes", arguments: [false, true])
    func countsFetched(ignoringRanges: Bool) async throws {
        try await Bench.run(sendBufferSize: 64 << 10) { bench async throws in
            Self.publish(Self.song, bench, ignoringRanges: ignoringRanges)
            let song = try bench.cache.resource(for: bench.origin.url("/file"))
            let count = Mutex<Int64>(0)
            // The first window is longer than what a second needs.
            try await song.preload(.seconds(1)) { piece in count.withLock { $0 += Int64(piece) } }
            let counted = count.withLock { $0 }
            let stored = await song.storedProgress().ranges.byteCount
            #expect(counted == bench.cache.statistics.bytesFetched && counted == stored)
            #expect(ignoringRanges || counted == (64 << 10) + 160)
        }
    }
}
