import ByteRanges
import Crypto
import Foundation
import HTTPSemantics
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A directory that cannot be written: stored bytes are served, the rest comes from the origin, and nothing changes.
@Suite(.limit(minutes: 3)) struct ReadOnlyTests {
    private static let encryption = CacheEncryption(key: SymmetricKey(data: [UInt8](repeating: 0x42, count: 32)))

    private static func pattern(_ range: Range<Int64>, seed: UInt64 = 1) -> [UInt8] {
        TestPattern.bytes(in: range, seed: seed)
    }

    /// Why a directory cannot be written.
    enum Cause: CaseIterable {
        /// Its file system says so.
        case fileSystem
        /// SQLite cannot make its files beside the index either.
        case index
    }

    /// Runs `body` with a read-only directory: `/whole` is stored, and parts of `/parts`.
    ///
    /// Expects that no file has changed.
    private static func run(
        isSealed: Bool = false, _ cause: Cause = .fileSystem, _ body: (Bench, MediaCache) async throws -> Void
    ) async throws {
        try await Bench.run(configure: { $0.encryption = isSealed ? encryption : nil }) { bench async throws in
            bench.publish("/whole", length: 300_000)
            bench.publish("/parts", length: 400_000)
            _ = try await bench.bytes("/whole")
            _ = try await bench.bytes("/parts", .bounded(0..<100_000))
            _ = try await bench.bytes("/parts", .bounded(200_000..<300_000))
            await bench.cache.close()
            let blockers = ["-wal", "-shm"].map { bench.directory.path(of: "catalogue.sqlite\($0)") }
            if cause == .index {
                for blocker in blockers {
                    try? FileManager.default.removeItem(atPath: blocker)
                    try FileManager.default.createDirectory(atPath: blocker, withIntermediateDirectories: false)
                }
            }
            let before = try files(bench)
            try await bench.reopened(configure: {
                $0.encryption = isSealed ? encryption : nil
                $0.fileSystem = cause == .fileSystem ? ReadOnlyFileSystem(SystemFileSystem()) : SystemFileSystem()
            }) { cache async throws in
                try await body(bench, cache)
            }
            let isUnchanged = try files(bench) == before
            #expect(isUnchanged)
        }
    }

    /// Every file with its bytes, except the lock and the empty files that SQLite makes to read.
    private static func files(_ bench: Bench) throws -> [String: Data] {
        try DiskUse.contents(of: bench.directory.path).filter {
            $0.key != "lock" && !$0.key.hasSuffix("-wal") && !$0.key.hasSuffix("-shm")
        }
    }

    @Test("stored bytes are served, and holes come from the origin", arguments: Cause.allCases, [false, true])
    func reading(cause: Cause, isSealed: Bool) async throws {
        try await Self.run(isSealed: isSealed, cause) { bench, cache async throws in
            #expect(!cache.isStoring && cache.isReadOnly)
            #expect(cache.storeProblem?.code == .storageUnavailable)
            #expect(cache.storeProblem?.message.contains("read-only") == true)
            guard case .storeBypassed(nil, let reason) = await EventLog(cache).first({ _ in true }) else {
                Issue.record("nothing was told")
                return
            }
            #expect(reason.contains("read-only"))
            #expect(cache.storedBytes == 500_000)
            #expect(try await cache.entries().count == 2)

            let before = bench.origin.snapshot
            let whole = try cache.resource(for: bench.origin.url("/whole"))
            #expect(await Array(whole.storedProgress().ranges) == [0..<300_000])
            #expect(try await whole.read(.bounded(70_000..<250_001)).collect() == Self.pattern(70_000..<250_001))
            let read = try await whole.read()
            #expect(read.disposition == .hit)
            #expect(try await read.collect() == Self.pattern(0..<300_000))
            if !isSealed { #expect(whole.storedInMemory()?.region() != nil, "the fast path") }
            #expect(bench.origin.snapshot.requestCount == before.requestCount)

            let parts = try cache.resource(for: bench.origin.url("/parts"))
            for _ in 0..<2 { #expect(try await parts.read().collect() == Self.pattern(0..<400_000)) }
            let after = await bench.origin.settledSnapshot()
            #expect(after["/parts"].bodyBytesSent == before["/parts"].bodyBytesSent + 2 * 200_000, "only the holes")
            #expect(after["/parts"].requestCount == before["/parts"].requestCount + 4)

            bench.publish("/new", length: 50_000)
            for _ in 0..<2 {
                let new = try await cache.resource(for: bench.origin.url("/new")).read()
                #expect(new.disposition == .bypass)
                #expect(try await new.collect() == Self.pattern(0..<50_000))
            }
            #expect(try await cache.entries().count == 2)
            #expect(cache.storedBytes == 500_000)
        }
    }

    @Test("a file that changed at the origin is read from there")
    func replacement() async throws {
        try await Self.run { bench, cache async throws in
            bench.publish("/parts", length: 400_000, seed: 2, etag: "\"v2\"")
            let parts = try cache.resource(for: bench.origin.url("/parts"))
            let error = await #expect(throws: RepriseError.self) { try await parts.read().drain() }
            #expect(error?.code == .validatorChanged)
            #expect(try await parts.read().collect() == Self.pattern(0..<400_000, seed: 2))
        }
    }

    @Test("operations that would have to write are refused")
    func writing() async throws {
        try await Self.run { bench, cache async throws in
            let whole = try cache.resource(for: bench.origin.url("/whole"))
            let kept = await #expect(throws: RepriseError.self) {
                try await cache.retain(whole, as: .pinned(until: nil))
            }
            #expect(kept?.code == .storageUnavailable)
            #expect(kept?.message.contains("read-only") == true)
            let removed = await #expect(throws: RepriseError.self) { try await cache.remove(whole.key) }
            #expect(removed?.code == .storageUnavailable)
            #expect(await cache.prune(toSize: 0) == 0)
            #expect(try await whole.read().collect() == Self.pattern(0..<300_000))
        }
    }

    @Test("another key is refused here too", arguments: [false, true])
    func keys(isSealed: Bool) async throws {
        try await Self.run(isSealed: isSealed) { bench, cache async throws in
            await cache.close()
            var configuration = MediaCache.Configuration()
            configuration.fileSystem = ReadOnlyFileSystem(SystemFileSystem())
            configuration.resetsWhenKeyDiffers = true
            configuration.encryption = CacheEncryption(key: SymmetricKey(size: .bits256))
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(
                    directory: bench.directory.path, origin: bench.client, configuration: configuration)
            }
            #expect(error?.code == .keyUnavailable)
            #expect(error?.message.contains("cannot be written") == true)
        }
    }

    @Test("a writer keeps a reader out")
    func writers() async throws {
        try await Self.run { bench, cache async throws in
            await cache.close()
            let writer = try DirectoryLock(directory: bench.directory.path, in: SystemFileSystem())
            defer { writer.release() }
            var configuration = MediaCache.Configuration()
            configuration.fileSystem = ReadOnlyFileSystem(SystemFileSystem())
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(
                    directory: bench.directory.path, origin: bench.client, configuration: configuration)
            }
            #expect(error?.code == .storageLocked)
        }
    }

    @Test("a directory without an index is not a read-only cache")
    func nothing() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var configuration = MediaCache.Configuration()
        configuration.fileSystem = ReadOnlyFileSystem(SystemFileSystem())
        let origin = ScriptedOrigin { request, _ in .media(request, Self.pattern(0..<1000)) }
        let error = await #expect(throws: RepriseError.self) {
            try await MediaCache.open(directory: directory.path, origin: origin, configuration: configuration)
        }
        #expect(error?.code == .storageUnavailable)
    }
}
