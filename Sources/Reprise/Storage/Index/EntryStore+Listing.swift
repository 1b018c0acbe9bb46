import GRDB
import Primitives

/// Lists entries, adds up their sizes, and finds useless records.
extension EntryStore {
    /// All entries, most recently used first; with `isUntitled`, only those that belong to no recorded title.
    func all(isUntitled: Bool = false) throws(RepriseError) -> [CacheEntry] {
        // In the order of keys, which `member` has, too: in the order of uses, SQLite would look up each file.
        try index.read { database in
            isUntitled
                ? try select(
                    "WHERE NOT EXISTS (SELECT 1 FROM member WHERE keyHash = entry.keyHash)", [],
                    from: "entry NOT INDEXED", in: database)
                : try select("", [], in: database)
        }
    }

    /// The entries of `keys` and their variants, most recently used first.
    func all(of keys: some Collection<CacheKey>) throws(RepriseError) -> [CacheEntry] {
        try index.read { database in
            var found: [CacheEntry] = []
            try forEachPart(of: keys) { marks, names in
                found += try select(
                    """
                    WHERE entry.keyHash IN (\(marks))
                        OR entry.keyHash IN (SELECT keyHash FROM selection WHERE signpost IN (\(marks)))
                    """, names + names, in: database)
            }
            return found.sorted { $0.lastUsed > $1.lastUsed }
        }
    }

    /// The entries that `condition` selects, most recently used first.
    func select(
        _ condition: String, _ arguments: StatementArguments, from table: String = "entry", in database: Database
    ) throws -> [CacheEntry] {
        let entries: [CacheEntry] = try EntryRow.compactMap(
            database,
            sql: """
                SELECT generation.id, generation.record, salt, allocated, stored, entry.keyHash, lastUsed, plays,
                    kind, until, amount
                FROM \(table) JOIN generation ON generation.id = entry.generation
                LEFT JOIN retention ON retention.keyHash = \(RetentionStore.holder)
                \(condition)
                """, arguments: arguments
        ) { row in
            guard let generation = row.generation, let record = index.codec.decode(generation) else { return nil }
            return CacheEntry(record: record, usage: generation.usage, row: row)
        }
        // SQLite would sort the records, too, in a temporary file.
        return entries.sorted { $0.lastUsed > $1.lastUsed }
    }

    /// The entry `name` and those of its variants, most recently used first.
    func select(under name: String, in database: Database) throws -> [CacheEntry] {
        try select("WHERE entry.keyHash = ?1 OR entry.keyHash IN (\(Self.variants))", [name], in: database)
    }

    func count() throws(RepriseError) -> Int {
        try index.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM entry") ?? 0 }
    }

    /// Numbers of complete and partial entries.
    func counts() async throws -> EntryCounts {
        if let counts = census.counts { return counts }
        try await census.turn.take()
        defer { census.turn.leave() }
        if let counts = census.counts { return counts }
        census.begin()
        do {
            return census.finish(try await DiskQueue.scans.run { try completeness() })
        } catch {
            census.giveUp()
            throw error
        }
    }

    private func completeness() throws(RepriseError) -> [EntryCensus.Change] {
        try index.read { database in
            try EntryRow.compactMap(database, sql: EntryRow.withGenerations) { row in
                guard let generation = row.generation, let record = index.codec.decode(generation) else {
                    return EntryCensus.Change(name: row.name, isComplete: false)
                }
                return EntryCensus.Change(record, generation.usage, name: row.name)
            }
        }
    }

    // MARK: - Usage

    /// Total usage of all generations.
    func usage() throws(RepriseError) -> Usage { try index.read { try Self.usage(in: $0) } }

    static func usage(in database: Database) throws -> Usage {
        try Row.fetchOne(database, sql: "SELECT allocated, stored FROM usage").map { Usage($0) } ?? Usage()
    }

    /// Corrects ``usage()`` to the sums of the generations; returns the old and the new value.
    func recount() async throws(RepriseError) -> (before: Usage, after: Usage) {
        try await index.write { database in
            let before = try Self.usage(in: database)
            try Self.recount(in: database)
            return (before, try Self.usage(in: database))
        }
    }

    static func recount(in database: Database) throws {
        // Deleted rather than updated, because a damaged file may have lost the row, or have two.
        try database.execute(sql: "DELETE FROM usage; INSERT INTO usage \(sums)")
    }

    /// Whether ``usage()`` equals the sums of the generations.
    ///
    /// Reads all of them, beside writes.
    func isUsageRight() throws(RepriseError) -> Bool {
        try index.read { database in
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

    /// SQL for a bounded sum, whatever values a damaged file has.
    static func sum(_ expression: String) -> String {
        "CAST(MIN(TOTAL(MIN(MAX(\(expression), 0), \(Usage.most))), \(Usage.most)) AS INTEGER)"
    }

    // MARK: - Cleaning up

    /// Generations whose names begin with `prefix`, by number, without their records.
    func generations(prefix: String) throws(RepriseError) -> [Int64: GenerationRow] {
        try index.read { database in
            let rows = try GenerationRow.all(
                database,
                sql: "SELECT id, keyHash, allocated, stored FROM generation WHERE keyHash >= ? AND keyHash < ?",
                arguments: [prefix, prefix + "g"])
            return Dictionary(rows.map { ($0.id, $0) }) { $1 }
        }
    }

    /// A generation whose record cannot be read, or that no entry selects.
    struct UnusableGeneration: Sendable {
        let id: Int64
        let name: String
        /// `nil` if the record cannot be read.
        let key: CacheKey?
    }

    func unusableGenerations() throws(RepriseError) -> [UnusableGeneration] {
        try index.read { database in
            try SelectedGenerationRow.compactMap(
                database,
                sql: """
                    SELECT generation.id, generation.keyHash, record, salt, entry.keyHash IS NOT NULL AS isSelected
                    FROM generation
                    LEFT JOIN entry ON entry.generation = generation.id AND entry.keyHash = generation.keyHash
                    """
            ) { row in
                let (id, name) = (row.generation.id, row.generation.name)
                let key = index.codec.decode(row.generation)?.key
                return key == nil || !row.isSelected ? UnusableGeneration(id: id, name: name, key: key) : nil
            }
        }
    }
}

// MARK: - Rows

/// A row of `entry`, with the generation that it selects and its retention.
struct EntryRow: IndexRow {
    /// The name of the key.
    let name: String
    /// `nil` if no generation can be read.
    let generation: GenerationRow?
    /// In seconds since 1970.
    let lastUsed: Double
    let plays: Int
    let retention: Retention

    /// SQL for entries with their generations.
    static let withGenerations = """
        SELECT entry.keyHash, generation.id, record, salt, allocated, stored FROM entry
        LEFT JOIN generation ON generation.id = entry.generation
        """

    init?(_ row: Row) {
        guard let name: String = row.value("keyHash") else { return nil }
        self.name = name
        generation = GenerationRow(row)
        lastUsed = row.value("lastUsed") ?? 0
        plays = max(0, row.value("plays") ?? 0)
        retention = Retention(row)
    }
}

/// A row of `generation`, and whether the entry of its name selects it.
private struct SelectedGenerationRow: IndexRow {
    let generation: GenerationRow
    let isSelected: Bool

    init?(_ row: Row) {
        guard let generation = GenerationRow(row) else { return nil }
        self.generation = generation
        isSelected = row.value("isSelected") ?? false
    }
}
