import Foundation
import GRDB
import HTTPSemantics

/// The tables `entry`, `generation`, `chunk` and `selection`: the stored bytes of a key, and the key that a request
/// selects if the responses vary (RFC 9111 §4.1).
struct EntryStore: Sendable {
    let index: IndexDatabase
    let census = EntryCensus()

    init(_ index: IndexDatabase) { self.index = index }

    /// SQL for the names of the variants of `?1`.
    static let variants = "SELECT keyHash FROM selection WHERE signpost = ?1"

    // MARK: - One key

    /// The generation that `key` selects, with its chunks.
    func generation(for key: CacheKey) throws(RepriseError) -> RecordedGeneration? {
        try index.read { database in
            guard
                let row = try GenerationRow.first(
                    database,
                    sql: """
                        SELECT generation.id, entry.keyHash, record, salt, allocated, stored FROM entry
                        JOIN generation ON generation.id = entry.generation WHERE entry.keyHash = ?
                        """, arguments: [index.name(of: key)]),
                let record = index.codec.decode(row), record.key == key
            else { return nil }
            return RecordedGeneration(
                record: record, usage: row.usage, chunks: try chunks(ofGeneration: record.id, in: database))
        }
    }

    /// The key of the entry that selects generation `id`; `nil` if there is none.
    func key(ofGeneration id: Int64) throws(RepriseError) -> CacheKey? {
        try index.read { database in
            try GenerationRow.first(
                database,
                sql: """
                    SELECT generation.id, generation.keyHash, record, salt FROM generation
                    JOIN entry ON entry.generation = generation.id AND entry.keyHash = generation.keyHash
                    WHERE generation.id = ?
                    """, arguments: [id]
            ).flatMap { index.codec.decode($0) }?.key
        }
    }

    /// Bytes on disk of the entry of `key` and its variants.
    func allocated(of key: CacheKey) throws(RepriseError) -> Int64 {
        try index.read { database in
            try Int64.fetchOne(
                database,
                sql: "SELECT SUM(allocated) FROM generation WHERE keyHash = ?1 OR keyHash IN (\(Self.variants))",
                arguments: [index.name(of: key)]) ?? 0
        }
    }

    /// Bytes on disk of the entries under `keys`, without their variants.
    func allocated(of keys: [CacheKey]) throws(RepriseError) -> Int64 {
        try index.read { database in
            try keys.reduce(0) { $0 + (try usage(ofEntry: index.name(of: $1), in: database).allocated) }
        }
    }

    /// Usage of all generations of the entry `name`.
    func usage(ofEntry name: String, in database: Database) throws -> Usage {
        try GenerationRow.all(
            database, sql: "SELECT id, keyHash, allocated, stored FROM generation WHERE keyHash = ?", arguments: [name]
        ).reduce(Usage()) { $0 + $1.usage }
    }

    func allocated(byGeneration id: Int64, in database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT allocated FROM generation WHERE id = ?", arguments: [id]) ?? 0
    }

    func chunks(ofGeneration id: Int64, in database: Database) throws -> [Int64: [Chunk]] {
        let blocks = try ChunkRow.all(
            database, sql: "SELECT generation, block, chunks FROM chunk WHERE generation = ?", arguments: [id])
        return Dictionary(blocks.map { ($0.block, $0.unpacked(isSealed: index.codec.vault != nil)) }) { $1 }
    }

    /// The names of the stored entries under `name`: its own, and those of its variants.
    func stored(under name: String, in database: Database) throws -> [String] {
        try String.fetchAll(
            database, sql: "SELECT keyHash FROM entry WHERE keyHash = ?1 OR keyHash IN (\(Self.variants))",
            arguments: [name])
    }

    // MARK: - Many keys

    /// The generations stored under `keys`, without variants.
    func generations(of keys: some Collection<CacheKey>) throws(RepriseError) -> [CacheKey: RecordedGeneration] {
        try index.read { try generations(of: keys, in: $0) }
    }

