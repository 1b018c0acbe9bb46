import ByteRanges
import Foundation
import GRDB
import HTTPSemantics
import Primitives
@testable import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// An entry that is removed while it is read, filled and reopened: only one core at a time uses its file.
@Suite(.limit(minutes: 2)) struct RemovalTests {
    private static let length: Int64 = 600_000
    private static let seed: UInt64 = 7

    /// Opens a copy of the bench's directory in the state that a crash would have left.
    private static func afterCrash(
        _ bench: Bench, prepare: (String) throws -> Void = { _ in },
        configure: (inout MediaCache.Configuration) -> Void = { _ in }, _ body: (MediaCache) async throws -> Void
    ) async throws {
        let copy = try TemporaryDirectory()
        defer { copy.remove() }
        let directory = copy.path + "/cache"
        try FileManager.default.copyItem(atPath: bench.directory.path, toPath: directory)
        try prepare(directory)
        var configuration = MediaCache.Configuration()
        configure(&configuration)
        let cache = try await MediaCache.open(
            directory: directory, origin: bench.client, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(cache)) } catch { result = .failure(error) }
        await cache.close()
        try result.get()
    }

    /// Reads random ranges; returns how many contained a wrong byte.
    private static func readings(_ cache: MediaCache, _ url: String, _ seed: UInt64) async -> Int {
        var random = SeededGenerator(seed: seed)
        var wrong = 0
        for _ in 0..<150 {
            let start = Int64.random(in: 0..<length - 1, using: &random)
            let end = Int64.random(in: start + 1...length, using: &random)
            // A read whose entry is removed during it may end with an error.
            let bytes = try? await cache.resource(for: url).read(.bounded(start..<end)).collect()
            if let bytes, bytes != TestPattern.bytes(in: start..<end, seed: Self.seed) { wrong += 1 }
        }
        return wrong
    }

    @Test func aResourceThatWasRemovedGoesOnWithTheOneCoreOfItsKey() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length, seed: Self.seed)
            let url = bench.origin.url("/a")
            let held = try bench.cache.resource(for: url)
            _ = try await held.read().drain()
            _ = try await bench.cache.remove(CacheKey(url))
            #expect(await held.storedProgress().ranges.isEmpty)
            _ = try await held.read().drain()
            #expect(bench.cache.engine.liveResource(held.key)?.liveGeneration != nil)
            #expect(held.storedInMemory()?.region(.bounded(0..<1000)) != nil)
            #expect(try await bench.cache.remove(CacheKey(url)) == Self.length)
            #expect(bench.cache.allocatedBytes.media == 0)
        }
    }

    @Test func extentsGoOnlyOnceTheIndexSaysSo() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 6 << 20, seed: Self.seed)
            _ = try await bench.bytes("/a")
            let store = try #require(bench.cache.engine.store)
            await store.recorder.flush()
            let key = CacheKey(bench.origin.url("/a"))
            let generation = try #require(bench.cache.engine.liveResource(key)?.liveGeneration)
            let before = DiskUse.bytes(under: bench.directory.path + "/media")
            var configuration = GRDB.Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(
                path: bench.directory.path + "/catalogue.sqlite", configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            // The index gives up after its five seconds.
            await generation.shrink(by: 2 << 20, because: .room)
            #expect(DiskUse.bytes(under: bench.directory.path + "/media") == before)
            #expect(generation.storedRanges.byteCount == 4 << 20)
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            #expect(await store.recorder.flush())
            let recorded = try #require(try store.index.entries.generation(for: key))
            #expect(ChunkLedger(blocks: recorded.chunks).byteCount == 4 << 20)
            try other.close()
        }
    }

    @Test func whatACrashLeftIsCountedUntilItIsGone() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length, seed: Self.seed)
            _ = try await bench.bytes("/a", .bounded(0..<65_536))
            await bench.cache.engine.store?.recorder.flush()
            var directory = ""
            try await Self.afterCrash(bench) {
                directory = $0
                let file = try #require(DiskUse.mediaFiles(of: $0).first)
                let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(count: 400_000))
                try handle.close()
            } _: { cache async throws in
                await cache.upkeep.settle()
                #expect(cache.allocatedBytes.media >= 460_000)
                await cache.close()
                let again = try await MediaCache.open(directory: directory, origin: bench.client)
                await again.upkeep.settle()
                #expect(again.allocatedBytes.media >= 460_000)
                _ = try await again.resource(for: bench.origin.url("/a")).read(.bounded(0..<10)).drain()
                #expect(again.allocatedBytes.media == 65_536)
                await again.close()
            }
        }
    }

    /// The folders of the media stay unread until `isOpen` is fulfilled.
    private static func blockingCount(_ isOpen: DispatchSemaphore) -> FaultyDisk {
        let disk = FaultyDisk()
        disk.setWillList { path in
            guard path.hasSuffix("/media/00") else { return }
            isOpen.wait()
        }
        return disk
    }

    @Test("after a crash nothing is written before its leftovers are counted, so that the limit holds")
    func writesWaitForTheCount() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length, seed: Self.seed)
            let isOpen = DispatchSemaphore(value: 0)
            let disk = Self.blockingCount(isOpen)
            let (isCounted, counts) = (Mutex(false), Mutex<[Bool]>([]))
            // Time stands still: however slow the machine is, the two seconds do not pass.
            let clock = ManualClock()
            let configure: (inout MediaCache.Configuration) -> Void = { configuration in
                configuration.fileSystem = disk
                configuration.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) }
                configuration.reached = { point in
                    if point == .reserved { counts.withLock { $0.append(isCounted.withLock { $0 }) } }
                }
            }
            try await Self.afterCrash(bench, configure: configure) { cache async throws in
                async let bytes = cache.resource(for: bench.origin.url("/a")).read(.bounded(0..<65_536)).collect()
                // The first bytes have come, and would be written by now.
                await eventually { cache.statistics.bytesFetched > 0 }
                for _ in 0..<200 { await cache.engine.store?.recorder.turn() }
                isCounted.withLock { $0 = true }
                isOpen.signal()
                #expect(try await bytes == TestPattern.bytes(in: 0..<65_536, seed: Self.seed))
                #expect(counts.withLock { !$0.isEmpty && $0.allSatisfy(\.self) })
            }
        }
    }

    @Test("a count that takes long holds no player up for more than two seconds")
    func writesWaitTwoSecondsAtMost() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length, seed: Self.seed)
            let isOpen = DispatchSemaphore(value: 0)
            let disk = Self.blockingCount(isOpen)
            let clock = ManualClock()
            let configure: (inout MediaCache.Configuration) -> Void = { configuration in
                configuration.fileSystem = disk
                configuration.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) }
            }
            try await Self.afterCrash(bench, configure: configure) { cache async throws in
                async let bytes = cache.resource(for: bench.origin.url("/a")).read(.bounded(0..<65_536)).collect()
                // One for its two seconds, and one for all waits.
                await clock.waitForSleepers(2)
                clock.advance(by: .seconds(2))
                let read = try? await bytes
                isOpen.signal()
                #expect(read == TestPattern.bytes(in: 0..<65_536, seed: Self.seed))
            }
        }
    }

    @Test func removedWhileReadNoWrongByteIsServed() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length, seed: Self.seed)
            _ = try await bench.bytes("/a", .bounded(0..<100_000))
            await bench.cache.engine.store?.recorder.flush()
            try await Self.afterCrash(bench) { cache async throws in
                let url = bench.origin.url("/a")
                let isOver = Mutex(false)
                let remover = Task {
                    while !isOver.withLock({ $0 }) {
                        _ = try await cache.remove(CacheKey(url))
                        await Task.yield()
                    }
                }
                let wrong = await withTaskGroup(of: Int.self) { group in
                    for seed in 1...4 { group.addTask { await Self.readings(cache, url, UInt64(seed)) } }
                    return await group.reduce(0, +)
                }
                isOver.withLock { $0 = true }
                try await remover.value
                #expect(wrong == 0)
            }
        }
    }

    @Test("a removal that fails halfway has the downloads fetch again what went before")
    func removalThatFails() async throws {
        try await Bench.run(configure: { $0.maximumDownloads = 1 }) { bench async throws in
            let cache = bench.cache
            for name in ["/film", "/part", "/kept", "/other"] { bench.publish(name, length: 100_000) }
            for name in ["/part", "/kept"] { _ = try await bench.bytes(name) }
            let film = try cache.resource(for: bench.origin.url("/film"))
            let part = try cache.resource(for: bench.origin.url("/part")).key
            let kept = try cache.resource(for: bench.origin.url("/kept")).key
            func isDone() async -> Bool {
                await cache.downloads.list().first?.isDone == true
            }
            try await cache.downloads.add(film)
            await eventually { await isDone() }
            await cache.becomeIdle()
            let store = try #require(cache.engine.store)
            store.recorder.note([film.key, part], in: TitleReference(key: film.key, url: film.url))
            // Takes the only place, so that the film waits for its turn.
            bench.origin.hold("/other", at: 50_000)
            try await cache.downloads.add(cache.resource(for: bench.origin.url("/other")))
            let sql = """
                CREATE TRIGGER held BEFORE DELETE ON entry WHEN old.keyHash = '\(store.index.name(of: kept))'
                BEGIN SELECT RAISE(ABORT, 'held'); END
                """
            try await store.index.database.write { try $0.execute(sql: sql) }
            // The last one is alone in the second transaction.
            let others = (1..<500).map { CacheKey("\($0)") }
            let keys = [part] + others + [kept]
            await #expect(throws: RepriseError.self) { try await cache.remove(keys) }
            let isStillDone = await isDone()
            #expect(!isStillDone)
            bench.origin.release("/other")
        }
    }
}
