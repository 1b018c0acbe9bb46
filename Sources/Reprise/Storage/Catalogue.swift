import ByteRanges
import Foundation
import GRDB
import Locks

/// The index of the cache: entries, generations, chunks, sizes, last use, what is to be kept.
///
/// SQLite in WAL mode. Every call may block or wait for the disk. Nothing here runs for a read that memory can answer.
/// Values are taken out of rows one by one and may be missing or of another type: a damaged file must not trap.
struct Catalogue: Sendable {
    /// Written to `user_version`, and as the low half of `application_id`, so that one flipped bit makes a damaged file
    /// and not a newer format.
    ///
    /// A newer format is refused, an older one dropped.
    static let formatVersion = 2

    let database: IndexDatabase
    let codec: RecordCodec
    /// Transactions that wrote since the catalogue was opened.
    let transactions = Mutex(0)
    /// Called when a query finds the file damaged.
    let onDamage: @Sendable () -> Void

    init(_ database: IndexDatabase, vault: Vault?, onDamage: @escaping @Sendable () -> Void) {
        self.database = database
        self.codec = RecordCodec(vault: vault)
        self.onDamage = onDamage
    }

    private var vault: Vault? { codec.vault }

    /// What file names and rows call `key`.
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

    /// Every entry, the most recently used first.
    func entries() throws(RepriseError) -> [CacheEntry] {
        try read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT generation.id, generation.record, salt, allocated, stored, entry.keyHash, lastUsed,
                        COALESCE(hold.kind, shared.kind) AS kind,
                        CASE WHEN hold.kind IS NULL THEN shared.until ELSE hold.until END AS until
                    FROM entry JOIN generation ON generation.id = entry.generation
                    LEFT JOIN hold ON hold.keyHash = entry.keyHash
                    LEFT JOIN selection ON selection.keyHash = entry.keyHash
                    LEFT JOIN hold AS shared ON shared.keyHash = selection.signpost
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

    /// What all generations occupy together.
    func usage() throws(RepriseError) -> Usage {
        try read { try Self.usage(in: $0) }
    }

    /// Makes the sums of ``usage()`` those of the generations; returns what they were and what they are.
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
        // Deleted and not updated: a damaged file may have lost the row, or have two.
        try database.execute(
            sql: "DELETE FROM usage; INSERT INTO usage SELECT \(sum("allocated")), \(sum("stored")) FROM generation")
    }

    static func usage(in database: Database) throws -> Usage {
        try Row.fetchOne(database, sql: "SELECT allocated, stored FROM usage").map(usage) ?? Usage()
    }

    /// An entry as eviction sees it.
    struct Candidate: Sendable {
        let name: String
        /// `nil` if the record cannot be read: nobody can use the entry.
        let key: CacheKey?
        /// Bytes on the disk that its removal is said to free.
        var allocated: Int64 = 0
    }

    /// Entries that may be evicted, in the order of `policy`.
    ///
    /// Only those last used before `date`, if there is one.
    func candidates(
        by policy: EvictionPolicy, limit: Int, offset: Int, before date: Double? = nil
    ) throws(RepriseError) -> [Candidate] {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT entry.keyHash, generation.id, record, salt, allocated, stored FROM entry
                    LEFT JOIN generation ON generation.id = entry.generation
                    WHERE held = 0 AND lastUsed < ? ORDER BY \(policy.order) LIMIT ? OFFSET ?
                    """, arguments: [date ?? .infinity, limit, offset])
            return rows.compactMap { row in
                guard let name: String = row.value("keyHash") else { return nil }
                return Candidate(
                    name: name, key: record(row, name: name)?.key, allocated: Self.usage(row).allocated)
            }
        }
    }

    /// No cache served more (an exabyte); a damaged number must not overflow a sum.
    private static let mostTotal: Int64 = 1 << 60

    /// Sums over the life of the cache, by name.
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

    /// Generations whose names begin with `prefix`, with what they are said to occupy.
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

    /// Generations whose record cannot be read, or that their entry does not select.
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
    /// The file is not there; with any other error it may be, and only cannot be had now.
    var isMissingFile: Bool { (cause as? SystemError)?.isMissingFile == true }

    /// The disk works; only this file cannot be had or grow.
    var concernsOneFile: Bool { (cause as? SystemError)?.concernsOneFile == true }

    /// Nothing can be written here, by the will of the medium or of its owner.
    var forbidsWriting: Bool {
        (cause as? SystemError)?.forbidsWriting == true || (cause as? DatabaseError)?.forbidsWriting == true
    }

    /// The disk has no room: eviction helps.
    var isLackOfRoom: Bool {
        (cause as? SystemError)?.isLackOfRoom == true || (cause as? DatabaseError)?.resultCode == .SQLITE_FULL
    }
}

extension DatabaseError {
    /// The file is not what SQLite wrote.
    var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }

    /// A file cannot be written, or made beside it: a medium or an owner that takes no writing.
    var forbidsWriting: Bool { [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM].contains(resultCode) }
}

extension Row {
    /// The column's value, or `nil` if it is missing or of another type.
    func value<T: DatabaseValueConvertible>(_ column: String) -> T? {
        (self[column] as DatabaseValue?).flatMap { T.fromDatabaseValue($0) }
    }
}
