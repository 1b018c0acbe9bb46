import Foundation
import GRDB

extension Index {
    /// SQL for whether `entry` is retained; retaining a URL retains all variants of its response.
    static let isHeld = """
        EXISTS (SELECT 1 FROM retention WHERE retention.keyHash = entry.keyHash OR retention.keyHash =
            (SELECT signpost FROM selection WHERE selection.keyHash = entry.keyHash))
        """

    /// Sets or removes the retention of `key`.
    func retain(_ retention: Retention, key: CacheKey, url: ResourceURL) async throws(RepriseError) {
        let name = name(of: key)
        try await write { database in
            if let kind = retention.kind {
                let target = RecordCodec.Target(key: key.text, url: url.description)
                try database.execute(
                    sql: "INSERT OR REPLACE INTO retention VALUES (?, ?, ?, ?)",
                    arguments: [name, kind, retention.until, try codec.encode(target, name: name)])
            } else {
                try database.execute(sql: "DELETE FROM retention WHERE keyHash = ?", arguments: [name])
            }
            try database.execute(
                sql: """
                    UPDATE entry SET retained = \(Self.isHeld) WHERE keyHash = ?1
                    OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                    """, arguments: [name])
        }
    }

    /// The retention of `key`.
    func retention(of key: CacheKey) throws(RepriseError) -> Retention {
        let name = name(of: key)
        return try read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT kind, until FROM retention WHERE keyHash = ?", arguments: [name])
            return Retention(kind: row?.value("kind"), until: row?.value("until"))
        }
    }

    /// Marks entries as evictable that are no longer retained.
    static func releaseUnheld(in database: Database) throws {
        try database.execute(sql: "UPDATE entry SET retained = 0 WHERE retained = 1 AND NOT \(isHeld)")
    }

    /// Ends retentions that expired before `date`; false if there was none.
    func releaseExpired(before date: Double) async throws(RepriseError) -> Bool {
        let isDue = try read { database in
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM retention WHERE until <= ?)", arguments: [date])
        }
        guard isDue == true else { return false }
        try await write { database in
            try database.execute(sql: "DELETE FROM retention WHERE until <= ?", arguments: [date])
            try Self.releaseUnheld(in: database)
        }
        return true
    }

    /// A row of the table `hold`: a retained key and its retention.
    struct RetentionRow: Sendable {
        let key: CacheKey
        let url: ResourceURL
        let retention: Retention
    }

    /// All retained keys.
    func holds() throws(RepriseError) -> [RetentionRow] {
        try read { try holds(in: $0) }
    }

    private func holds(in database: Database) throws -> [RetentionRow] {
        try Row.fetchAll(database, sql: "SELECT keyHash, kind, until, target FROM retention").compactMap { row in
            guard let name: String = row.value("keyHash"), let data: Data = row.value("target"),
                let target = codec.decodeTarget(data, name: name), let url = try? ResourceURL(target.url)
            else { return nil }
            return RetentionRow(
                key: CacheKey(target.key), url: url,
                retention: Retention(kind: row.value("kind"), until: row.value("until")))
        }
    }

    /// Retained keys of which nothing is stored.
    func awaitedRetentions() throws(RepriseError) -> [RetentionRow] {
        try read { database in
            let present = try String.fetchSet(
                database,
                sql: """
                    SELECT keyHash FROM entry
                    UNION SELECT signpost FROM selection JOIN entry ON entry.keyHash = selection.keyHash
                    """)
            return try holds(in: database).filter { !present.contains(name(of: $0.key)) }
        }
    }

    /// The downloads that are incomplete.
    func unfinishedDownloads() throws(RepriseError) -> [RetentionRow] {
        try read { database in
            try holds(in: database).filter { hold in
                try hold.retention == .download && !isWhole(name(of: hold.key), in: database)
            }
        }
    }

    /// Whether every entry under `name`, or each of its variants, is complete.
    private func isWhole(_ name: String, in database: Database) throws -> Bool {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT generation.id, generation.keyHash, record, salt FROM entry
                JOIN generation ON generation.id = entry.generation
                WHERE entry.keyHash = ?1 OR entry.keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                """, arguments: [name])
        return try !rows.isEmpty
            && rows.allSatisfy { row in
                guard let name: String = row.value("keyHash"), let record = record(row, name: name),
                    let length = record.completeLength
                else { return false }
                let chunks = try chunks(database, generation: record.id)
                return ChunkLedger(blocks: chunks).ranges.contains(0..<length)
            }
    }

    /// Bytes that the entry of `key` and its variants occupy on disk.
    func allocated(of key: CacheKey) throws(RepriseError) -> Int64 {
        let name = name(of: key)
        return try read { database in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT SUM(allocated) FROM generation WHERE keyHash = ?1
                    OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                    """, arguments: [name]) ?? 0
        }
    }

    /// Disk usage of all retained entries.
    func retainedUsage() throws(RepriseError) -> Usage {
        try read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT TOTAL(allocated) AS allocated, TOTAL(stored) AS stored FROM generation
                    WHERE keyHash IN (SELECT keyHash FROM entry WHERE retained = 1)
                    """
            ).map { row in
                func size(_ column: String) -> Int64 {
                    Int64(min(max(0, row.value(column) ?? 0.0), Double(Usage.most)))
                }
                return Usage(allocated: size("allocated"), stored: size("stored"))
            } ?? Usage()
        }
    }
}
