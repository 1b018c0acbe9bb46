import ByteRanges
import Foundation
import GRDB
import Locks

/// The index of the cache: entries, generations, chunks, sizes, last use, retentions.
///
/// SQLite in WAL mode. Every call may block or wait for the disk. Nothing here runs for a read that memory can answer.
/// Values are read from rows one by one and may be missing or of another type, because a damaged file must not trap.
struct Index: Sendable {
    /// Written to `user_version` and to the low half of `application_id`, so that one flipped bit makes a damaged file
    /// and not a newer format.
    ///
    /// A newer format is refused; an older one is migrated (`Index+Schema`).
    static let formatVersion = 3

    let database: IndexDatabase
    let codec: RecordCodec
    /// Number of write transactions since the index was opened.
    let transactions = Mutex(0)
    /// Called when a query finds the file damaged.
    let onDamage: @Sendable () -> Void

    init(_ database: IndexDatabase, vault: Vault?, onDamage: @escaping @Sendable () -> Void) {
        self.database = database
        self.codec = RecordCodec(vault: vault)
        self.onDamage = onDamage
    }

    private var vault: Vault? { codec.vault }

    /// The name of `key` in file names and rows.
    func name(of key: CacheKey) -> String { vault?.name(of: key) ?? key.hash }

    // MARK: - Reading

    /// The generation that `key` selects, with its chunks.
    func generation(
        for key: CacheKey
    ) throws(RepriseError) -> (record: GenerationRecord, usage: Usage, chunks: [Int64: [Chunk]])? {
        let name = name(of: key)
        return try read { database in
            guard
                let row = try Row.fetchOne(
                    database,
                    sql: """
                        SELECT generation.id, record, salt, allocated, stored FROM entry
                        JOIN generation ON generation.id = entry.generation WHERE entry.keyHash = ?
                        """, arguments: [name]),
                let record = record(row, name: name), record.key == key
            else { return nil }
            return (record, Self.usage(row), try chunks(database, generation: record.id))
        }
    }

