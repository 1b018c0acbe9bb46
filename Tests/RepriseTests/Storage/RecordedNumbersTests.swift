import Foundation
import GRDB
import HTTPSemantics
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Wrong numbers and records in the index are corrected, and cause no overflow.
@Suite(.limit(minutes: 2)) struct RecordedNumbersTests {
    /// Fetches two files, closes the cache, and changes its index with `sql`.
    private static func run(_ sql: String, _ body: (Bench) async throws -> Void) async throws {
        try await Bench.run { bench async throws in
            for path in ["/a", "/b"] {
                bench.publish(path, length: 100_000)
                _ = try await bench.bytes(path)
            }
            await bench.cache.close()
            let queue = try DatabaseQueue(path: bench.directory.path(of: "catalogue.sqlite"))
            try await queue.write { try $0.execute(sql: sql) }
            try queue.close()
            try await body(bench)
        }
    }

    private static let wrongSums = [
        "UPDATE usage SET allocated = 7, stored = 1", "UPDATE usage SET allocated = 9e30, stored = -4",
        "DELETE FROM usage", "INSERT INTO usage VALUES (5000000, 5000000)",
    ]

    @Test(arguments: wrongSums) func sumsAreMadeAnewAfterAnUncleanStop(sql: String) async throws {
        try await Self.run(sql + "; UPDATE state SET value = 0 WHERE name = 'clean'") { bench async throws in
            try await bench.reopened { cache async throws in
                #expect(cache.storedBytes == 200_000)
                #expect(cache.allocatedBytes.media == DiskUse.bytes(under: bench.directory.path + "/media"))
            }
        }
    }

    @Test("a long index is not summed before it is used, but soon afterwards", arguments: wrongSums)
    func sumsOfALongIndex(sql: String) async throws {
        // Nine megabytes that no query reads.
        let padding = "CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(9000000));"
        try await Self.run(padding + sql + "; UPDATE state SET value = 0 WHERE name = 'clean'") { bench async throws in
            try await bench.reopened { cache async throws in
                await cache.settle()
                #expect(cache.storedBytes == 200_000)
                #expect(cache.allocatedBytes.media == DiskUse.bytes(under: bench.directory.path + "/media"))
                #expect(try #require(cache.engine.store).index.entries.usage().stored == 200_000)
            }
        }
    }

    @Test("the sums of a long index are corrected before the media are looked through, which may fail")
    func sumsComeFirst() async throws {
        let sql = """
            CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(9000000));
            UPDATE usage SET allocated = 7, stored = 1; UPDATE state SET value = 0 WHERE name = 'clean'
            """
        try await Self.run(sql) { bench async throws in
            // Where a folder should be: the first one that is looked through.
            let folder = bench.directory.path(of: "media/00")
            try? FileManager.default.removeItem(atPath: folder)
            try Data("no folder".utf8).write(to: URL(fileURLWithPath: folder))
            try await bench.reopened { cache async throws in
                await cache.settle()
                #expect(try #require(cache.engine.store).index.entries.usage().stored == 200_000)
            }
        }
    }

    @Test(arguments: wrongSums) func sumsAreMadeAnewByVerify(sql: String) async throws {
        try await Self.run(sql) { bench async throws in
            try await bench.reopened { cache async throws in
                #expect(try await cache.verify().isSound)
                let index = try #require(cache.engine.store).index
                #expect(try index.entries.usage().stored == 200_000)
                #expect(cache.storedBytes == 200_000)
            }
            try await bench.reopened { cache async throws in
                #expect(cache.storedBytes == 200_000)
                #expect(cache.allocatedBytes.media == DiskUse.bytes(under: bench.directory.path + "/media"))
            }
        }
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "'many'", "1e300"])
    func aSizeThatCannotBeOverflowsNothing(size: String) async throws {
        try await Self.run(
            """
            UPDATE generation SET allocated = \(size), stored = \(size);
            UPDATE state SET value = 0 WHERE name = 'clean';
            INSERT OR REPLACE INTO total VALUES ('bytesFromStore', \(size));
            INSERT OR REPLACE INTO total VALUES ('bytesFromOrigin', \(size));
            UPDATE entry SET retained = 1;
            """
        ) { bench async throws in
            let inspector = try CacheInspector(directory: bench.directory.path)
            #expect(try inspector.statistics().bytesServed >= 0)
            try await bench.reopened(configure: { $0.limit = 1_000_000 }) { cache async throws in
                let index = try #require(cache.engine.store).index
                #expect((0...Usage.most).contains(try index.retentions.retainedUsage().allocated))
                try await index.database.write { try $0.execute(sql: "UPDATE entry SET retained = 0") }
                let candidates = try index.entries.candidates(by: .leastRecentlyUsed, limit: 9, offset: 0)
                #expect(candidates.count == 2)
                #expect(candidates.allSatisfy { (0...Usage.most).contains($0.allocated) })
                await cache.prune(toSize: 0)
                #expect(try await cache.resource(for: bench.origin.url("/a")).read().drain() == 100_000)
                #expect(cache.storedBytes == 100_000)
            }
        }
    }

    @Test func verifyRemovesRecordsThatNobodyCanUse() async throws {
        let sql = """
            UPDATE generation SET record = x'00' WHERE id = (SELECT MAX(id) FROM generation);
            DELETE FROM entry WHERE generation = (SELECT MIN(id) FROM generation);
            """
        try await Self.run(sql) { bench async throws in
            try await bench.reopened { cache async throws in
                let report = try await cache.verify()
                #expect(report.entries == 0)
                #expect(report.damagedRecords == 2)
                #expect(!report.isSound)
                #expect(cache.storedBytes == 0)
                #expect(DiskUse.mediaFiles(of: bench.directory.path).isEmpty)
                #expect(try await cache.verify().isSound)
            }
        }
    }

    @Test func aSuspectIndexOfANewerVersionIsLeftAlone() async throws {
        let version = IndexDatabase.formatVersion + 1
        let sql = "PRAGMA user_version = \(version); PRAGMA application_id = \(0x5265_0000 + version)"
        try await Self.run(sql) { bench async throws in
            try Data().write(to: URL(fileURLWithPath: bench.directory.path(of: "index.suspect")))
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(directory: bench.directory.path, origin: bench.client)
            }
            #expect(error?.message.contains("newer") == true)
            #expect(!FileManager.default.fileExists(atPath: bench.directory.path(of: "catalogue.damaged")))
        }
    }
}
