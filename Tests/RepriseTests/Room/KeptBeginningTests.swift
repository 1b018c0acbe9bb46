import ByteRanges
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Beginnings that stay while the rest of their files is evicted.
@Suite(.limit(minutes: 2)) struct KeptBeginningTests {
    private static let length: Int64 = 8 << 20
    private static let beginning: Int64 = 1 << 20

    private static func film(_ number: Int, _ bench: Bench) throws -> MediaResource {
        bench.publish("/\(number)", length: length, seed: UInt64(number))
        return try bench.cache.resource(for: bench.origin.url("/\(number)"))
    }

    /// Whether the kept bytes of film `number` are read without the origin, and are the right ones.
    private static func expectBeginning(
        _ number: Int, _ bench: Bench, in cache: MediaCache, _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let requests = bench.origin.snapshot.requestCount
        let bytes = try await cache.resource(for: bench.origin.url("/\(number)")).read(0..<beginning).collect()
        #expect(bytes == TestPattern.bytes(in: 0..<beginning, seed: UInt64(number)), sourceLocation: sourceLocation)
        #expect(bench.origin.snapshot.requestCount == requests, sourceLocation: sourceLocation)
    }

    @Test("the beginnings of a whole library stay while its tails go, also after a restart")
    func library() async throws {
        try await Bench.run(configure: { $0.limit = 24 << 20 }) { bench async throws in
            for number in 1...6 {
                let film = try Self.film(number, bench)
                try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
                #expect(try await bench.cache.retention(of: film) == .first(.bytes(Self.beginning)))
                _ = try await film.read().drain()
                await bench.cache.becomeIdle()
            }
            #expect(bench.cache.storedBytes <= 24 << 20)
            #expect(try await bench.cache.entries().count == 6)
            for number in 1...6 { try await Self.expectBeginning(number, bench, in: bench.cache) }
            try await bench.reopened(configure: { $0.limit = 24 << 20 }) { cache async throws in
                let another = try cache.resource(for: bench.origin.url("/1"))
                #expect(try await cache.retention(of: another) == .first(.bytes(Self.beginning)))
                for number in 1...2 {
                    _ = try await cache.resource(for: bench.origin.url("/\(number)")).read().drain()
                    await cache.becomeIdle()
                }
                for number in 1...6 { try await Self.expectBeginning(number, bench, in: cache) }
            }
        }
    }

    @Test("pruning a tag leaves beginnings and frees the rest, by size and by age", arguments: [true, false])
    func pruningATag(bySize: Bool) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            for number in 1...2 {
                let film = try Self.film(number, bench)
                try await bench.cache.nameTitle(of: film, name: nil, tag: "t")
                if number == 1 { try await bench.cache.retain(film, as: .first(.bytes(Self.beginning))) }
                _ = try await film.read().drain()
                await bench.cache.becomeIdle()
            }
            clock.shift(by: .seconds(60))
            let (size, age) = bySize ? (Int64(0), nil) : (nil, Duration.seconds(1))
            let forecast = try await bench.cache.forecast(ofPruningTitlesTagged: "t", toSize: size, olderThan: age)
            let names = forecast.urls.map(\.lastPathComponent).sorted()
            #expect(names == ["1", "2"] && forecast.trimmed.map(\.lastPathComponent) == ["1"])
            let (freed, problem) = try await bench.cache.prunedTitles(tagged: "t", toSize: size, olderThan: age)
            // A beginning is kept in steps of 2 MiB.
            #expect(freed == forecast.freedBytes && freed >= 2 * Self.length - (2 << 20) && problem == nil, "\(freed)")
            try await Self.expectBeginning(1, bench, in: bench.cache)
            let again = try await bench.cache.prunedTitles(tagged: "t", toSize: size, olderThan: age)
            #expect(again.freed == 0)
        }
    }

    @Test("a trimmed entry that is played again gives its tail back a second time")
    func playedAgain() async throws {
        try await Bench.run(configure: { $0.limit = 12 << 20 }) { bench async throws in
            let kept = try Self.film(1, bench)
            let other = try Self.film(2, bench)
            try await bench.cache.retain(kept, as: .first(.bytes(Self.beginning)))
            for _ in 0..<3 {
                for film in [kept, other] {
                    #expect(try await film.read().drain() == Self.length)
                    await bench.cache.becomeIdle()
                }
                let stored = await kept.storedProgress().ranges
                #expect(stored.contains(0..<Self.beginning) && stored.byteCount < Self.length)
                try await Self.expectBeginning(1, bench, in: bench.cache)
            }
        }
    }

    @Test func aReleasedBeginningIsEvictedWithTheRest() async throws {
        try await Bench.run(configure: { $0.limit = 12 << 20 }) { bench async throws in
            let film = try Self.film(1, bench)
            try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
            for number in 2...3 {
                _ = try await Self.film(number, bench).read().drain()
                await bench.cache.becomeIdle()
            }
            #expect(try await bench.cache.entries().contains { $0.key == film.key })
            try await bench.cache.retain(film, as: .cached)
            for number in 2...3 {
                _ = try await Self.film(number, bench).read().drain()
                await bench.cache.becomeIdle()
            }
            #expect(try await !bench.cache.entries().contains { $0.key == film.key })
        }
    }

    @Test("a beginning that was removed is not fetched again")
    func removal() async throws {
        try await Bench.run { bench async throws in
            let film = try Self.film(1, bench)
            try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
            #expect(try await bench.cache.remove(film.key) == Self.beginning)
            #expect(try await bench.cache.retention(of: film) == .cached)
            let requests = bench.origin.snapshot.requestCount
            try await bench.reopened { cache async throws in
                #expect(try await cache.entries().isEmpty)
                #expect(try await cache.awaitedEntries().isEmpty)
            }
            #expect(bench.origin.snapshot.requestCount == requests)
        }
    }

    @Test("beginnings that exceed the limit are refused, and what was kept before stays so")
    func tooMuch() async throws {
        try await Bench.run(configure: { $0.limit = 9 << 20 }) { bench async throws in
            let first = try Self.film(1, bench)
            try await bench.cache.retain(first, as: .first(.bytes(6 << 20)))
            let second = try Self.film(2, bench)
            let error = await #expect(throws: RepriseError.self) {
                try await bench.cache.retain(second, as: .first(.bytes(6 << 20)))
            }
            #expect(error?.code == .storageFull)
            #expect(error?.message.contains("disk") == false, "\(String(describing: error))")
            #expect(try await bench.cache.retention(of: first) == .first(.bytes(6 << 20)))
            #expect(try await bench.cache.retention(of: second) == .cached)
        }
    }

    @Test("a beginning that is kept after its entry was chosen to go stays, file and record")
    func keptAfterTheChoice() async throws {
        try await Bench.run { bench async throws in
            let film = try Self.film(1, bench)
            _ = try await film.read().drain()
            await bench.cache.becomeIdle()
            _ = try await bench.cache.entries()
            let (engine, store) = (bench.cache.engine, try #require(bench.cache.engine.store))
            let chosen = try store.index.entries.candidates(by: .leastRecentlyUsed, limit: 1, offset: 0)
            #expect(chosen.map(\.key) == [film.key])
            try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
            #expect(try store.index.retentions.held(chosen.map(\.name)) == Set(chosen.map(\.name)))
            #expect(try await engine.remove(chosen, force: false, in: store).removed.isEmpty)
            try await Self.expectBeginning(1, bench, in: bench.cache)
        }
    }

    @Test("what was freed of a file is freed for the next process, too", arguments: [false, true])
    func accounting(isKept: Bool) async throws {
        try await Bench.run { bench async throws in
            let film = try Self.film(1, bench)
            _ = try await film.read().drain()
            await bench.cache.becomeIdle()
            if isKept {
                try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
                await bench.cache.prune(toSize: 1)
            } else {
                let generation = try #require(
                    await bench.cache.engine.resource(film.key).stored(for: film.originRequest))
                await generation.shrink(by: 6 << 20, because: .room)
            }
            let left = bench.cache.allocatedBytes.media
            #expect(left > 0 && left <= 2 << 20)
            try await bench.reopened { cache async throws in
                #expect(cache.allocatedBytes.media == left)
                #expect(try await cache.entries().map(\.allocatedBytes) == [left])
            }
        }
    }

    @Test("of responses that vary, the one that was asked for keeps its beginning (RFC 9111 §4.1)")
    func variants() async throws {
        try await Bench.run(configure: { $0.limit = 12 << 20 }) { bench async throws in
            bench.publish("/1", length: Self.length, seed: 1) { $0.fields = [.vary: "Accept-Language"] }
            let film = try bench.cache.resource(for: bench.origin.url("/1"))
            try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
            for _ in 0..<2 {
                _ = try await film.read().drain()
                await bench.cache.becomeIdle()
                _ = try await Self.film(2, bench).read().drain()
                await bench.cache.becomeIdle()
            }
            let stored = await film.storedProgress().ranges
            #expect(stored.contains(0..<Self.beginning) && stored.byteCount < Self.length)
            try await Self.expectBeginning(1, bench, in: bench.cache)
        }
    }

    @Test("room is counted in extents, so that small beginnings do not fill the cache unseen")
    func extents() async throws {
        try await Bench.run(configure: { $0.limit = 9 << 20 }) { bench async throws in
            for number in 1...3 {
                let film = try Self.film(number, bench)
                _ = try await film.read().drain()
                await bench.cache.becomeIdle()
                try await bench.cache.retain(film, as: .first(.bytes(100_000)))
            }
            let store = try #require(bench.cache.engine.store)
            // Each lies in one extent, of which a player may have stored all.
            #expect(try store.index.retentions.retainedUsage().allocated <= 3 * FetchSchedule.extent)
            #expect(try store.index.retentions.retainedUsage().allocated > 3 * 100_000)
        }
    }

    @Test func anEmptyFileIsItsBeginning() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/empty", length: 0)
            let file = try bench.cache.resource(for: bench.origin.url("/empty"))
            for amount in [PreloadAmount.seconds(5), .bytes(10), .segments(1)] { try await file.preload(amount) }
        }
    }

    @Test(arguments: [PreloadAmount.bytes(0), .seconds(0), .seconds(.nan), .segments(-1), .range(5..<5)])
    func nothingIsNoBeginning(_ amount: PreloadAmount) async throws {
        try await Bench.run { bench async throws in
            let film = try Self.film(1, bench)
            let error = await #expect(throws: RepriseError.self) {
                try await bench.cache.retain(film, as: .first(amount))
            }
            #expect(error?.code == .invalidArgument)
            #expect(bench.origin.snapshot.requestCount == 0)
        }
    }

    @Test("a pin of the whole file keeps its tail, too; the beginning stays when the pin is replaced")
    func pinnedWhole() async throws {
        try await Bench.run(configure: { $0.limit = 12 << 20 }) { bench async throws in
            let film = try Self.film(1, bench)
            try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
            _ = try await film.read().drain()
            try await bench.cache.retain(film, as: .pinned)
            _ = try await Self.film(2, bench).read().drain()
            await bench.cache.becomeIdle()
            #expect(await film.storedProgress().ranges == ByteRangeSet(0..<Self.length))
            try await bench.cache.retain(film, as: .first(.bytes(Self.beginning)))
            _ = try await Self.film(2, bench).read().drain()
            await bench.cache.becomeIdle()
            #expect(await film.storedProgress().ranges.byteCount < Self.length)
            try await Self.expectBeginning(1, bench, in: bench.cache)
        }
    }

    @Test(
        "amounts are recorded and read as they were",
        arguments: [PreloadAmount.bytes(7), .seconds(2.5), .segments(3), .range(5..<9), .all])
    func recorded(_ amount: PreloadAmount) {
        #expect(PreloadAmount(recorded: amount.recorded) == amount)
    }

    @Test(arguments: [
        "", "bytes", "bytes x", "range 9 5", "range 1", "all 1", "weeks 3", "seconds 1 2", "seconds inf", "seconds nan",
    ])
    func aDamagedAmountIsNone(_ text: String) { #expect(PreloadAmount(recorded: text) == nil) }
}
