import ByteRanges
import Foundation
import GRDB
import Primitives

/// The index of the cache: entries, generations, chunks, sizes, last use, retentions.
///
/// SQLite in WAL mode. Every call may block or wait for the disk. Nothing here runs for a read that memory can answer.
/// Values are read from rows one by one and may be missing or of another type, because a damaged file must not trap.
struct Index: Sendable {
    let database: IndexDatabase
    let codec: RecordCodec
    /// Number of write transactions since the index was opened.
    let transactions = Mutex(0)
    /// Number of free pages in the file, after the last write transaction.
    private let freePages: Mutex<Int64>
    /// Size of the free pages, in bytes.
    ///
    /// SQLite reuses them before the file grows.
    var freeBytes: Int64 { freePages.withLock { $0 } * Int64(Self.pageSize) }
    let census = EntryCensus()
    /// Called when a query finds the file damaged.
    let onDamage: @Sendable () -> Void

    init(_ connection: IndexDatabase.Connection, vault: Vault?, onDamage: @escaping @Sendable () -> Void) {
        database = IndexDatabase(connection)
        // Without the number, all pages count.
        freePages = Mutex((try? database.read { try Self.freePages(in: $0) }) ?? 0)
        self.codec = RecordCodec(vault: vault)
        self.onDamage = onDamage
    }

    private static func freePages(in database: Database) throws -> Int64 {
        try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
    }

    private var vault: Vault? { codec.vault }

    /// Asks `question` on a thread that may block.
    func look<T: Sendable>(_ question: @escaping @Sendable (Index) throws -> T) async throws(RepriseError) -> T {
        do { return try await DiskQueue.shared.run { try question(self) } } catch {
            throw failure(error, "The index cannot be read.")
        }
    }

    /// Asks `question`, which reads all of the index, unless the task is canceled before its turn comes.
    func scan<T: Sendable>(_ question: @escaping @Sendable (Index) throws -> T) async throws -> T {
        do { return try await DiskQueue.scans.runCancelable { try question(self) } } catch {
            throw error is CancellationError ? error : failure(error, "The index cannot be read.")
        }
    }

    /// The name of `key` in file names and rows.
    func name(of key: CacheKey) -> String { vault?.name(of: key) ?? key.hash }

    // MARK: - Reading

    /// The generation that `key` selects, with its chunks.
    func generation(for key: CacheKey) throws(RepriseError) -> RecordedGeneration? {
        let name = name(of: key)
        return try read { database in
            guard
                let row = try GenerationRow.first(
                    database,
                    sql: """
                        SELECT generation.id, entry.keyHash, record, salt, allocated, stored FROM entry
                        JOIN generation ON generation.id = entry.generation WHERE entry.keyHash = ?
                        """, arguments: [name]),
                let record = codec.decode(row), record.key == key
            else { return nil }
            return RecordedGeneration(
                record: record, usage: row.usage, chunks: try chunks(database, generation: record.id))
        }
    }

    /// Every entry, most recently used first; with `isUntitled`, only those that belong to no title with a row.
    func entries(isUntitled: Bool = false) throws(RepriseError) -> [CacheEntry] {
        // Beside `member` in the order of keys, which both have: by the index of uses, each file would be looked up.
        try read { database in
            isUntitled
                ? try entries(
                    "WHERE NOT EXISTS (SELECT 1 FROM member WHERE keyHash = entry.keyHash)", [],
                    from: "entry NOT INDEXED", in: database)
                : try entries("", [], in: database)
        }
    }

