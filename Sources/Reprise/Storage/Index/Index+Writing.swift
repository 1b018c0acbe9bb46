import Foundation
import GRDB

extension Index {
    /// Everything that changed since the last batch, written in one transaction.
    struct Batch: Sendable {
        struct Generation: Sendable {
            var record: GenerationRecord
            var usage: Usage
            var blocks: [(block: Int64, chunks: [Chunk])]
            /// The generation whose record goes in the same transaction.
            var replaced: Int64?
        }

        var generations: [Generation] = []
        var lastUsed: [CacheKey: Double] = [:]
        var totals: [String: Int64] = [:]
        /// What was served and fetched since the last batch.
        var traffic: DailyTraffic?
        /// Variants by key.
        var variants: [CacheKey: Variant] = [:]
        /// Keys whose responses are stale for good.
        var invalidated: Set<CacheKey> = []
        /// Keys of files that belong to a title.
        var members: [TitleReference: Set<CacheKey>] = [:]
        /// When hosts were seen to splice, by name.
        var splicing: [String: Int64] = [:]

        var isEmpty: Bool {
            generations.isEmpty && lastUsed.isEmpty && totals.isEmpty && variants.isEmpty && invalidated.isEmpty
                && members.isEmpty && splicing.isEmpty
        }
    }

    /// Writes `batch`; `atEnd` runs inside the transaction, after its last change.
    ///
    /// Returns, by the names of tags with a limit, how many bytes more their titles occupy now, at most.
    @discardableResult
    func write(_ batch: Batch, atEnd: @escaping @Sendable () -> Void = {}) async throws(RepriseError) -> [String: Int64]
    {
        let grown = try await write { database in
            let isLimited = try hasLimitedTags(in: database)
            var grown: [CacheKey: Int64] = [:]
            // Before the generations: those stored after an invalidation are not affected by it.
            for key in batch.invalidated { try invalidate(key, in: database) }
            for (key, variant) in batch.variants { try write(key, variant: variant, to: database) }
            for generation in batch.generations {
                let before = isLimited ? try allocated(byGeneration: generation.record.id, in: database) : 0
                let more = try write(generation, to: database) ?? max(0, generation.usage.allocated - before)
                grown[generation.record.key] = more
            }
            for (title, keys) in batch.members where try add(keys, to: title, in: database) != .known {
                // How much of them was stored before is not looked up.
                for key in keys { grown[key] = Usage.most }
            }
            for (key, time) in batch.lastUsed {
                try database.execute(
                    sql: """
                        UPDATE entry SET plays = plays + (?1 - lastUsed > \(Self.pauseBetweenPlays)), lastUsed = ?1
                        WHERE keyHash = ?2
                        """, arguments: [time, name(of: key)])
            }
            for (name, date) in batch.splicing { try write(splicing: name, at: date, to: database) }
            for (name, value) in batch.totals { try TotalRow(name: name, value: value).add(in: database) }
            if let traffic = batch.traffic { try add(traffic, in: database) }
            let tags = isLimited ? try growth(ofTags: grown, in: database) : [:]
            atEnd()
            return tags
        }
        census.note(
            batch.generations.map { EntryCensus.Change($0.record, $0.usage, name: name(of: $0.record.key)) })
        return grown
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
        /// Number of entries.
        var entries = 0
        /// Names that stay because they are retained.
        var kept: Set<String> = []
        /// Keys of titles that have gone, because only files of others were left of them.
        var rests: Set<CacheKey> = []
    }

