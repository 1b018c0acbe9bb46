import Foundation
import GRDB

extension Index {
    /// Everything that changed since the last batch, written in one transaction.
    struct Batch: Sendable {
        struct Generation: Sendable {
            var record: GenerationRecord
            var usage: Usage
            var blocks: [(block: Int64, chunks: [Chunk])]
        }

        var generations: [Generation] = []
        var lastUsed: [CacheKey: Double] = [:]
        var totals: [String: Int64] = [:]
        /// Variants by key.
        var variants: [CacheKey: Variant] = [:]
        /// Keys whose responses are stale for good.
        var invalidated: Set<CacheKey> = []

        var isEmpty: Bool {
            generations.isEmpty && lastUsed.isEmpty && totals.isEmpty && variants.isEmpty && invalidated.isEmpty
        }
    }

    /// Writes `batch`; `atEnd` runs inside the transaction, after its last change.
    func write(_ batch: Batch, atEnd: @escaping @Sendable () -> Void = {}) async throws(RepriseError) {
        try await write { database in
            // Before the generations: those stored after an invalidation are not affected by it.
            for key in batch.invalidated { try invalidate(key, in: database) }
            for (key, variant) in batch.variants { try write(key, variant, to: database) }
            for generation in batch.generations { try write(generation, to: database) }
            for (key, time) in batch.lastUsed {
                try database.execute(
                    sql: "UPDATE entry SET lastUsed = ? WHERE keyHash = ?", arguments: [time, name(of: key)])
            }
            for (name, value) in batch.totals {
                try database.execute(
                    sql: """
                        INSERT INTO total VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                        """, arguments: [name, value])
            }
            atEnd()
        }
    }

    /// A generation whose record was removed.
    struct Removed: Sendable {
        let name: String
        let id: Int64
        let usage: Usage
    }

    /// The result of a removal.
    struct Removal: Sendable {
        var generations: [Removed] = []
        /// Names that stay because they are retained.
        var kept: Set<String> = []
    }

    /// Removes the entries with these names and all their generations, in one transaction; retained ones only if
    /// `force` is true.
    func remove(_ names: [String], force: Bool) async throws(RepriseError) -> Removal {
        try await write { database in
            var removal = Removal()
            for name in names {
                // It may have been retained after it was chosen for eviction.
                if !force, try isHeld(name, in: database) {
                    removal.kept.insert(name)
                    continue
                }
                let rows = try Row.fetchAll(
                    database, sql: "SELECT id, allocated, stored FROM generation WHERE keyHash = ?", arguments: [name])
                for row in rows {
                    guard let id: Int64 = row.value("id") else { continue }
                    try delete(generation: id, from: database)
                    removal.generations.append(Removed(name: name, id: id, usage: Self.usage(row)))
                }
                try database.execute(sql: "DELETE FROM entry WHERE keyHash = ?", arguments: [name])
                if force { try releasePrimary(of: name, in: database) }
                try database.execute(sql: "DELETE FROM selection WHERE keyHash = ?", arguments: [name])
            }
            return removal
        }
    }

    /// Ends the retention of a URL when its last variant is removed explicitly.
    private func releasePrimary(of name: String, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM retention WHERE keyHash = (SELECT signpost FROM selection WHERE keyHash = ?)
                AND NOT EXISTS (SELECT 1 FROM selection JOIN entry ON entry.keyHash = selection.keyHash
                    WHERE selection.signpost = retention.keyHash)
                """, arguments: [name])
    }

    private func isHeld(_ name: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT retained FROM entry WHERE keyHash = ?", arguments: [name]) ?? false
    }

    /// Those of `names` that are retained.
    func held(_ names: [String]) throws(RepriseError) -> Set<String> {
        try read { database in Set(try names.filter { try isHeld($0, in: database) }) }
    }

    /// Removes one generation that another has replaced; returns its usage.
    func remove(generation: Int64) async throws(RepriseError) -> Usage {
        try await write { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT allocated, stored FROM generation WHERE id = ?", arguments: [generation])
            try delete(generation: generation, from: database)
            try database.execute(sql: "DELETE FROM entry WHERE generation = ?", arguments: [generation])
            return row.map(Self.usage) ?? Usage()
        }
    }

    private func delete(generation: Int64, from database: Database) throws {
        try database.execute(sql: "DELETE FROM chunk WHERE generation = ?", arguments: [generation])
        try database.execute(sql: "DELETE FROM generation WHERE id = ?", arguments: [generation])
    }

    private func write(_ generation: Batch.Generation, to database: Database) throws {
        let record = generation.record
        let name = name(of: record.key)
        try database.execute(
            sql: """
                INSERT INTO generation (id, keyHash, record, salt, allocated, stored) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    record = excluded.record, allocated = excluded.allocated, stored = excluded.stored
                """,
            arguments: [
                record.id, name, try codec.encode(record, name: name), Data(record.salt),
                generation.usage.allocated, generation.usage.stored,
            ])
        try database.execute(
            sql: """
                INSERT INTO entry (keyHash, generation, lastUsed, retained)
                VALUES (?1, ?2, ?3, EXISTS (SELECT 1 FROM retention WHERE keyHash = ?1
                    OR keyHash = (SELECT signpost FROM selection WHERE selection.keyHash = ?1)))
                ON CONFLICT (keyHash) DO UPDATE SET generation = excluded.generation
                """, arguments: [name, record.id, Double(record.responseTime)])
        for (block, chunks) in generation.blocks {
            if chunks.isEmpty {
                try database.execute(
                    sql: "DELETE FROM chunk WHERE generation = ? AND block = ?", arguments: [record.id, block])
            } else {
                let arguments: StatementArguments = [record.id, block, Data(chunks.packed)]
                try database.execute(sql: "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?)", arguments: arguments)
            }
        }
    }

    /// Merges the log into the database file; the last write before another process may open the cache.
    func checkpoint() async throws(RepriseError) {
        do {
            _ = try await database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        } catch {
            throw RepriseError(.storageUnavailable, "The index cannot be written.", cause: error)
        }
    }

    /// Closes the files; afterwards this process no longer uses the directory.
    func close() throws(RepriseError) {
        do { try database.close() } catch {
            throw RepriseError(.storageUnavailable, "The index cannot be closed.", cause: error)
        }
    }
}
