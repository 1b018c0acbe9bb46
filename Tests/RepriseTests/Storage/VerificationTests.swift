import Foundation
import GRDB
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// ``MediaCache/verify(_:)`` in a task that is canceled.
@Suite(.limit(minutes: 1)) struct VerificationTests {
    @Test("it ends with CancellationError wherever it is, and a whole one finds all sound", arguments: [1, 3, 5, 6])
    func canceled(after pieces: Int) async throws {
        let bytes = TestPattern.bytes(in: 0..<150_000, seed: 1)
        let origin = ScriptedOrigin { request, _ in .media(request, bytes) }
        try await origin.run { cache async throws in
            for name in ["a", "b"] {
                let read = try await cache.resource(for: "http://media.example/\(name).mp4").read()
                while try await read.next() != nil {}
            }
            let task = Task {
                let count = Mutex(0)
                return try await cache.verify { _, _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    if number == pieces { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            let report = try await cache.verify()
            #expect(report.isSound && report.soundBytes == 300_000)
        }
    }

    @Test("what is removed while it is read is no damage") func removedMeanwhile() async throws {
        let bytes = TestPattern.bytes(in: 0..<400_000, seed: 1)
        let origin = ScriptedOrigin { request, _ in .media(request, bytes) }
        try await origin.run { cache async throws in
            let film = try cache.resource(for: "http://media.example/film.mp4")
            _ = try await film.read().drain()
            await cache.settle()
            let (pieces, continuation) = AsyncStream.makeStream(of: Void.self)
            let isRemoved = DispatchSemaphore(value: 0)
            let count = Mutex(0)
            let task = Task.detached {
                try await cache.verify { _, _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    guard number == 1 else { return }
                    continuation.yield()
                    isRemoved.wait()
                }
            }
            for await _ in pieces { break }
            try await cache.remove(film.key)
            isRemoved.signal()
            let report = try await task.value
            #expect(report.isSound && report.damaged.isEmpty, "\(report)")
            #expect(try await cache.entries().isEmpty)
        }
    }

    /// Changes bytes on disk of the only file in the cache.
    private static func damage(_ bench: Bench, at offset: UInt64) throws {
        let path = try #require(DiskUse.mediaFiles(of: bench.directory.path).first)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data("damage".utf8))
        try file.close()
    }

    @Test("damage of a file in memory becomes a hole, which is fetched again", arguments: [false, true])
    func damagedInMemory(isEncrypted: Bool) async throws {
        try await Bench.run(configure: {
            let key = KeyFile.key(hexadecimal: String(repeating: "07", count: 32))
            $0.encryption = isEncrypted ? key.map { CacheEncryption(key: $0) } : nil
        }) { bench async throws in
            bench.publish("/a", length: 300_000)
            let whole = try await bench.bytes("/a")
            await bench.cache.becomeIdle()
            try Self.damage(bench, at: 70_000)
            let report = try await bench.cache.verify()
            #expect(report.damaged.count == 1 && !report.isSound)
            let entry = try #require(try await bench.cache.entries().first)
            #expect(!entry.isComplete && entry.storedBytes < 300_000)
            #expect(try await bench.cache.verify().isSound)
            let isWhole = try await bench.bytes("/a") == whole
            #expect(isWhole)
            #expect(bench.origin.snapshot["/a"].requestCount == 2)
        }
    }

    /// Publishes a file, and returns its resource when it is downloaded.
    private static func downloaded(_ bench: Bench) async throws -> MediaResource {
        bench.publish("/a", length: 300_000)
        let resource = try bench.cache.resource(for: bench.origin.url("/a"))
        try await bench.cache.downloads.add(resource)
        await eventually { await isDone(bench.cache) }
        await bench.cache.becomeIdle()
        return resource
    }

    private static func isDone(_ cache: MediaCache) async -> Bool {
        await cache.downloads.list().first?.isDone == true
    }

    /// Returns when the download is whole and done again, and expects that this took one more request.
    private static func expectFetchedAgain(_ bench: Bench, _ cache: MediaCache) async throws {
        try await eventually {
            let isWhole = try await cache.entries().first?.isComplete == true
            return await isDone(cache) && isWhole
        }
        #expect(bench.origin.snapshot["/a"].requestCount == 2)
        #expect(try await cache.verify().isSound)
    }

    @Test("a download that was done fetches again what was damaged") func damagedDownload() async throws {
        try await Bench.run { bench async throws in
            _ = try await Self.downloaded(bench)
            try Self.damage(bench, at: 70_000)
            let report = try await bench.cache.verify()
            #expect(report.damaged.count == 1)
            try await Self.expectFetchedAgain(bench, bench.cache)
        }
    }

    @Test("it fetches again, too, what a verification found that was canceled then")
    func damagedBeforeCancellation() async throws {
        try await Bench.run { bench async throws in
            _ = try await Self.downloaded(bench)
            try Self.damage(bench, at: 70_000)
            let task = Task {
                try await bench.cache.verify { read, total in
                    if read == total { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            try await Self.expectFetchedAgain(bench, bench.cache)
        }
    }

    @Test(
        "it fetches again a file that the cleanup found missing, and one with a damaged record",
        arguments: [false, true])
    func lostDownload(isRecordDamaged: Bool) async throws {
        try await Bench.run { bench async throws in
            let key = try await Self.downloaded(bench).key
            try await bench.reopened { cache async throws in
                await cache.settle()
                await eventually { await Self.isDone(cache) }
                let store = try #require(cache.engine.store)
                if isRecordDamaged {
                    try await store.index.database.write { try $0.execute(sql: "UPDATE generation SET record = x'00'") }
                } else {
                    // As the cleanup does after the downloads are known.
                    let stored = try #require(try store.index.entries.generation(for: key))
                    store.leftovers.noteLost(key, of: [])
                    _ = try await store.recorder.remove(generation: stored.record.id)
                }
                let report = try await cache.verify()
                #expect(!report.isSound)
                try await Self.expectFetchedAgain(bench, cache)
            }
        }
    }

    @Test("damage in the middle of a file ends a read that must not ask the origin")
    func damagedOffline() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            try Self.damage(bench, at: 70_000)
            try await bench.reopened(configure: { $0.reuse.isOffline = true }) { cache async throws in
                let read = try await cache.resource(for: bench.origin.url("/a")).read()
                let error = await #expect(throws: RepriseError.self) { _ = try await read.drain() }
                #expect(error?.code == .notStored)
            }
            #expect(bench.origin.snapshot["/a"].requestCount == 1)
        }
    }

    @Test("an entry whose file is gone is named, also if the cleanup after opening found that first")
    func missingEntries() async throws {
        try await Bench.run { bench async throws in
            for name in ["/a", "/b", "/c"] {
                bench.publish(name, length: 10_000)
                _ = try await bench.bytes(name)
            }
            await bench.cache.close()
            for file in DiskUse.mediaFiles(of: bench.directory.path) {
                try FileManager.default.removeItem(atPath: file)
            }
            try await bench.reopened { cache async throws in
                await cache.settle()
                let report = try await cache.verify()
                #expect(Set(report.missing.map(\.description)).count == 3 && report.missing.count == 3)
                #expect(report.entries == 3 && !report.isSound)
                // Told once.
                #expect(try await cache.verify().isSound)
            }
        }
    }

    @Test("of a file that the cleanup after opening finds missing the titles are known until a verification")
    func titlesOfMissingFiles() async throws {
        try await Bench.run { bench async throws in
            for name in ["/film", "/part"] {
                bench.publish(name, length: 10_000)
                _ = try await bench.bytes(name)
            }
            await bench.cache.becomeIdle()
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            let part = try bench.cache.resource(for: bench.origin.url("/part")).key
            let store = try #require(bench.cache.engine.store)
            store.recorder.note([film.key, part], in: TitleReference(key: film.key, url: film.url))
            await bench.cache.settle()
            await bench.cache.close()
            for file in DiskUse.mediaFiles(of: bench.directory.path) {
                try FileManager.default.removeItem(atPath: file)
            }
            try await bench.reopened { cache async throws in
                await cache.settle()
                let lost = try #require(cache.engine.store).leftovers.lost
                #expect(lost.count == 2 && lost[part] == [film.key])
                _ = try await cache.verify()
                let rest = try #require(cache.engine.store).leftovers.lost
                #expect(rest.isEmpty)
            }
        }
    }

    @Test("an index that is gone or empty beside media is an error, and says what helps", arguments: [true, false])
    func lostIndex(isGone: Bool) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let index = bench.directory.path(of: "catalogue.sqlite")
            try FileManager.default.removeItem(atPath: index)
            if !isGone { _ = FileManager.default.createFile(atPath: index, contents: nil) }
            let error = #expect(throws: RepriseError.self) {
                _ = try CacheInspector(directory: bench.directory.path)
            }
            #expect(error?.code == .storageUnavailable)
            #expect(error?.message.contains("The next command that writes removes them") == true)
            #expect(DiskUse.mediaFiles(of: bench.directory.path).count == 1)
        }
    }

    @Test("an entry whose file is gone is not stored")
    func copyWithoutFile() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            for file in DiskUse.mediaFiles(of: bench.directory.path) {
                try FileManager.default.removeItem(atPath: file)
            }
            let inspector = try CacheInspector(directory: bench.directory.path)
            let entry = try #require(try inspector.entries().first)
            let error = #expect(throws: RepriseError.self) { try inspector.read(entry) { _ in } }
            #expect(error?.code == .notStored && error?.message.contains("file is gone") == true)
        }
    }
}
