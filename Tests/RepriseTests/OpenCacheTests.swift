import Foundation
import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// One cache per directory and process; data of different users stays apart; nothing is written after the end.
@Suite(.limit(minutes: 2)) struct OpenCacheTests {
    private static let film = "http://origin/film.mp4"
    private static let bytes = TestPattern.bytes(in: 0..<100_000, seed: 1)
    private static let honest = ScriptedOrigin { request, _ in .media(request, bytes) }

    @Test func aSecondOpeningGivesTheSameCacheUnderAnyName() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let link = directory.path(of: "link")
        try FileManager.default.createDirectory(
            atPath: directory.path(of: "cache"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path(of: "cache"))
        async let one = MediaCache.open(directory: directory.path(of: "cache"), origin: Self.honest)
        async let other = MediaCache.open(directory: link, origin: Self.honest)
        let caches = try await [one, other]
        #expect(caches[0] === caches[1])
        // It closes with the last of its users.
        await caches[0].close()
        #expect(try await caches[1].resource(for: Self.film).read().collect() == Self.bytes)
        await caches[1].close()
        #expect(throws: RepriseError.self) { try caches[1].resource(for: Self.film) }
        let next = try await MediaCache.open(directory: link, origin: Self.honest)
        #expect(next !== caches[0])
        #expect(next.storedBytes == 100_000)
        await next.close()
    }

    @Test func anOpeningWithAnotherLimitIsAnError() async throws {
        try await Self.honest.run { cache async throws in
            let directory = try #require(cache.engine.store?.directory)
            var configuration = MediaCache.Configuration()
            configuration.limit = 5_000_000
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(directory: directory, origin: Self.honest, configuration: configuration)
            }
            #expect(error?.code == .storageLocked)
            #expect(error?.message.contains("limit") == true)
            #expect(try await cache.resource(for: Self.film).read().collect() == Self.bytes)
        }
    }

    @Test func anotherProcessIsRefusedAndNamed() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let lock = try DirectoryLock(directory: directory.path, in: SystemFileSystem())
        let error = await #expect(throws: RepriseError.self) {
            try await MediaCache.open(directory: directory.path, origin: Self.honest)
        }
        #expect(error?.code == .storageLocked)
        #expect(error?.message.contains("this process (\(getpid()))") == true)
        lock.release()
        // A cache that stores nothing says why.
        let cache = MediaCache.withoutStore(
            origin: Self.honest, configuration: .init(), because: try #require(error))
        let told = await EventLog(cache).first { _ in true }
        #expect(cache.storeProblem?.code == .storageLocked)
        guard case .storeBypassed(nil, let reason) = told else {
            Issue.record("nothing was told")
            return
        }
        #expect(reason.contains("is open in this process"), "\(reason)")
    }

    @Test func aCacheThatWasDroppedDuringAReadIsFoundAgain() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var cache: MediaCache? = try await MediaCache.open(directory: directory.path, origin: Self.honest)
        let engine = ObjectIdentifier(try #require(cache).engine)
        let read = try #require(try await cache?.resource(for: Self.film).read())
        cache = nil
        let again = try await MediaCache.open(directory: directory.path, origin: Self.honest)
        #expect(again.isStoring)
        #expect(ObjectIdentifier(again.engine) == engine)
        #expect(try await read.collect() == Self.bytes)
        #expect(try await again.resource(for: Self.film).read().collect() == Self.bytes)
        await again.close()
    }

    @Test func aCacheThatWasDroppedLetsGoOfItsDirectory() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var configuration = MediaCache.Configuration()
        // Far longer than this test may take: waiting for a batch would be noticed.
        configuration.recordDelay = .seconds(3600)
        for limit in 50_000_000..<50_000_020 as Range<Int64> {
            // Another limit than that of a cache that is still open would be refused.
            configuration.limit = limit
            let cache = try await MediaCache.open(
                directory: directory.path, origin: Self.honest, configuration: configuration)
            #expect(try await cache.resource(for: Self.film).read().collect() == Self.bytes)
        }
        // Another process may use it then, too.
        await eventually { (try? DirectoryLock(directory: directory.path, in: SystemFileSystem())) != nil }
        let inspector = try CacheInspector(directory: directory.path)
        #expect(try inspector.entries().map(\.storedBytes) == [100_000], "what was noted is recorded")
    }

    @Test func nothingIsWrittenAfterTheEnd() async throws {
        let mayAnswer = Happening()
        let origin = ScriptedOrigin { request, _ in
            await mayAnswer.wait()
            return .media(request, Self.bytes)
        }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let cache = try await MediaCache.open(directory: directory.path, origin: origin)
        let read = Task { try await cache.resource(for: Self.film).read().collect() }
        await origin.wasAsked(1)
        await cache.close()
        mayAnswer.happen()
        // Its bytes, without storing them, or an error: both are right.
        if case .success(let bytes) = await read.result { #expect(bytes == Self.bytes) }
        #expect(DiskUse.mediaFiles(of: directory.path).isEmpty)
    }

    // MARK: - Partitions

    @Test func partitionsShareNothingAndAreRemovedAsAWhole() async throws {
        let origin = ScriptedOrigin { request, _ in
            let seed: UInt64 = request.fields[.authorization] == "alice" ? 1 : 2
            return .media(request, TestPattern.bytes(in: 0..<50_000, seed: seed), [.eTag: "\"\(seed)\""])
        }
        try await origin.run { cache async throws in
            func bytes(_ user: String, _ partition: String?) async throws -> [UInt8] {
                try await cache.resource(for: Self.film, fields: [.authorization: user], partition: partition).read()
                    .collect()
            }
            #expect(try await bytes("alice", "alice") == TestPattern.bytes(in: 0..<50_000, seed: 1))
            #expect(try await bytes("bob", "bob") == TestPattern.bytes(in: 0..<50_000, seed: 2))
            #expect(try await bytes("bob", nil) == TestPattern.bytes(in: 0..<50_000, seed: 2))
            #expect(origin.requests.count == 3)
            // Credentials change by the hour, users do not.
            #expect(try await bytes("bob", "alice") == TestPattern.bytes(in: 0..<50_000, seed: 1))
            #expect(origin.requests.count == 3)
            let partitions = try await cache.entries().map(\.partition)
            #expect(Set(partitions) == ["alice", "bob", nil])
            let url = try ResourceURL(Self.film)
            #expect(await cache.isCached(url, partition: "alice"))
            let kept = try cache.resource(for: Self.film, partition: "alice")
            try await cache.retain(kept, as: .pinned(until: nil))
            #expect(try await cache.removeAll(partition: "alice") == 50_000)
            #expect(await !cache.isCached(url, partition: "alice"))
            #expect(try await cache.retention(of: kept) == .cached)
            #expect(try await Set(cache.entries().map(\.partition)) == ["bob", nil])
        }
    }

    @Test(arguments: ["", "a b", "zoë\n@%41", "https://origin/film.mp4", "@x"])
    func aPartitionIsNoURLAndNoVariant(name: String) throws {
        let url = try CacheKeyPolicy.url.key(for: ResourceURL(Self.film + "?secret=1"))
        let key = url.inPartition(name)
        #expect(key.partition == name)
        #expect(url.partition == nil)
        #expect(throws: RepriseError.self) { try ResourceURL(key.text) }
        #expect(!key.text.contains("\n"))
        #expect(key.redacted == Self.film)
        let vary = try #require(Vary([.vary: "Accept"]))
        let request = OriginRequest(url: try ResourceURL(Self.film), fields: [.accept: "audio/*"])
        let variant = key.variant(by: vary, for: request)
        #expect(variant.partition == name)
        #expect(variant.primary == key)
    }

    @Test func partitionsHaveVariantsOfTheirOwn() async throws {
        let origin = ScriptedOrigin { request, _ in .media(request, Self.bytes, [.vary: "Accept"]) }
        try await origin.run { cache async throws in
            for partition in ["a", "b"] {
                let film = try cache.resource(for: Self.film, fields: [.accept: "x"], partition: partition)
                _ = try await film.read().drain()
                _ = try await film.read().drain()
            }
            #expect(origin.requests.count == 2)
            #expect(try await cache.removeAll(partition: "a") == 100_000)
            #expect(try await cache.entries().map(\.partition) == ["b"])
        }
    }
}
