import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Plays of an episode whose host gives each request another file.
@Suite(.limit(minutes: 5)) struct SplicedPlayTests {
    typealias Delivery = TestOrigin.SplicedEpisode.Delivery

    private static let path = "/episode.mp3"
    private static let length: Int64 = 400_000

    /// A cache before an origin that splices.
    private struct Stage {
        let bench: Bench
        let episode: TestOrigin.SplicedEpisode
        let clock: ShiftableClock

        var requests: Int { bench.origin.snapshot[path].requestCount }

        /// Which rendition `bytes` are of; `nil` if they are of none, or of several.
        func rendition(of bytes: [UInt8], at position: Int64) -> Int? {
            (1...max(requests, 1)).first { number in
                bytes
                    == TestPattern.bytes(
                        in: position..<position + Int64(bytes.count), seed: episode.seed + UInt64(number) - 1)
            }
        }

        func rendition(of range: Range<Int64>, in cache: MediaCache? = nil) async throws -> Int? {
            let resource = try (cache ?? bench.cache).resource(for: bench.origin.url(path))
            return rendition(of: try await resource.read(.bounded(range)).collect(), at: range.lowerBound)
        }

        /// The end of the play.
        func endPlay() { clock.shift(by: ReusePolicy().playWindow + .seconds(1)) }
    }

    private static func run(
        _ delivery: Delivery, hasTags: Bool = true, isSealed: Bool = false,
        _ body: (Stage) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        var episode = TestOrigin.SplicedEpisode(delivery, seed: 21, length: length)
        episode.hasTags = hasTags
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "0c", count: 32)))
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            if isSealed { $0.encryption = CacheEncryption(key: key) }
        }) { bench async throws in
            bench.origin.splice(episode, at: path)
            try await body(Stage(bench: bench, episode: episode, clock: clock))
        }
    }

    @Test("what is not stored is passed on as the part that was requested (RFC 9110 §15.3.7)")
    func unstored() async throws {
        try await Self.run(.responses) { stage async throws in
            _ = try await stage.rendition(of: 0..<50_000)
            _ = try? await stage.rendition(of: 200_000..<201_000)
            let origin = stage.bench.origin
            origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 10_000), mediaType: "audio/mpeg", etag: "\"v1\"",
                    fields: [.cacheControl: "no-store"]), at: "/live.mp3")
            for _ in 0..<2 {
                #expect(
                    try await stage.bench.bytes("/live.mp3", .bounded(1000..<2000))
                        == TestPattern.bytes(in: 1000..<2000, seed: 1))
            }
            #expect(
                origin.snapshot["/live.mp3"].requests.map(\.range) == [
                    "bytes=0-", "bytes=1000-1999", "bytes=1000-1999",
                ])
        }
    }

    // MARK: - A change

    @Test func storedBytesOfTheOldFileGoOnUntilAnotherByteIsNeeded() async throws {
        try await Self.run(.responses) { stage async throws in
            let log = EventLog(stage.bench.cache)
            #expect(try await stage.rendition(of: 0..<50_000) == 1)
            await #expect { try await stage.rendition(of: 200_000..<201_000) } throws: {
                ($0 as? RepriseError)?.code == .validatorChanged
            }
            #expect(stage.requests == 2)
            #expect(try await stage.rendition(of: 10_000..<20_000) == 1, "stored")
            #expect(stage.requests == 2)
            #expect(try await stage.rendition(of: 40_000..<60_000) == 3, "not all of it is stored")
            #expect(try await stage.rendition(of: 10_000..<20_000) == 3, "there is no way back")
            await stage.bench.cache.close()
            let events = await log.all()
            let hosts = events.compactMap { if case .hostSplices(_, let host) = $0 { host } else { nil } }
            #expect(Set(hosts) == ["127.0.0.1:\(stage.bench.origin.port)"])
            #expect(events.count { if case .generationReplaced = $0 { true } else { false } } == 1)
        }
    }

    @Test func theOldFileEndsWithThePlay() async throws {
        try await Self.run(.responses) { stage async throws in
            _ = try await stage.rendition(of: 0..<50_000)
            _ = try? await stage.rendition(of: 200_000..<201_000)
            stage.endPlay()
            #expect(try await stage.rendition(of: 10_000..<20_000) == 3)
        }
    }

    @Test func theOldFileEndsWithTheProcess() async throws {
        try await Self.run(.responses) { stage async throws in
            _ = try await stage.rendition(of: 0..<50_000)
            _ = try? await stage.rendition(of: 200_000..<201_000)
            try await stage.bench.reopened { cache async throws in
                #expect(try await stage.rendition(of: 10_000..<20_000, in: cache) == 3)
            }
        }
    }

    @Test func aNewEditionMarksNoHost() async throws {
        try await Bench.run { bench async throws in
            let log = EventLog(bench.cache)
            bench.publish(Self.path, length: 100_000, seed: 1, type: "audio/mpeg")
            _ = try await bench.bytes(Self.path, .bounded(0..<1_000))
            bench.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 2, length: 100_500), etag: "\"v2\"", lastModified: "Thu, 02 Jan 2025 00:00:00 GMT"),
                at: Self.path)
            _ = try? await bench.bytes(Self.path, .bounded(50_000..<51_000))
            let bytes = try await bench.bytes(Self.path, .bounded(50_000..<51_000))
            #expect(bytes == TestPattern.bytes(in: 50_000..<51_000, seed: 2))
            let last = bench.origin.snapshot[Self.path].requests.last
            #expect(last?.range == "bytes=50000-50999", "nothing is fetched ahead")
            await bench.cache.close()
            #expect(await log.all().allSatisfy { if case .hostSplices = $0 { false } else { true } })
        }
    }

    // MARK: - A host that is known

    /// Plays until the host is known, and ends that play.
    private static func discover(_ stage: Stage) async throws {
        _ = try await stage.rendition(of: 0..<1_000)
        _ = try? await stage.rendition(of: 200_000..<201_000)
        _ = try await stage.bench.cache.remove(
            try stage.bench.cache.resource(for: stage.bench.origin.url(path)).key)
        await stage.bench.cache.becomeIdle()
        stage.endPlay()
    }

    @Test(arguments: [false, true])
    func theFileOfAKnownHostComesFromOneResponse(isSealed: Bool) async throws {
        try await Self.run(.responses, isSealed: isSealed) { stage async throws in
            try await Self.discover(stage)
            let before = stage.requests
            let rendition = try await stage.rendition(of: 0..<2)
            #expect(rendition == before + 1)
            // The reader has left, and the rest comes all the same.
            await stage.bench.cache.becomeIdle()
            #expect(try await stage.rendition(of: 399_000..<400_000) == rendition)
            #expect(try await stage.rendition(of: 100_000..<200_000) == rendition)
            #expect(stage.requests == before + 1)
        }
    }

    @Test(arguments: [false, true])
    func aKnownHostIsRemembered(isSealed: Bool) async throws {
        try await Self.run(.responses, isSealed: isSealed) { stage async throws in
            try await Self.discover(stage)
            let key = try #require(KeyFile.key(hexadecimal: String(repeating: "0c", count: 32)))
            try await stage.bench.reopened(configure: {
                $0.clock = stage.clock.cacheClock
                if isSealed { $0.encryption = CacheEncryption(key: key) }
            }) { cache async throws in
                let before = stage.requests
                _ = try await stage.rendition(of: 0..<2, in: cache)
                await cache.becomeIdle()
                #expect(try await stage.rendition(of: 0..<400_000, in: cache) == before + 1)
                #expect(stage.requests == before + 1)
                stage.clock.shift(by: .seconds(28 * 86_400))
                _ = try await cache.removeAll()
                _ = try await stage.rendition(of: 0..<2, in: cache)
                await cache.becomeIdle()
                await #expect(throws: RepriseError.self) {
                    try await stage.rendition(of: 300_000..<301_000, in: cache)
                }
            }
        }
    }

    @Test func anIndexDoesNotNameHostsInAnEncryptedCache() async throws {
        try await Self.run(.responses, isSealed: true) { stage async throws in
            try await Self.discover(stage)
            await stage.bench.cache.close()
            let index = try Data(contentsOf: URL(fileURLWithPath: stage.bench.directory.path(of: "catalogue.sqlite")))
            #expect(index.range(of: Data("127.0.0.1".utf8)) == nil)
            #expect(index.range(of: Data("splicingHost".utf8)) != nil)
        }
    }

    // MARK: - Plays with seeks

    /// A player that reads from random places.
    private struct Player {
        let stage: Stage
        var random: SeededGenerator
        /// Number of times that what it played was of another rendition than before.
        var jumps = 0
        private var last: Int?

        init(_ stage: Stage, seed: UInt64) {
            self.stage = stage
            random = SeededGenerator(seed: seed)
        }

        /// Plays a part from the beginning, then one after each of 20 seeks.
        mutating func play() async throws {
            try await play(from: 0)
            for _ in 0..<20 { try await play(from: Int64.random(in: 0..<length - 70_000, using: &random)) }
        }

        /// Plays a part of random length, in a request for it or for all that follows; after an error, goes on in a
        /// new request.
        private mutating func play(from start: Int64) async throws {
            let end = start + Int64.random(in: 1_000..<60_000, using: &random)
            let isOpen = Bool.random(using: &random)
            let resource = try stage.bench.cache.resource(for: stage.bench.origin.url(path))
            var position = start
            for _ in 0..<10 where position < end {
                var bytes: [UInt8] = []
                do {
                    let read = try await resource.read(isOpen ? .from(position) : .bounded(position..<end))
                    while position + Int64(bytes.count) < end, let more = try await read.nextBytes() { bytes += more }
                    read.cancel()
                } catch let error as RepriseError where error.code == .validatorChanged {}
                hear(bytes, at: position)
                position += Int64(bytes.count)
            }
            #expect(position >= end, "a change costs one more request")
        }

        private mutating func hear(_ bytes: [UInt8], at position: Int64) {
            guard !bytes.isEmpty else { return }
            let rendition = stage.rendition(of: bytes, at: position)
            #expect(rendition != nil, "bytes of two renditions in \(position)+\(bytes.count)")
            if let last, last != rendition { jumps += 1 }
            last = rendition ?? last
        }
    }

    @Test(arguments: Delivery.allCases, [false, true])
    func aPlayWithTwentySeeksJumpsOnceAtMost(delivery: Delivery, isSealed: Bool) async throws {
        for seed in UInt64(1)...3 {
            try await Self.run(delivery, hasTags: seed != 3, isSealed: isSealed) { stage async throws in
                var player = Player(stage, seed: seed)
                try await player.play()
                // The host is not known yet: what tells that it splices is the jump.
                #expect(player.jumps <= (delivery == .redirects ? 0 : 1))
                if delivery == .redirects { #expect(stage.requests == 1) }
            }
        }
    }

    @Test(arguments: Delivery.allCases, [false, true])
    func aPlayOfAKnownHostDoesNotJump(delivery: Delivery, isSealed: Bool) async throws {
        try await Self.run(delivery, isSealed: isSealed) { stage async throws in
            try await Self.discover(stage)
            let before = stage.requests
            var player = Player(stage, seed: 5)
            try await player.play()
            #expect(player.jumps == 0)
            #expect(stage.requests == before + 1)
        }
    }

    @Test func twoPlayersHaveTheSameFile() async throws {
        try await Self.run(.responses) { stage async throws in
            try await Self.discover(stage)
            let before = stage.requests
            let jumps = try await withThrowingTaskGroup(of: Int.self) { group in
                for seed in UInt64(7)...8 {
                    group.addTask {
                        var player = Player(stage, seed: seed)
                        try await player.play()
                        return player.jumps
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(jumps == 0)
            #expect(stage.requests == before + 1)
        }
    }

    @Test("behind targets that have ended, a seek in a file of a known host waits for the response that has it")
    func endedTargets() async throws {
        let clock = ShiftableClock()
        var episode = TestOrigin.SplicedEpisode(.redirects, seed: 21, length: Self.length)
        episode.suffix = "&Expires=1000000000"
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.origin.splice(episode, at: Self.path)
            let stage = Stage(bench: bench, episode: episode, clock: clock)
            try await Self.discover(stage)
            let before = stage.requests
            bench.origin.allow(50_000)
            let rendition = try await stage.rendition(of: 0..<1_000)
            let far = Task { try await stage.rendition(of: 300_000..<301_000) }
            // A request of its own would go now; what is late here is missed, and nothing else.
            for _ in 0..<20 { await breathe() }
            bench.origin.allow(nil)
            #expect(try await far.value == rendition)
            #expect(stage.requests == before + 1)
        }
    }

    @Test func aTargetThatEndsInAPlayCostsOneJump() async throws {
        let clock = ShiftableClock()
        var episode = TestOrigin.SplicedEpisode(.redirects, seed: 21, length: Self.length)
        episode.suffix = "&Expires=\(Int(clock.wallClock.timeIntervalSince1970) + 60)"
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.origin.splice(episode, at: Self.path)
            let stage = Stage(bench: bench, episode: episode, clock: clock)
            var player = Player(stage, seed: 9)
            try await player.play()
            clock.shift(by: .seconds(61))
            try await player.play()
            #expect(player.jumps <= 1)
        }
    }
}