    /// Removes the entries with these names and all their generations, in one transaction; retained ones only if
    /// `force` is true.
    func remove(_ names: [String], force: Bool) async throws(RepriseError) -> Removal {
        let removal = try await write { database in
            var removal = Removal()
            var titles: Set<Int64> = []
            for name in names {
                // It may have been retained after it was chosen for eviction.
                if !force, try isHeld(name, in: database) {
                    removal.kept.insert(name)
                    continue
                }
                let rows = try GenerationRow.all(
                    database, sql: "SELECT id, keyHash, allocated, stored FROM generation WHERE keyHash = ?",
                    arguments: [name])
                for row in rows {
                    try delete(generation: row.id, from: database)
                    removal.generations.append(Removed(name: name, id: row.id, usage: row.usage))
                }
                titles.formUnion(
                    try Int64.fetchAll(
                        database, sql: "SELECT title FROM member WHERE keyHash = ?", arguments: [name]))
                try database.execute(sql: "DELETE FROM entry WHERE keyHash = ?", arguments: [name])
                removal.entries += database.changesCount
                if force { try releasePrimary(of: name, in: database) }
                try database.execute(sql: "DELETE FROM selection WHERE keyHash = ?", arguments: [name])
            }
            removal.rests = try endRests(among: titles, in: database)
            return removal
        }
        census.note(
            names.filter { !removal.kept.contains($0) }.map { EntryCensus.Change(name: $0, isComplete: nil) })
        return removal
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
        try Bool.fetchOne(
            database,
            sql: """
                SELECT retained OR EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash)
                FROM entry WHERE keyHash = ?
                """, arguments: [name]) ?? false
    }

    /// Those of `names` that are retained, or of which parts are.
    func held(_ names: [String]) throws(RepriseError) -> Set<String> {
        try read { database in Set(try names.filter { try isHeld($0, in: database) }) }
    }

    /// Removes one generation that another has replaced; returns its usage.
    func remove(generation: Int64) async throws(RepriseError) -> Usage {
        let (usage, names) = try await write { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT allocated, stored FROM generation WHERE id = ?", arguments: [generation])
            let names = try String.fetchAll(
                database, sql: "SELECT keyHash FROM entry WHERE generation = ?", arguments: [generation])
            try delete(generation: generation, from: database)
            try database.execute(sql: "DELETE FROM entry WHERE generation = ?", arguments: [generation])
            return (row.map { Usage($0) } ?? Usage(), names)
        }
        census.note(names.map { EntryCensus.Change(name: $0, isComplete: nil) })
        return usage
    }

    /// Seconds without use after which the next use counts as another play.
    private static let pauseBetweenPlays = 1800

    private func delete(generation: Int64, from database: Database) throws {
        try database.execute(sql: "DELETE FROM chunk WHERE generation = ?", arguments: [generation])
        try database.execute(sql: "DELETE FROM generation WHERE id = ?", arguments: [generation])
    }

    private func allocated(byGeneration id: Int64, in database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT allocated FROM generation WHERE id = ?", arguments: [id]) ?? 0
    }

    /// Returns how many bytes more titles may occupy if it has become a file of one, although it may be an old file;
    /// `nil` if it has not.
    private func write(_ generation: Batch.Generation, to database: Database) throws -> Int64? {
        let record = generation.record
        let name = name(of: record.key)
        try GenerationRow(generation, name: name, codec: codec).save(in: database)
        try database.execute(
            sql: """
                INSERT INTO entry (keyHash, generation, lastUsed, live, retained) VALUES (?1, ?2, ?3, ?4, 0)
                ON CONFLICT (keyHash) DO UPDATE SET generation = excluded.generation, live = excluded.live
                """,
            arguments: [name, record.id, Double(record.responseTime), record.isLive ? 1 : 0])
        if let replaced = generation.replaced { try delete(generation: replaced, from: database) }
        var outcome = Membership.known
        for claim in record.claims {
            // It says that a playlist listed the file once, not that one still does.
            outcome = max(outcome, try add([record.key], to: claim.title, isListed: false, in: database))
        }
        outcome = max(outcome, try addToNamedTitle(name, in: database))
        // Of a trimmed entry there may be more now than the parts that stay.
        try database.execute(
            sql: """
                UPDATE entry SET retained = \(Self.isHeld)
                WHERE keyHash = ? AND (retained = 2 OR retained = 0 AND \(Self.isHeld))
                """, arguments: [name])
        for (block, chunks) in generation.blocks {
            if chunks.isEmpty {
                try database.execute(
                    sql: "DELETE FROM chunk WHERE generation = ? AND block = ?", arguments: [record.id, block])
            } else {
                try ChunkRow(block: block, chunks: chunks).save(for: record.id, in: database)
            }
        }
        return switch outcome {
        case .known: nil
        case .new: generation.usage.allocated
        case .newWithOthers: Usage.most
        }
    }

    /// Merges the log into the database file and closes both; afterwards this process no longer uses the directory.
    func close() throws(RepriseError) {
        do { try database.close() } catch {
            throw failure(error, "The index cannot be closed.")
        }
    }
}
