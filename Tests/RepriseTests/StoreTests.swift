import Foundation
import GRDB
import HTTPSemantics
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// What survives, what is evicted, and what happens when the disk has changed.
@Suite(.limit(minutes: 2)) struct StoreTests {
    private static func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

    @Test func anotherProcessLifeFetchesNothingAgain() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 3_000_000)
            _ = try await bench.bytes("/a", .bounded(1000..<2_000_000))
            try await bench.reopened { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read(.bounded(1000..<2_000_000)).collect() == Self.pattern(1000..<2_000_000))
                #expect(bench.origin.snapshot.requestCount == 1)
                #expect(cache.storedBytes == 1_999_000)
                #expect(try await resource.read().collect() == Self.pattern(0..<3_000_000))
                #expect(bench.origin.snapshot.bytesSentMoreThanOnce == 0)
            }
        }
    }

    private static func mediaFiles(_ bench: Bench) -> [String] {
        let root = bench.directory.path + "/media"
        return (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? [])
            .filter { $0.contains("-") }.map { root + "/" + $0 }
    }

    @Test func aCompleteFileIsTheMediaFile() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 100_000)
            _ = try await bench.bytes("/a")
            let file = try #require(Self.mediaFiles(bench).first)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(Self.pattern(0..<100_000)))
        }
    }

    @Test func aFlippedBitIsFoundAndFetchedAgain() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let file = try #require(Self.mediaFiles(bench).first)
            let handle = try #require(FileHandle(forUpdatingAtPath: file))
            try handle.seek(toOffset: 70_000)
            try handle.write(contentsOf: Data([Self.pattern(70_000..<70_001)[0] ^ 1]))
            try handle.close()
            try await bench.reopened { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == Self.pattern(0..<300_000))
                #expect(bench.origin.snapshot["/a"].requests.last?.range == "bytes=65536-131071")
            }
        }
    }

    @Test func aFileShorterThanItsRecordsHasHoles() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let file = try #require(Self.mediaFiles(bench).first)
            #expect(truncate(file, 100_000) == 0)
            try await bench.reopened { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == Self.pattern(0..<300_000))
            }
        }
    }

    @Test func theLeastRecentlyUsedEntryGoesFirst() async throws {
        try await Bench.run(configure: { $0.limit = 1_000_000 }) { bench async throws in
            for name in ["/a", "/b", "/c"] { bench.publish(name, length: 400_000) }
            _ = try await bench.bytes("/a")
            _ = try await bench.bytes("/b")
            _ = try await bench.bytes("/a", .bounded(0..<10))
            _ = try await bench.bytes("/c")
            let urls = try await bench.cache.entries().map(\.url.lastPathComponent)
            #expect(Set(urls) == ["a", "c"])
            #expect(bench.cache.storedBytes == 800_000)
            #expect(Self.mediaFiles(bench).count == 2)
        }
    }

    @Test func aFileLargerThanTheLimitStillPlays() async throws {
        try await Bench.run(configure: { $0.limit = 100_000 }) { bench async throws in
            bench.publish("/big", length: 500_000)
            bench.publish("/unknown", length: 500_000) { $0.framing = .chunked }
            #expect(try await bench.bytes("/big") == Self.pattern(0..<500_000))
            #expect(bench.cache.storedBytes == 0)
            #expect(bench.origin.snapshot["/big"].requestCount == 1)
            #expect(try await bench.bytes("/unknown") == Self.pattern(0..<500_000))
            #expect(bench.cache.storedBytes <= 100_000)
        }
    }

    @Test func withoutADirectoryEverythingStillStreams() async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            bench.publish("/a", length: 500_000)
            #expect(try await bench.bytes("/a", .bounded(10..<400_000)) == Self.pattern(10..<400_000))
            #expect(try await bench.bytes("/a", .suffix(5)) == Self.pattern(499_995..<500_000))
        }
    }

    @Test func aNewerFormatIsRefusedAndLeftAlone() async throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.path(of: "catalogue.sqlite"))
        // "Re" and the format, twice: one flipped bit makes a damaged file, not a newer format.
        try await queue.write { database in
            try database.execute(sql: "PRAGMA user_version = 99; PRAGMA application_id = \(0x5265_0000 + 99)")
        }
        try queue.close()
        let error = await #expect(throws: RepriseError.self) {
            try await MediaCache.open(directory: directory.path, origin: NoOrigin())
        }
        #expect(error?.code == .storageUnavailable)
        #expect(error?.description.contains("newer") == true)
    }

    private struct NoOrigin: Origin {
        func send(_ request: OriginRequest) async throws -> OriginResponse {
            throw RepriseError(.originUnreachable, "There is no origin.")
        }
    }

    @Test func aRemovedEntryIsGoneAndAReaderOfItEndsCleanly() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            _ = try await resource.read(.bounded(0..<100_000)).collect()
            let read = try await resource.read()
            #expect(try await bench.cache.remove(resource.key) == 100_000)
            #expect(Self.mediaFiles(bench).isEmpty)
            #expect(bench.cache.storedBytes == 0)
            await #expect(throws: RepriseError.self) { try await read.collect() }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<300_000))
        }
    }

    @Test func theIndexCostsLittle() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 64 << 20)
            _ = try await bench.cache.resource(for: bench.origin.url("/a")).read().drain()
            await bench.cache.close()
            let path = bench.directory.path + "/catalogue.sqlite"
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? .max
            #expect(Double(size) / Double(64 << 20) < 0.015)
        }
    }
}
