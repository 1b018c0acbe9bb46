// Imports Reprise alone: what its declarations mention must come with it (`MemberImportVisibility`).
import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The calls that a Swift programmer tries first.
@Suite(.limit(minutes: 2)) struct ExpectedCallsTests {
    private static let length = 300_000

    private static func withFilm(
        _ body: (MediaCache, MediaResource, URL) async throws -> Void
    ) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: Int64(length))
            let url = try #require(URL(string: bench.origin.url("/film")))
            try await body(bench.cache, try bench.cache.resource(for: url), url)
        }
    }

    @Test func rangesOfSwiftAreRead() async throws {
        try await Self.withFilm { _, film, _ in
            let all = try await film.data()
            #expect(all.count == Self.length)
            #expect(try await film.read(0..<1000).collect() == [UInt8](all[0..<1000]))
            #expect(try await film.read(1000...1999).collect() == [UInt8](all[1000...1999]))
            #expect(try await film.read(299_000...).collect() == [UInt8](all[299_000...]))
            #expect(try await film.read(299_000...Int64.max).collect() == [UInt8](all[299_000...]))
            #expect(try await film.data(.suffix(10)) == all.suffix(10))
            await #expect { _ = try await film.read(5..<5) } throws: {
                ($0 as? RepriseError)?.code == .invalidArgument
            }
        }
    }

    @Test func aFileIsCachedOnceAllOfItIsStoredAndThenHasAURL() async throws {
        try await Self.withFilm { cache, film, url in
            _ = try await film.read(0..<1000).collect()
            #expect(await !film.isCached)
            #expect(await cache.fileURL(for: url) == nil)
            let data = try await film.data()
            #expect(await film.isCached)
            #expect(await cache.isCached(url))
            let file = try #require(await cache.fileURL(for: url))
            #expect(try Data(contentsOf: file) == data)
            let copy = file.deletingLastPathComponent().appendingPathComponent("copy")
            try await film.export(to: copy)
            #expect(try Data(contentsOf: copy) == data)
            await #expect { try await film.export(to: url) } throws: {
                ($0 as? RepriseError)?.code == .invalidArgument
            }
        }
    }

    @Test func anEncryptedFileHasNoURL() async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        try await Bench.run(configure: { $0.encryption = CacheEncryption(key: key) }) { bench async throws in
            bench.publish("/film", length: 1000)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            _ = try await film.data()
            #expect(await film.isCached)
            #expect(await film.fileURL() == nil)
        }
    }

    @Test func aURLAResourceAndEverythingCanBeRemoved() async throws {
        try await Self.withFilm { cache, film, url in
            for remove in [
                { try await cache.remove(url) }, { try await cache.remove(film) }, { try await cache.removeAll() },
            ] {
                _ = try await film.data()
                try await cache.retain(film, as: .pinned)
                #expect(try await remove() == Int64(Self.length))
                #expect(await !cache.isCached(url))
                #expect(try await cache.entries().isEmpty)
                #expect(cache.storedBytes == 0)
            }
            let other = try cache.resource(for: url, partition: "ann")
            _ = try await other.data()
            #expect(try await cache.remove(url) == 0, "a partition is not meant")
            #expect(try await cache.removeAll() == Int64(Self.length))
        }
    }

    @Test func urlsThatCannotBeFetchedAreRefused() async throws {
        try await Self.withFilm { cache, _, _ in
            let file = URL(fileURLWithPath: "/film")
            #expect { try cache.resource(for: file) } throws: { ($0 as? RepriseError)?.code == .invalidURL }
            await #expect { try await cache.remove(file) } throws: { ($0 as? RepriseError)?.code == .invalidURL }
            #expect(await !cache.isCached(file))
            #expect(await cache.fileURL(for: file) == nil)
        }
    }

    @Test func theLimitCanBeChangedWhileTheCacheIsInUse() async throws {
        try await Bench.run(configure: { $0 = MediaCache.Configuration(limit: 100_000_000) }) { bench async throws in
            #expect(bench.cache.limit == 100_000_000)
            for name in ["/a", "/b", "/c"] {
                bench.publish(name, length: 4_000_000)
                _ = try await bench.bytes(name)
            }
            try await bench.cache.setLimit(9_000_000)
            #expect(bench.cache.limit == 9_000_000)
            #expect(bench.cache.allocatedBytes.media <= 9_000_000)
            #expect(try await bench.cache.entries().map(\.url.target) == ["/c", "/b"])
            _ = try await bench.bytes("/a")
            #expect(bench.cache.allocatedBytes.media <= 9_000_000)
            try await bench.cache.setLimit(-1)
            #expect(bench.cache.limit == 0)
        }
    }

    @Test func errorsTellFoundationWhatHappened() throws {
        let error = RepriseError(.storageFull, "There is no room.", cause: URLError(.badURL))
        #expect((error as any Error).localizedDescription == "There is no room.")
        let bridged = error as NSError
        #expect(bridged.domain == "Reprise.RepriseError")
        #expect(bridged.code == 17)
        #expect(bridged.localizedDescription == "There is no room.")
        #expect((bridged.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == URLError.Code.badURL.rawValue)
        #expect(bridged.userInfo["RepriseErrorCode"] as? String == "storageFull")
    }
}