    /// Every entry, most recently used first.
    func entries() throws(RepriseError) -> [CacheEntry] {
        try read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT generation.id, generation.record, salt, allocated, stored, entry.keyHash, lastUsed,
                        COALESCE(retention.kind, shared.kind) AS kind,
                        CASE WHEN retention.kind IS NULL THEN shared.until ELSE retention.until END AS until
                    FROM entry JOIN generation ON generation.id = entry.generation
                    LEFT JOIN retention ON retention.keyHash = entry.keyHash
                    LEFT JOIN selection ON selection.keyHash = entry.keyHash
                    LEFT JOIN retention AS shared ON shared.keyHash = selection.signpost
                    ORDER BY lastUsed DESC
                    """)
            var entries: [CacheEntry] = []
            while let row = try rows.next() {
                guard let name: String = row.value("keyHash"), let record = record(row, name: name) else { continue }
                entries.append(
                    CacheEntry(
                        record: record, usage: Self.usage(row), lastUsed: row.value("lastUsed") ?? 0,
                        retention: Retention(kind: row.value("kind"), until: row.value("until"))))
            }
            return entries
        }
    }

    /// Total usage of all generations.
    func usage() throws(RepriseError) -> Usage {
        try read { try Self.usage(in: $0) }
    }

    /// Corrects the sums of ``usage()`` to those of the generations; returns the old and the new ones.
    func recount() async throws(RepriseError) -> (before: Usage, after: Usage) {
        try await write { database in
            let before = try Self.usage(in: database)
            try Self.recount(in: database)
            return (before, try Self.usage(in: database))
        }
    }

    static func recount(in database: Database) throws {
        func sum(_ column: String) -> String {
            """
            CAST(MIN(TOTAL(CASE typeof(\(column)) WHEN 'integer' THEN MIN(MAX(\(column), 0), \(Usage.most)) ELSE 0 END),
                \(Usage.most)) AS INTEGER)
            """
        }
        // Deleted rather than updated, because a damaged file may have lost the row, or have two.
        try database.execute(
            sql: "DELETE FROM usage; INSERT INTO usage SELECT \(sum("allocated")), \(sum("stored")) FROM generation")
    }

    static func usage(in database: Database) throws -> Usage {
        try Row.fetchOne(database, sql: "SELECT allocated, stored FROM usage").map(usage) ?? Usage()
    }

    /// An entry as eviction sees it.
    struct Candidate: Sendable {
        let name: String
        /// `nil` if the record cannot be read; the entry is then unusable.
        let key: CacheKey?
        /// Bytes on disk that its removal should free.
        var allocated: Int64 = 0
    }

    /// Entries that may be evicted, in the order of `policy`.
    ///
    /// With `date`, only those last used before it.
    func candidates(
        by policy: EvictionPolicy, limit: Int, offset: Int, before date: Double? = nil
    ) throws(RepriseError) -> [Candidate] {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT entry.keyHash, generation.id, record, salt, allocated, stored FROM entry
                    LEFT JOIN generation ON generation.id = entry.generation
                    WHERE retained = 0 AND lastUsed < ? ORDER BY \(policy.order) LIMIT ? OFFSET ?
                    """, arguments: [date ?? .infinity, limit, offset])
            return rows.compactMap { row in
                guard let name: String = row.value("keyHash") else { return nil }
                return Candidate(
                    name: name, key: record(row, name: name)?.key, allocated: Self.usage(row).allocated)
            }
        }
    }

    /// Upper bound of a total (an exabyte); a damaged number must not overflow a sum.
    private static let mostTotal: Int64 = 1 << 60

    /// Totals over the life of the cache, by name.
    func totals() throws(RepriseError) -> [String: Int64] {
        try read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT name, value FROM total")
            let pairs = rows.compactMap { row -> (String, Int64)? in
                guard let name: String = row.value("name"), let value: Int64 = row.value("value") else { return nil }
                return (name, min(max(0, value), Self.mostTotal))
            }
            return Dictionary(pairs) { $1 }
        }
    }

    /// Generations whose names begin with `prefix`, with their recorded usage.
    func generations(prefix: String) throws(RepriseError) -> [Int64: (name: String, usage: Usage)] {
        try read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT id, keyHash, allocated, stored FROM generation WHERE keyHash >= ? AND keyHash < ?",
                arguments: [prefix, prefix + "g"])
            var found: [Int64: (String, Usage)] = [:]
            while let row = try rows.next() {
                guard let id: Int64 = row.value("id"), let name: String = row.value("keyHash") else { continue }
                found[id] = (name, Self.usage(row))
            }
            return found
        }
    }

    /// Generations whose record cannot be read, or that no entry selects.
    func unusableGenerations() throws(RepriseError) -> [(id: Int64, name: String, key: CacheKey?)] {
        try read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT generation.id, generation.keyHash, record, salt, entry.keyHash AS entry FROM generation
                    LEFT JOIN entry ON entry.generation = generation.id AND entry.keyHash = generation.keyHash
                    """)
            var found: [(id: Int64, name: String, key: CacheKey?)] = []
            while let row = try rows.next() {
                guard let id: Int64 = row.value("id"), let name: String = row.value("keyHash") else { continue }
                let key = record(row, name: name)?.key
                let entry: String? = row.value("entry")
                if key == nil || entry == nil { found.append((id, name, key)) }
            }
            return found
        }
    }

    // MARK: - Rows

    func record(_ row: Row, name: String) -> GenerationRecord? {
        guard let id: Int64 = row.value("id"), let data: Data = row.value("record") else { return nil }
        return codec.decode(
            data, id: id, name: name, salt: row.value("salt").map { (data: Data) in [UInt8](data) } ?? [])
    }

    static func usage(_ row: Row) -> Usage {
        func size(_ column: String) -> Int64 { min(max(0, row.value(column) ?? 0), Usage.most) }
        return Usage(allocated: size("allocated"), stored: size("stored"))
    }

    func chunks(_ database: Database, generation: Int64) throws -> [Int64: [Chunk]] {
        var blocks: [Int64: [Chunk]] = [:]
        let rows = try Row.fetchCursor(
            database, sql: "SELECT block, chunks FROM chunk WHERE generation = ?", arguments: [generation])
        while let row = try rows.next() {
            guard let block: Int64 = row.value("block"), let data: Data = row.value("chunks") else { continue }
            blocks[block] = [Chunk](packed: [UInt8](data), block: block, isSealed: vault != nil)
        }
        return blocks
    }

    // MARK: - Errors

    func read<T>(_ body: (Database) throws -> T) throws(RepriseError) -> T {
        do { return try database.read(body) } catch {
            throw failure(error, "The index cannot be read.")
        }
    }

    /// Runs `body` in one transaction, also in a task that is cancelled: what ends a piece of work is recorded.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(RepriseError) -> T {
        do {
            let result = try await DiskExecutor.shared.counting { [database] in
                // GRDB breaks off what a cancelled task does.
                try await Task(executorPreference: DiskExecutor.shared) {
                    try await database.write { try body($0) }
                }.value
            }
            transactions.withLock { $0 += 1 }
            return result
        } catch {
            throw failure(error, "The index cannot be written.")
        }
    }

    private func failure(_ error: any Error, _ message: String) -> RepriseError {
        if let error = error as? DatabaseError, error.isDamage { onDamage() }
        return RepriseError(.storageUnavailable, message, cause: error)
    }
}

extension RepriseError {
    /// Whether the file does not exist; after any other error it may exist and only be inaccessible now.
    var isMissingFile: Bool { (cause as? SystemError)?.isMissingFile == true }

    /// Whether the disk works and only this file is inaccessible or cannot grow.
    var concernsOneFile: Bool { (cause as? SystemError)?.concernsOneFile == true }

    /// Whether the medium or its owner forbids writing.
    var forbidsWriting: Bool {
        (cause as? SystemError)?.forbidsWriting == true || (cause as? DatabaseError)?.forbidsWriting == true
    }

    /// Whether the disk is full, so that eviction helps.
    var isLackOfRoom: Bool {
        (cause as? SystemError)?.isLackOfRoom == true || (cause as? DatabaseError)?.resultCode == .SQLITE_FULL
    }
}

extension DatabaseError {
    /// Whether the file is not a valid database.
    var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }

    /// Whether the file cannot be written, or files cannot be created beside it: the medium or its owner forbids
    /// writing.
    var forbidsWriting: Bool { [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM].contains(resultCode) }
}

extension Row {
    /// The column's value, or `nil` if it is missing or of another type.
    func value<T: DatabaseValueConvertible>(_ column: String) -> T? {
        (self[column] as DatabaseValue?).flatMap { T.fromDatabaseValue($0) }
    }
}
