import ByteRanges
import Foundation
import GRDB
import HTTPSemantics
import HTTPTypes

/// The index of the cache: entries, generations, chunks, sizes, last use.
///
/// SQLite in WAL mode.
///
/// Every call may block or wait for the disk. Nothing here runs for a read that memory can answer.
struct Catalogue: Sendable {
    /// Written to `user_version`.
    ///
    /// A newer format is refused, an older one migrated.
    static let formatVersion = 1

    private let pool: any DatabaseWriter

    /// Opens the index in `directory` for reading only, also while another process writes it; `nil` if there is none.
    init?(readOnly directory: String) throws(RepriseError) {
        let path = directory + "/catalogue.sqlite"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            pool = try DatabaseQueue(path: path, configuration: configuration)
            _ = try pool.read { try Self.checkVersion($0) }
        } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot open the index in \(directory).", cause: error)
        }
    }

    /// Opens or creates the index in `directory`.
    init(directory: String) throws(RepriseError) {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        do {
            pool = try DatabasePool(path: directory + "/catalogue.sqlite", configuration: configuration)
            try pool.write { try Self.migrate($0) }
        } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot open the index in \(directory).", cause: error)
        }
    }

    private static func checkVersion(_ database: Database) throws -> Int {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version <= formatVersion else {
            throw RepriseError(
                .storageUnavailable,
                "The cache was written by a newer Reprise (format \(version), this one reads \(formatVersion)). "
                    + "Update Reprise, or choose another directory.")
        }
        return version
    }

    private static func migrate(_ database: Database) throws {
        guard try checkVersion(database) == 0 else { return }
        try database.execute(
            sql: """
                CREATE TABLE entry (
                    keyHash TEXT PRIMARY KEY, key TEXT NOT NULL, url TEXT NOT NULL,
                    generation INTEGER NOT NULL, lastUsed REAL NOT NULL) WITHOUT ROWID;
                CREATE INDEX entryByUse ON entry (lastUsed);
                CREATE TABLE generation (
                    id INTEGER PRIMARY KEY, keyHash TEXT NOT NULL, fields TEXT NOT NULL, completeLength INTEGER,
                    rangesSupported INTEGER, finalHost TEXT NOT NULL, requestTime INTEGER NOT NULL,
                    responseTime INTEGER NOT NULL, storedBytes INTEGER NOT NULL);
                CREATE INDEX generationByKey ON generation (keyHash);
                CREATE TABLE chunk (
                    generation INTEGER NOT NULL, block INTEGER NOT NULL, chunks BLOB NOT NULL,
                    PRIMARY KEY (generation, block)) WITHOUT ROWID;
                CREATE TABLE selection (
                    keyHash TEXT PRIMARY KEY, signpost TEXT NOT NULL, key TEXT NOT NULL, names TEXT NOT NULL)
                    WITHOUT ROWID;
                CREATE INDEX selectionBySignpost ON selection (signpost);
                CREATE TABLE total (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
                PRAGMA user_version = \(formatVersion);
                """)
    }

    // MARK: - Reading

    /// The generation that `key` selects, with its chunks.
    func generation(for key: CacheKey) throws(RepriseError) -> (record: GenerationRecord, chunks: [Int64: [Chunk]])? {
        try wrap {
            try pool.read { database in
                guard
                    let row = try Row.fetchOne(
                        database,
                        sql: """
                            SELECT generation.*, entry.url, entry.key FROM entry
                            JOIN generation ON generation.id = entry.generation WHERE entry.keyHash = ?
                            """, arguments: [key.hash])
                else { return nil }
                guard row["key"] == key.text, let record = try Self.record(row, key: key) else { return nil }
                return (record, try Self.chunks(database, generation: record.id))
            }
        }
    }

    /// Which request fields select among the responses of `key`; `nil` if none do.
    func vary(of key: CacheKey) throws(RepriseError) -> Vary? {
        try wrap {
            try pool.read { database in
                let names = try String.fetchSet(
                    database, sql: "SELECT names FROM selection WHERE signpost = ?", arguments: [key.hash])
                return names.isEmpty
                    ? nil : Vary(names: names.flatMap { $0.split(separator: " ") }.map { String($0) })
            }
        }
    }

    /// Every entry, the most recently used first.
    func entries() throws(RepriseError) -> [CacheEntry] {
        try wrap {
            try pool.read { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT generation.*, entry.url, entry.key, entry.lastUsed FROM entry
                        JOIN generation ON generation.id = entry.generation ORDER BY entry.lastUsed DESC
                        """)
                return try rows.compactMap { row in
                    guard let record = try Self.record(row, key: CacheKey(row["key"])) else { return nil }
                    return CacheEntry(record: record, storedBytes: row["storedBytes"], lastUsed: row["lastUsed"])
                }
            }
        }
    }

    /// Stored bytes of all generations together.
    func storedBytes() throws(RepriseError) -> Int64 {
        try wrap {
            try pool.read { try Int64.fetchOne($0, sql: "SELECT SUM(storedBytes) FROM generation") ?? 0 }
        }
    }

    /// Keys in the order of their last use, oldest first, with the bytes that their removal frees.
    func leastRecentlyUsed(limit: Int, offset: Int) throws(RepriseError) -> [CacheKey] {
        try wrap {
            try pool.read { database in
                try String.fetchAll(
                    database, sql: "SELECT key FROM entry ORDER BY lastUsed LIMIT ? OFFSET ?",
                    arguments: [limit, offset]
                ).map { CacheKey($0) }
            }
        }
    }

    /// Sums over the life of the cache, by name.
    func totals() throws(RepriseError) -> [String: Int64] {
        try wrap {
            try pool.read { database in
                let rows = try Row.fetchAll(database, sql: "SELECT name, value FROM total")
                return Dictionary(rows.map { ($0["name"] as String, $0["value"] as Int64) }, uniquingKeysWith: +)
            }
        }
    }

    /// Identifiers of all generations, to tell orphan files from living ones.
    func generationIDs() throws(RepriseError) -> Set<Int64> {
        try wrap { try pool.read { try Int64.fetchSet($0, sql: "SELECT id FROM generation") } }
    }

    // MARK: - Writing

    /// One batch: everything that changed since the last one, in one transaction.
    struct Batch: Sendable {
        struct Generation: Sendable {
            var record: GenerationRecord
            var storedBytes: Int64
            var blocks: [(block: Int64, chunks: [Chunk])]
        }

        var generations: [Generation] = []
        var lastUsed: [CacheKey: Double] = [:]
        var totals: [String: Int64] = [:]
        /// Selections by key, with the key that they belong to.
        var selections: [CacheKey: (signpost: CacheKey, vary: Vary)] = [:]
        /// Keys whose responses are stale for good.
        var invalidated: Set<CacheKey> = []

        var isEmpty: Bool {
            generations.isEmpty && lastUsed.isEmpty && totals.isEmpty && selections.isEmpty && invalidated.isEmpty
        }
    }

    /// Writes `batch`.
    func write(_ batch: Batch) async throws(RepriseError) {
        try await wrapAsync {
            try await pool.write { database in
                // Before the generations: those that came after an invalidation are not meant by it.
                for key in batch.invalidated { try Self.invalidate(key, in: database) }
                for (key, selection) in batch.selections {
                    try database.execute(
                        sql: "INSERT OR REPLACE INTO selection VALUES (?, ?, ?, ?)",
                        arguments: [
                            key.hash, selection.signpost.hash, key.text, selection.vary.names.joined(separator: " "),
                        ])
                }
                for generation in batch.generations { try Self.write(generation, to: database) }
                for (key, time) in batch.lastUsed {
                    try database.execute(
                        sql: "UPDATE entry SET lastUsed = ? WHERE keyHash = ?", arguments: [time, key.hash])
                }
                for (name, value) in batch.totals {
                    try database.execute(
                        sql: """
                            INSERT INTO total VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                            """, arguments: [name, value])
                }
            }
        }
    }

    private static func invalidate(_ key: CacheKey, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE generation SET requestTime = 0, responseTime = 0 WHERE keyHash = ?1
                OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                """, arguments: [key.hash])
    }

    /// Forgets how the responses of `key` vary; returns the keys of its selections.
    func removeSelections(of key: CacheKey) async throws(RepriseError) -> [CacheKey] {
        try await wrapAsync {
            try await pool.write { database in
                let keys = try String.fetchAll(
                    database, sql: "SELECT key FROM selection WHERE signpost = ?", arguments: [key.hash])
                guard !keys.isEmpty else { return [] }
                try database.execute(sql: "DELETE FROM selection WHERE signpost = ?", arguments: [key.hash])
                return keys.map { CacheKey($0) }
            }
        }
    }

    /// Forgets the entry of `key` with all its generations; returns those and the bytes that they held.
    func remove(_ key: CacheKey) async throws(RepriseError) -> (generations: [Int64], storedBytes: Int64) {
        try await wrapAsync {
            try await pool.write { database in
                let rows = try Row.fetchAll(
                    database, sql: "SELECT id, storedBytes FROM generation WHERE keyHash = ?", arguments: [key.hash])
                for row in rows { try Self.delete(generation: row["id"], from: database) }
                try database.execute(sql: "DELETE FROM entry WHERE keyHash = ?", arguments: [key.hash])
                try database.execute(sql: "DELETE FROM selection WHERE keyHash = ?", arguments: [key.hash])
                return (rows.map { $0["id"] }, rows.reduce(0) { $0 + ($1["storedBytes"] as Int64) })
            }
        }
    }

    /// Forgets one generation that another has replaced; returns the bytes that it held.
    func remove(generation: Int64) async throws(RepriseError) -> Int64 {
        try await wrapAsync {
            try await pool.write { database in
                let bytes = try Int64.fetchOne(
                    database, sql: "SELECT storedBytes FROM generation WHERE id = ?", arguments: [generation])
                try Self.delete(generation: generation, from: database)
                return bytes ?? 0
            }
        }
    }

    /// Merges the log into the database file: the last write before another process may come in.
    func checkpoint() async throws(RepriseError) {
        try await wrapAsync { _ = try await pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
    }

    /// Closes the files: nothing of this process keeps the directory in use afterwards.
    func close() throws(RepriseError) { try wrap { try pool.close() } }

    private static func delete(generation: Int64, from database: Database) throws {
        try database.execute(sql: "DELETE FROM chunk WHERE generation = ?", arguments: [generation])
        try database.execute(sql: "DELETE FROM generation WHERE id = ?", arguments: [generation])
    }

    private static func write(_ generation: Batch.Generation, to database: Database) throws {
        let record = generation.record
        try database.execute(
            sql: "INSERT OR REPLACE INTO generation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                record.id, record.key.hash, try encode(record.fields), record.completeLength, record.rangesSupported,
                record.finalHost, record.requestTime, record.responseTime, generation.storedBytes,
            ])
        try database.execute(
            sql: """
                INSERT INTO entry VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (keyHash) DO UPDATE SET generation = excluded.generation, url = excluded.url
                """,
            arguments: [
                record.key.hash, record.key.text, record.url.description, record.id, Double(record.responseTime),
            ])
        for (block, chunks) in generation.blocks {
            let arguments: StatementArguments = [record.id, block, Data(chunks.packed)]
            try database.execute(sql: "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?)", arguments: arguments)
        }
    }

    // MARK: - Rows

    private static func record(_ row: Row, key: CacheKey) throws -> GenerationRecord? {
        guard let url = try? ResourceURL(row["url"]), let fields = decode(row["fields"]) else { return nil }
        return GenerationRecord(
            id: row["id"], key: key, url: url, fields: fields, completeLength: row["completeLength"],
            rangesSupported: row["rangesSupported"], finalHost: row["finalHost"], requestTime: row["requestTime"],
            responseTime: row["responseTime"])
    }

    private static func chunks(_ database: Database, generation: Int64) throws -> [Int64: [Chunk]] {
        var blocks: [Int64: [Chunk]] = [:]
        let rows = try Row.fetchCursor(
            database, sql: "SELECT block, chunks FROM chunk WHERE generation = ?", arguments: [generation])
        while let row = try rows.next() {
            let data: Data = row["chunks"]
            blocks[row["block"]] = [Chunk](packed: [UInt8](data), block: row["block"])
        }
        return blocks
    }

    private static func encode(_ fields: HTTPFields) throws -> String {
        let pairs = fields.map { [$0.name.rawName, $0.value] }
        return String(decoding: try JSONEncoder().encode(pairs), as: UTF8.self)
    }

    private static func decode(_ text: String) -> HTTPFields? {
        guard let pairs = try? JSONDecoder().decode([[String]].self, from: Data(text.utf8)) else { return nil }
        var fields = HTTPFields()
        for pair in pairs where pair.count == 2 {
            guard let name = HTTPField.Name(pair[0]) else { continue }
            fields.append(HTTPField(name: name, value: pair[1]))
        }
        return fields
    }

    private func wrap<T>(_ body: () throws -> T) throws(RepriseError) -> T {
        do { return try body() } catch {
            throw RepriseError(.storageUnavailable, "The index cannot be read.", cause: error)
        }
    }

    private func wrapAsync<T>(_ body: () async throws -> T) async throws(RepriseError) -> T {
        do { return try await body() } catch {
            throw RepriseError(.storageUnavailable, "The index cannot be written.", cause: error)
        }
    }
}
