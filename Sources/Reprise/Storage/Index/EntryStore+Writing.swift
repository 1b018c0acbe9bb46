import Foundation
import GRDB

/// Recording and removing entries.
extension EntryStore {
    /// Seconds without use after which the next use counts as another play.
    private static let pauseBetweenPlays = 1800

    func noteUse(of key: CacheKey, at time: Double, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE entry SET plays = plays + (?1 - lastUsed > \(Self.pauseBetweenPlays)), lastUsed = ?1
                WHERE keyHash = ?2
                """, arguments: [time, index.name(of: key)])
    }

    func write(_ key: CacheKey, variant: Variant, to database: Database) throws {
        let name = index.name(of: key)
        let fields = RecordCodec.VariantFields(key: key.text, names: variant.vary.names)
        try database.execute(
            sql: "INSERT OR REPLACE INTO selection (keyHash, signpost, record) VALUES (?, ?, ?)",
            arguments: [name, index.name(of: variant.primary), try index.codec.encode(fields, name: name)])
    }

    /// Makes the generations of `key` and its variants permanently stale.
    func invalidate(_ key: CacheKey, in database: Database) throws {
        let rows = try GenerationRow.all(
            database,
            sql: """
                SELECT id, keyHash, record, salt FROM generation WHERE keyHash = ?1 OR keyHash IN (\(Self.variants))
                """, arguments: [index.name(of: key)])
        for row in rows {
            guard var record = index.codec.decode(row) else { continue }
            (record.requestTime, record.responseTime) = (0, 0)
            try database.execute(
                sql: "UPDATE generation SET record = ? WHERE id = ?",
                arguments: [try index.codec.encode(record, name: row.name), record.id])
        }
    }

    /// Saves a generation under `name`, without its chunks, and removes the one that it replaces.
    func save(_ generation: Index.Batch.Generation, name: String, in database: Database) throws {
        let (record, usage) = (generation.record, generation.usage)
        try database.execute(
            sql: """
                INSERT INTO generation (id, keyHash, record, salt, allocated, stored) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    record = excluded.record, allocated = excluded.allocated, stored = excluded.stored
                """,
            arguments: [
                record.id, name, try index.codec.encode(record, name: name), Data(record.salt), usage.allocated,
                usage.stored,
            ])
        try database.execute(
            sql: """
                INSERT INTO entry (keyHash, generation, lastUsed, live, retained) VALUES (?1, ?2, ?3, ?4, 0)
                ON CONFLICT (keyHash) DO UPDATE SET generation = excluded.generation, live = excluded.live
                """,
            arguments: [name, record.id, Double(record.responseTime), record.isLive ? 1 : 0])
        if let replaced = generation.replaced { try delete(generation: replaced, from: database) }
    }

    /// Saves the chunks of blocks; removes the blocks that have none.
    func save(
        _ blocks: [(block: Int64, chunks: [Chunk])], ofGeneration id: Int64, in database: Database
    ) throws {
        for (block, chunks) in blocks {
            if chunks.isEmpty {
                try database.execute(
                    sql: "DELETE FROM chunk WHERE generation = ? AND block = ?", arguments: [id, block])
            } else {
                try ChunkRow(generation: id, block: block, chunks: chunks).save(in: database)
            }
        }
    }

    // MARK: - Removal

    /// Removes one generation that another has replaced; returns its usage.
    func remove(generation id: Int64) async throws(RepriseError) -> Usage {
        let (usage, names) = try await index.write { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT allocated, stored FROM generation WHERE id = ?", arguments: [id])
            let names = try String.fetchAll(
                database, sql: "SELECT keyHash FROM entry WHERE generation = ?", arguments: [id])
            try delete(generation: id, from: database)
            try database.execute(sql: "DELETE FROM entry WHERE generation = ?", arguments: [id])
            return (row.map { Usage($0) } ?? Usage(), names)
        }
        census.note(names.map { EntryCensus.Change(name: $0, isComplete: nil) })
        return usage
    }

    /// Removes the entry `name` and all its generations; returns these, and whether there was an entry.
    func remove(_ name: String, in database: Database) throws -> (generations: [Index.Removed], hadEntry: Bool) {
        let rows = try GenerationRow.all(
            database, sql: "SELECT id, keyHash, allocated, stored FROM generation WHERE keyHash = ?", arguments: [name])
        for row in rows { try delete(generation: row.id, from: database) }
        try database.execute(sql: "DELETE FROM entry WHERE keyHash = ?", arguments: [name])
        return (rows.map { Index.Removed(name: name, id: $0.id, usage: $0.usage) }, database.changesCount > 0)
    }

    private func delete(generation: Int64, from database: Database) throws {
        try database.execute(sql: "DELETE FROM chunk WHERE generation = ?", arguments: [generation])
        try database.execute(sql: "DELETE FROM generation WHERE id = ?", arguments: [generation])
    }
}