    /// The generations selected by requests for `keys`, in the order of `keys`.
    ///
    /// `variant` receives the position of a request and the Vary fields, and returns the key of the selected variant.
    func generations(
        for keys: [CacheKey], variant: (Int, Vary) -> CacheKey
    ) throws(RepriseError) -> [RecordedGeneration?] {
        try index.read { database in
            let fields = try varies(of: keys, in: database)
            let selected = keys.indices.map { place in
                fields.isEmpty ? keys[place] : fields[keys[place]].map { variant(place, $0) } ?? keys[place]
            }
            let found = try generations(of: Set(selected), in: database)
            return selected.map { found[$0] }
        }
    }

    private func generations(
        of keys: some Collection<CacheKey>, in database: Database
    ) throws -> [CacheKey: RecordedGeneration] {
        var found: [CacheKey: RecordedGeneration] = [:]
        try forEachPart(of: keys) { marks, names in
            let rows = try GenerationRow.all(
                database,
                sql: """
                    SELECT generation.id, entry.keyHash, record, salt, allocated, stored FROM entry
                    JOIN generation ON generation.id = entry.generation WHERE entry.keyHash IN (\(marks))
                    """, arguments: names)
            var chunks: [Int64: [Int64: [Chunk]]] = [:]
            let blocks = try ChunkRow.all(
                database,
                sql: """
                    SELECT generation, block, chunks FROM chunk
                    WHERE generation IN (SELECT generation FROM entry WHERE keyHash IN (\(marks)))
                    """, arguments: names)
            for row in blocks {
                chunks[row.generation, default: [:]][row.block] = row.unpacked(isSealed: index.codec.vault != nil)
            }
            for row in rows {
                guard let record = index.codec.decode(row) else { continue }
                found[record.key] = RecordedGeneration(
                    record: record, usage: row.usage, chunks: chunks[record.id] ?? [:])
            }
        }
        return found
    }

    /// Those of `keys` under which something is recorded, including variants.
    func recorded(_ keys: some Collection<CacheKey>) throws(RepriseError) -> Set<CacheKey> {
        try index.read { try recorded(keys, in: $0) }
    }

    func recorded(_ keys: some Collection<CacheKey>, in database: Database) throws -> Set<CacheKey> {
        let keysByName = Dictionary(keys.map { (index.name(of: $0), $0) }) { first, _ in first }
        var found: Set<CacheKey> = []
        try forEachPart(of: keysByName.values) { marks, names in
            let stored = try String.fetchAll(
                database,
                sql: """
                    SELECT keyHash FROM entry WHERE keyHash IN (\(marks))
                    UNION ALL SELECT signpost FROM selection WHERE signpost IN (\(marks))
                    """, arguments: names + names)
            found.formUnion(stored.compactMap { keysByName[$0] })
        }
        return found
    }

    /// Names that one query looks up.
    private static let lookupWidth = 500