    /// Number of entries.
    func entryCount() throws(RepriseError) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM entry") ?? 0 }
    }

    /// The entries that belong to the title of `key`, most recently used first; with `limit`, at most so many.
    func entries(ofTitle key: CacheKey, atMost limit: Int? = nil) throws(RepriseError) -> [CacheEntry] {
        let members = "SELECT member.keyHash FROM member JOIN title ON title.id = member.title"
        let ofTitle = "WHERE title.keyHash = ?1"
        let names =
            limit.map { limit in
                """
                \(members) JOIN entry ON entry.keyHash = member.keyHash \(ofTitle) ORDER BY lastUsed DESC LIMIT \(limit)
                """
            } ?? "\(members) \(ofTitle)"
        return try entries("WHERE entry.keyHash IN (\(names))", [name(of: key)])
    }

    private func entries(
        _ condition: String, _ arguments: StatementArguments = StatementArguments()
    ) throws(RepriseError) -> [CacheEntry] {
        try read { try entries(condition, arguments, in: $0) }
    }

    /// The entries that `condition` selects, most recently used first.
    func entries(
        _ condition: String, _ arguments: StatementArguments, from table: String = "entry", in database: Database
    ) throws -> [CacheEntry] {
        let entries: [CacheEntry] = try EntryRow.compactMap(
            database,
            sql: """
                SELECT generation.id, generation.record, salt, allocated, stored, entry.keyHash, lastUsed, plays,
                    kind, until, amount
                FROM \(table) JOIN generation ON generation.id = entry.generation
                LEFT JOIN retention ON retention.keyHash = \(Self.holder)
                \(condition)
                """, arguments: arguments
        ) { row in
            guard let generation = row.generation, let record = codec.decode(generation) else { return nil }
            return CacheEntry(record: record, usage: generation.usage, row: row)
        }
        // SQLite would sort the records, too, in a file.
        return entries.sorted { $0.lastUsed > $1.lastUsed }
    }

    /// Those of `keys` of which something is recorded, variants included.
    func recorded(_ keys: [CacheKey]) throws(RepriseError) -> Set<CacheKey> {
        try read { try recorded(keys, in: $0) }
    }

    /// Names that one query looks up.
    static let lookupWidth = 500

    func recorded(_ keys: some Sequence<CacheKey>, in database: Database) throws -> Set<CacheKey> {
        let names = Dictionary(keys.map { (name(of: $0), $0) }) { first, _ in first }
        var rest = Array(names.keys)[...]
        var found: Set<CacheKey> = []
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.lookupWidth))
            let marks = databaseQuestionMarks(count: part.count)
            let stored = try String.fetchAll(
                database,
                sql: """
                    SELECT keyHash FROM entry WHERE keyHash IN (\(marks))
                    UNION ALL SELECT signpost FROM selection WHERE signpost IN (\(marks))
                    """, arguments: StatementArguments(part + part))
            found.formUnion(stored.compactMap { names[$0] })
            rest = rest.dropFirst(part.count)
        }
        return found
    }

    /// SQL for the entry of a name and those of its variants.
    static let ofName =
        "WHERE entry.keyHash = ?1 OR entry.keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)"

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
        // Deleted rather than updated, because a damaged file may have lost the row, or have two.
        try database.execute(sql: "DELETE FROM usage; INSERT INTO usage \(sums)")
    }

    /// Whether ``usage()`` is what the generations occupy; looks at all of them, beside writes.
    func isUsageRight() throws(RepriseError) -> Bool {
        try read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT allocated, stored FROM usage")
            return try rows.count == 1 && rows == Row.fetchAll(database, sql: Self.sums)
        }
    }

    /// SQL for the sums of all generations.
    private static var sums: String {
        func sum(_ column: String) -> String {
            """
            CAST(MIN(TOTAL(CASE typeof(\(column)) WHEN 'integer' THEN MIN(MAX(\(column), 0), \(Usage.most)) ELSE 0 END),
                \(Usage.most)) AS INTEGER) AS \(column)
            """
        }
        return "SELECT \(sum("allocated")), \(sum("stored")) FROM generation"
    }

    static func usage(in database: Database) throws -> Usage {
        try Row.fetchOne(database, sql: "SELECT allocated, stored FROM usage").map { Usage($0) } ?? Usage()
    }

    /// Totals over the life of the cache, by name.
    func totals() throws(RepriseError) -> [String: Int64] {
        try read { database in
            let rows = try TotalRow.all(database, sql: "SELECT name, value FROM total")
            return Dictionary(rows.map { ($0.name, $0.value) }) { $1 }
        }
    }

    /// Generations whose names begin with `prefix`, by number; without their records.
    func generations(prefix: String) throws(RepriseError) -> [Int64: GenerationRow] {
        try read { database in
            let rows = try GenerationRow.all(
                database,
                sql: "SELECT id, keyHash, allocated, stored FROM generation WHERE keyHash >= ? AND keyHash < ?",
                arguments: [prefix, prefix + "g"])
            return Dictionary(rows.map { ($0.id, $0) }) { $1 }
        }
    }

    /// The key of the entry that selects generation `id`; `nil` if there is none.
    func key(ofGeneration id: Int64) throws(RepriseError) -> CacheKey? {
        try read { database in
            try GenerationRow.first(
                database,
                sql: """
                    SELECT generation.id, generation.keyHash, record, salt FROM generation
                    JOIN entry ON entry.generation = generation.id AND entry.keyHash = generation.keyHash
                    WHERE generation.id = ?
                    """, arguments: [id]
            ).flatMap { codec.decode($0) }?.key
        }
    }

    /// A generation whose record cannot be read, or that no entry selects.
    struct UnusableGeneration: Sendable {
        let id: Int64
        let name: String
        /// `nil` if the record cannot be read.
        let key: CacheKey?
    }

    /// Generations whose record cannot be read, or that no entry selects.
    func unusableGenerations() throws(RepriseError) -> [UnusableGeneration] {
        try read { database in
            try SelectedGenerationRow.compactMap(
                database,
                sql: """
                    SELECT generation.id, generation.keyHash, record, salt, entry.keyHash IS NOT NULL AS isSelected
                    FROM generation
                    LEFT JOIN entry ON entry.generation = generation.id AND entry.keyHash = generation.keyHash
                    """
            ) { row in
                let (id, name) = (row.generation.id, row.generation.name)
                let key = codec.decode(row.generation)?.key
                return key == nil || !row.isSelected ? UnusableGeneration(id: id, name: name, key: key) : nil
            }
        }
    }

    // MARK: - Rows

    func chunks(_ database: Database, generation: Int64) throws -> [Int64: [Chunk]] {
        let blocks = try ChunkRow.compactMap(
            database, sql: "SELECT block, chunks FROM chunk WHERE generation = ?", arguments: [generation]
        ) { ($0.block, [Chunk](packed: [UInt8]($0.chunks), block: $0.block, isSealed: vault != nil)) }
        return Dictionary(blocks) { $1 }
    }

    // MARK: - Errors

    func read<T>(_ body: (Database) throws -> T) throws(RepriseError) -> T {
        do { return try database.read(body) } catch {
            throw failure(error, "The index cannot be read.")
        }
    }

    /// Runs `body` in one transaction, also in a task that is canceled: what ends a piece of work is recorded.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(RepriseError) -> T {
        do {
            let (result, free) = try await DiskQueue.shared.counting { [database] in
                // GRDB breaks off what a canceled task does.
                try await Task(priority: .userInitiated) {
                    try await database.write { database in
                        let result = try body(database)
                        return (result, try Self.freePages(in: database))
                    }
                }.value
            }
            freePages.withLock { $0 = free }
            transactions.withLock { $0 += 1 }
            return result
        } catch {
            throw failure(error, "The index cannot be written.")
        }
    }

    func failure(_ error: any Error, _ message: String) -> RepriseError {
        if let error = error as? RepriseError { return error }
        if let error = error as? DatabaseError, error.isDamage { onDamage() }
        let isFull = (error as? DatabaseError)?.isLackOfRoom == true
        return RepriseError(isFull ? .storageFull : .storageUnavailable, message, cause: error)
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
        (cause as? SystemError)?.isLackOfRoom == true || (cause as? DatabaseError)?.isLackOfRoom == true
    }
}

extension DatabaseError {
    /// Whether the file is not a valid database.
    var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }

    /// Whether the disk is full.
    var isLackOfRoom: Bool { resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE }

    /// Whether the file cannot be written, or files cannot be created beside it: the medium or its owner forbids
    /// writing.
    var forbidsWriting: Bool { [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM].contains(resultCode) }
}
