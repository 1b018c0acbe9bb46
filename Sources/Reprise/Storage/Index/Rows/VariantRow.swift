import Foundation
import GRDB

/// A row of `selection`: a variant of a primary key.
struct VariantRow: IndexRow {
    /// The name of the variant's key.
    let name: String
    /// The encoded key and selecting fields.
    let record: Data

    init?(_ row: Row) {
        guard let name: String = row.value("keyHash"), let record: Data = row.value("record") else { return nil }
        (self.name, self.record) = (name, record)
    }

    init(_ fields: RecordCodec.VariantFields, name: String, codec: RecordCodec) throws {
        self.name = name
        record = try codec.encode(fields, name: name)
    }

    /// Adds or replaces the row of a variant of `primary`.
    func save(of primary: String, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO selection (keyHash, signpost, record) VALUES (?, ?, ?)",
            arguments: [name, primary, record])
    }
}

/// A row of `selection`, including the name of its primary key.
struct SignpostRow: IndexRow {
    let signpost: String
    let variant: VariantRow

    init?(_ row: Row) {
        guard let signpost: String = row.value("signpost"), let variant = VariantRow(row) else { return nil }
        (self.signpost, self.variant) = (signpost, variant)
    }
}
