import Foundation
import GRDB

/// A row of `title`: what a person names, and what the index has of it.
struct TitleRow: IndexRow {
    /// 0 for a row that is not saved.
    let id: Int64
    /// The name of the key of its first file.
    let name: String
    /// The name of its tag, by which titles are found.
    let tag: String?
    /// The encoded ``RecordCodec/TitleFields``.
    let record: Data
    /// Whether it stays without files.
    private let isNamed: Bool

    init?(_ row: Row) {
        guard let id: Int64 = row.value("id"), let name: String = row.value("keyHash"),
            let record: Data = row.value("record")
        else { return nil }
        (self.id, self.name, self.record) = (id, name, record)
        tag = row.value("tag")
        isNamed = row.value("named") ?? false
    }

    init(_ fields: RecordCodec.TitleFields, name: String, tag: String? = nil, codec: RecordCodec) throws {
        (id, self.name, self.tag) = (0, name, tag)
        record = try codec.encode(fields, name: name)
        isNamed = fields.name != nil || fields.tag != nil
    }

    /// Adds or replaces the row; returns its number.
    func save(in database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: """
                INSERT INTO title (keyHash, tag, named, record) VALUES (?, ?, ?, ?)
                ON CONFLICT (keyHash) DO UPDATE SET tag = excluded.tag, named = excluded.named, record = excluded.record
                RETURNING id
                """, arguments: [name, tag, isNamed, record]) ?? 0
    }
}

/// A row of `title` with the sums of its files, where the query has them.
struct TitleSummaryRow: IndexRow {
    let title: TitleRow
    var sums: TitleSums
    let plays: Int
    let retention: Retention

    init?(_ row: Row) {
        guard let title = TitleRow(row) else { return nil }
        self.title = title
        sums = TitleSums(row)
        plays = max(0, row.value("plays") ?? 0)
        retention = Retention(row)
    }
}
