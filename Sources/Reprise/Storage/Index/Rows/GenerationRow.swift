import Foundation
import GRDB

/// A row of `generation`, or of a query that joins it; what the query does not select is empty.
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

    init(_ generation: Index.Batch.Generation, name: String, codec: RecordCodec) throws {
        id = generation.record.id
        self.name = name
        record = try codec.encode(generation.record, name: name)
        salt = Data(generation.record.salt)
        usage = generation.usage
    }

    /// Adds the row; if it exists, its record and its sizes change.
    func save(in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO generation (id, keyHash, record, salt, allocated, stored) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    record = excluded.record, allocated = excluded.allocated, stored = excluded.stored
                """, arguments: [id, name, record, salt, usage.allocated, usage.stored])
    }
}

/// A row of `generation`, and whether the entry of its name selects it.
struct SelectedGenerationRow: IndexRow {
    let generation: GenerationRow
    let isSelected: Bool

    init?(_ row: Row) {
        guard let generation = GenerationRow(row) else { return nil }
        self.generation = generation
        isSelected = row.value("isSelected") ?? false
    }
}

extension Usage {
    /// The columns `allocated` and `stored`, bounded; 0 for what cannot be read.
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
