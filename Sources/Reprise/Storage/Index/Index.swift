import Foundation
import GRDB

/// The index of a cache: its stores, and the transactions that span several of them.
///
/// Values are read from rows one by one and may be missing or of another type, because a damaged file must not trap.
struct Index: Sendable {
    let database: IndexDatabase
    let entries: EntryStore
    let titles: TitleStore
    let retentions: RetentionStore
    let downloads: DownloadStore
    let statistics: StatisticsStore

    init(_ database: IndexDatabase) {
        self.database = database
        entries = EntryStore(database)
        titles = TitleStore(database, entries: entries)
        downloads = DownloadStore(database, entries: entries, titles: titles)
        retentions = RetentionStore(database, entries: entries, titles: titles, downloads: downloads)
        statistics = StatisticsStore(database)
    }

    /// Runs `query` on a thread that may block.
    func look<T: Sendable>(_ query: @escaping @Sendable (Index) throws -> T) async throws(RepriseError) -> T {
        do { return try await DiskQueue.shared.run { try query(self) } } catch {
            throw database.failure(error, "The index cannot be read.")
        }
    }

    /// Runs `query`, which reads the whole index, unless the task is canceled before its turn.
    func scan<T: Sendable>(_ query: @escaping @Sendable (Index) throws -> T) async throws -> T {
        do { return try await DiskQueue.scans.runCancelable { try query(self) } } catch {
            throw error is CancellationError ? error : database.failure(error, "The index cannot be read.")
        }
    }

    /// The name of `key` in file names and rows.
    func name(of key: CacheKey) -> String { database.name(of: key) }

    // MARK: - Recording

    /// All changes since the last batch.
    struct Batch: Sendable {
        struct Generation: Sendable {
            var record: GenerationRecord
            var usage: Usage
            var blocks: [(block: Int64, chunks: [Chunk])]
            /// The generation whose record is removed in the same transaction.
            var replaced: Int64?
        }

        var generations: [Generation] = []
        var lastUsed: [CacheKey: Double] = [:]
        var totals: [String: Int64] = [:]
        /// Bytes served and fetched since the last batch.
        var traffic: DailyTraffic?
        /// Variants by key.
        var variants: [CacheKey: EntryStore.Variant] = [:]
        /// Keys whose responses are permanently stale.
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

    /// Writes `batch` in one transaction; `atEnd` runs inside it, after the last change.
    ///
    /// Returns the names of tags with a limit whose titles may occupy more bytes now, with the most that they may have
    /// grown.
    @discardableResult
    func write(_ batch: Batch, atEnd: @escaping @Sendable () -> Void = {}) async throws(RepriseError) -> [String: Int64]
    {
        let grown = try await database.write { database in
            let isLimited = try titles.hasLimitedTags(in: database)
            var grown: [CacheKey: Int64] = [:]
            // Before the generations: those stored after an invalidation are not affected by it.
            for key in batch.invalidated { try entries.invalidate(key, in: database) }
            for (key, variant) in batch.variants { try entries.write(key, variant: variant, to: database) }
            for generation in batch.generations {
                let before = isLimited ? try entries.allocated(byGeneration: generation.record.id, in: database) : 0
                let more = try write(generation, to: database) ?? max(0, generation.usage.allocated - before)
                grown[generation.record.key] = more
            }
            for (title, keys) in batch.members where try titles.add(keys, to: title, in: database) != .known {
                // Their size before is not looked up.
                for key in keys { grown[key] = Usage.most }
            }
            for (key, time) in batch.lastUsed { try entries.noteUse(of: key, at: time, in: database) }
            for (name, date) in batch.splicing { try statistics.write(splicing: name, at: date, to: database) }
            for (name, value) in batch.totals { try TotalRow(name: name, value: value).add(in: database) }
            if let traffic = batch.traffic { try statistics.add(traffic, in: database) }
            let tags = isLimited ? try titles.growth(ofTags: grown, in: database) : [:]
            atEnd()
            return tags
        }
        entries.census.note(
            batch.generations.map { EntryCensus.Change($0.record, $0.usage, name: name(of: $0.record.key)) })
        return grown
    }

    /// Returns how many bytes its titles may have grown by if the generation is a new file of one, which may have been
    /// stored before; `nil` if it is not.
    private func write(_ generation: Batch.Generation, to database: Database) throws -> Int64? {
        let record = generation.record
        let name = name(of: record.key)
        try entries.save(generation, name: name, in: database)
        var outcome = TitleStore.Membership.known
        for claim in record.claims {
            // A playlist listed the file once; whether one still does is not known.
            outcome = max(outcome, try titles.add([record.key], to: claim.title, isListed: false, in: database))
        }
        outcome = max(outcome, try titles.addToNamedTitle(name, in: database))
        // More than the kept parts of a trimmed entry may be stored now.
        try database.execute(
            sql: """
                UPDATE entry SET retained = \(RetentionStore.isHeld)
                WHERE keyHash = ? AND (retained = 2 OR retained = 0 AND \(RetentionStore.isHeld))
                """, arguments: [name])
        try entries.save(generation.blocks, ofGeneration: record.id, in: database)
        return switch outcome {
        case .known: nil
        case .new: generation.usage.allocated
        case .newWithOthers: Usage.most
        }
    }

    // MARK: - Removal

    /// A generation whose record was removed.
    struct Removed: Sendable {
        let name: String
        let id: Int64
        let usage: Usage
    }

    struct Removal: Sendable {
        var generations: [Removed] = []
        /// Number of entries.
        var entries = 0
        /// Names of entries that stay because they are retained.
        var kept: Set<String> = []
        /// Keys of titles that were removed because only files of other titles were left of them.
        var rests: Set<CacheKey> = []
    }

    /// Removes the entries with these names and all their generations in one transaction; retained ones only with
    /// `force`.
    func remove(_ names: [String], force: Bool) async throws(RepriseError) -> Removal {
        let removal = try await database.write { database in
            var removal = Removal()
            var affected: Set<Int64> = []
            for name in names {
                // It may have been retained after it was chosen for eviction.
                if !force, try RetentionStore.isHeld(name, in: database) {
                    removal.kept.insert(name)
                    continue
                }
                affected.formUnion(
                    try Int64.fetchAll(
                        database, sql: "SELECT title FROM member WHERE keyHash = ?", arguments: [name]))
                let (generations, hadEntry) = try entries.remove(name, in: database)
                removal.generations += generations
                removal.entries += hadEntry ? 1 : 0
                if force { try retentions.endRetention(ofLastVariant: name, in: database) }
                try database.execute(sql: "DELETE FROM selection WHERE keyHash = ?", arguments: [name])
            }
            removal.rests = try titles.endRests(among: affected, in: database)
            return removal
        }
        entries.census.note(
            names.filter { !removal.kept.contains($0) }.map { EntryCensus.Change(name: $0, isComplete: nil) })
        return removal
    }
}