    /// Calls `body` with the names of `keys`, in batches that fit into one SQL statement.
    func forEachPart(
        of keys: some Collection<CacheKey>, _ body: (_ marks: String, StatementArguments) throws -> Void
    ) throws {
        var rest = Array(keys)[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.lookupWidth)
            try body(databaseQuestionMarks(count: part.count), StatementArguments(part.map { index.name(of: $0) }))
            rest = rest.dropFirst(part.count)
        }
    }

    // MARK: - Variants

    /// A variant to record.
    struct Variant: Sendable {
        /// The key of the URL, without the selecting fields.
        let primary: CacheKey
        let vary: Vary
    }

    /// The request fields that select among the responses of `key`; `nil` if none do.
    func vary(of key: CacheKey) throws(RepriseError) -> Vary? {
        let names = try index.read { try variants(of: index.name(of: key), in: $0).flatMap(\.names) }
        return names.isEmpty ? nil : Vary(names: names)
    }

    func variants(of primary: String, in database: Database) throws -> [RecordCodec.VariantFields] {
        try VariantRow.compactMap(
            database, sql: "SELECT signpost, keyHash, record FROM selection WHERE signpost = ?", arguments: [primary]
        ) { index.codec.decodeVariant($0.record, name: $0.name) }
    }

    /// The request fields that select a variant, for each of `keys` that has variants.
    private func varies(of keys: [CacheKey], in database: Database) throws -> [CacheKey: Vary] {
        var fields: [String: [String]] = [:]
        try forEachPart(of: keys) { marks, names in
            let rows = try VariantRow.all(
                database, sql: "SELECT signpost, keyHash, record FROM selection WHERE signpost IN (\(marks))",
                arguments: names)
            for row in rows {
                fields[row.signpost, default: []] +=
                    index.codec.decodeVariant(row.record, name: row.name)?.names ?? []
            }
        }
        guard !fields.isEmpty else { return [:] }
        let varying = keys.compactMap { key in
            fields[index.name(of: key)].flatMap { $0.isEmpty ? nil : (key, Vary(names: $0)) }
        }
        return Dictionary(varying) { first, _ in first }
    }
}

/// A generation with its chunks, by block.
struct RecordedGeneration: Sendable {
    let record: GenerationRecord
    let usage: Usage
    let chunks: [Int64: [Chunk]]
}

// MARK: - Rows

/// A row of `generation`, or of a query that joins it.
///
/// Columns that the query does not select are empty.
struct GenerationRow: IndexRow {
    let id: Int64
    /// The name of the key.
    let name: String
    /// The encoded ``GenerationRecord``.
    let record: Data
    let salt: Data
    let usage: Usage

    init?(_ row: Row) {
        guard let id: Int64 = row.value("id"), let name: String = row.value("keyHash") else { return nil }
        (self.id, self.name) = (id, name)
        record = row.value("record") ?? Data()
        salt = row.value("salt") ?? Data()
        usage = Usage(row)
    }
}

extension Usage {
    /// The columns `allocated` and `stored`, bounded; 0 if they cannot be read.
    init(_ row: Row) {
        func size(_ column: String) -> Int64 { min(max(0, row.value(column) ?? 0), Self.most) }
        self.init(allocated: size("allocated"), stored: size("stored"))
    }
}

extension RecordCodec {
    /// The record in `row`; `nil` if it cannot be read.
    func decode(_ row: GenerationRow) -> GenerationRecord? {
        decode(row.record, id: row.id, name: row.name, salt: [UInt8](row.salt))
    }
}

/// A row of `chunk`: the chunks in one block of a generation.
struct ChunkRow: IndexRow {
    let generation: Int64
    let block: Int64
    private let packed: Data

    init?(_ row: Row) {
        guard let generation: Int64 = row.value("generation"), let block: Int64 = row.value("block"),
            let packed: Data = row.value("chunks")
        else { return nil }
        (self.generation, self.block, self.packed) = (generation, block, packed)
    }

    init(generation: Int64, block: Int64, chunks: [Chunk]) {
        (self.generation, self.block, packed) = (generation, block, Data(chunks.packed))
    }

    func unpacked(isSealed: Bool) -> [Chunk] { [Chunk](packed: [UInt8](packed), block: block, isSealed: isSealed) }

    func save(in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO chunk (generation, block, chunks) VALUES (?, ?, ?)",
            arguments: [generation, block, packed])
    }
}

/// A row of `selection`: a variant.
private struct VariantRow: IndexRow {
    /// The name of the primary key.
    let signpost: String
    /// The name of the variant's key.
    let name: String
    /// The encoded ``RecordCodec/VariantFields``.
    let record: Data

    init?(_ row: Row) {
        guard let signpost: String = row.value("signpost"), let name: String = row.value("keyHash"),
            let record: Data = row.value("record")
        else { return nil }
        (self.signpost, self.name, self.record) = (signpost, name, record)
    }
}
