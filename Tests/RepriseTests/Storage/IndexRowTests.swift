import ByteRanges
import Foundation
import GRDB
import TestLimits
import Testing

@testable import Reprise

/// Rows of a damaged file: SQLite stores any type in any column.
@Suite(.limit(minutes: 1)) struct IndexRowTests {
    private static func rows<T: IndexRow>(_ type: T.Type, _ sql: String) throws -> [T] {
        try DatabaseQueue().read { try T.all($0, sql: sql) }
    }

    @Test func aRowWithoutItsKeyIsLeftOutAndTheOthersStay() throws {
        let rows = try Self.rows(
            GenerationRow.self,
            """
            SELECT 1 AS id, 'one' AS keyHash UNION ALL SELECT 2, x'ff' UNION ALL SELECT 'three', 'three'
            UNION ALL SELECT 4, 'four'
            """)
        #expect(rows.map(\.id) == [1, 4])
        #expect(rows.map(\.name) == ["one", "four"])
    }

    @Test func columnsThatCannotBeReadAreEmpty() throws {
        let row = try #require(
            try Self.rows(GenerationRow.self, "SELECT 1 AS id, 'one' AS keyHash, 5 AS record, NULL AS salt").first)
        #expect(row.record.isEmpty)
        #expect(row.salt.isEmpty)
        #expect(row.usage == Usage())
        #expect(RecordCodec(vault: nil).decode(row) == nil)
    }

    @Test func sizesAreBounded() throws {
        let row = try #require(
            try Self.rows(
                GenerationRow.self, "SELECT 1 AS id, 'one' AS keyHash, -5 AS allocated, \(Int64.max) AS stored"
            ).first)
        #expect(row.usage == Usage(allocated: 0, stored: Usage.most))
        let totals = try Self.rows(TotalRow.self, "SELECT 'a' AS name, -1 AS value UNION ALL SELECT 'b', \(Int64.max)")
        #expect(totals.map(\.value) == [0, 1 << 60])
    }

    @Test func anEntryWithoutAReadableGenerationIsStillAnEntry() throws {
        let row = try #require(
            try Self.rows(EntryRow.self, "SELECT 'one' AS keyHash, NULL AS id, 7.5 AS lastUsed, 2 AS kind").first)
        #expect(row.generation == nil)
        #expect(row.lastUsed == 7.5)
        #expect(row.retention == .download)
        #expect(try Self.rows(EntryRow.self, "SELECT NULL AS keyHash, 1 AS id").isEmpty)
    }

    @Test func aDownloadWhosePolicyCannotBeReadMayUseAnyNetwork() throws {
        let rows = try Self.rows(
            DownloadRow.self,
            """
            SELECT 'one' AS keyHash, 2 AS kind, NULL AS until, x'00' AS target, 1 AS paused, 2 AS policy
            UNION ALL SELECT 'two', 2, NULL, x'00', 'yes', 99 UNION ALL SELECT 'three', 2, NULL, x'00', x'01', -1
            """)
        #expect(rows.map(\.networkPolicy) == [.inexpensiveAndUnconstrained, .any, .any])
        #expect(rows.map(\.isPaused) == [true, false, false])
        #expect(rows.allSatisfy { $0.failure == nil })
    }

    @Test func savedRowsAreReadAgain() throws {
        let chunk = Chunk(start: 3 << 20, length: 65_536, checksum: 7)
        try DatabaseQueue().write { database in
            try database.execute(
                sql: """
                    CREATE TABLE chunk (generation, block, chunks, PRIMARY KEY (generation, block));
                    CREATE TABLE retention (keyHash PRIMARY KEY, kind, until, target, position, amount);
                    CREATE TABLE part (keyHash, holder, bytes, ranges, PRIMARY KEY (keyHash, holder));
                    CREATE TABLE total (name PRIMARY KEY, value);
                    """)
            for _ in 0..<2 { try ChunkRow(generation: 9, block: 3, chunks: [chunk]).save(in: database) }
            let chunks = try ChunkRow.all(database, sql: "SELECT * FROM chunk")
            #expect(chunks.map(\.block) == [3])
            #expect(chunks[0].unpacked(isSealed: false) == [chunk])

            for value in [1, 41] as [Int64] { try TotalRow(name: "hits", value: value).add(in: database) }
            #expect(try TotalRow.all(database, sql: "SELECT * FROM total").map(\.value) == [42])

            let codec = RecordCodec(vault: nil)
            let url = try ResourceURL("http://host/a")
            func save(_ retention: Retention) throws -> [RetentionRow] {
                let retained = RetentionStore.Retained(key: CacheKey("a"), url: url, retention: retention)
                try RetentionRow(retained, name: "a", codec: codec).save(in: database)
                return try RetentionRow.all(database, sql: "SELECT * FROM retention")
            }
            let end = Date(timeIntervalSince1970: 5)
            #expect(try save(.pinned(until: end)).map(\.retention) == [.pinned(until: end)])
            let target = try #require(try save(.download).first?.target)
            #expect(codec.decodeTarget(target, name: "a")?.url == url.description)
            #expect(try save(.first(.seconds(2.5))).map(\.retention) == [.first(.seconds(2.5))])
            #expect(try save(.cached).isEmpty)

            let spans: ByteRangeSet = [0..<7, 9..<1 << 40]
            for ranges in [.whole, spans] { try PartRow.save(ranges, of: "a", for: "b", in: database) }
            #expect(try PartRow.all(database, sql: "SELECT * FROM part").map(\.ranges) == [spans])
            let damaged = "SELECT x'0102' AS ranges UNION ALL SELECT 7 UNION ALL SELECT NULL"
            #expect(try PartRow.all(database, sql: damaged).map(\.ranges) == [[], [], []])
        }
    }
}
