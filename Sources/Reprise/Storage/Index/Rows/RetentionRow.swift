import Foundation
import GRDB

/// A row of `retention`: how long a key stays, and which resource it is of.
struct RetentionRow: IndexRow {
    /// The name of the key.
    let name: String
    let retention: Retention
    /// The encoded key and URL.
    let target: Data

    init?(_ row: Row) {
        guard let name: String = row.value("keyHash"), let target: Data = row.value("target") else { return nil }
        (self.name, self.target) = (name, target)
        retention = Retention(row)
    }

    init(_ retained: Index.Retained, name: String, codec: RecordCodec) throws {
        self.name = name
        retention = retained.retention
        target = try codec.encode(
            RecordCodec.Target(
                key: retained.key.text, url: retained.url.description, selection: retained.selection,
                keyRule: retained.keyRule), name: name)
    }

    /// Adds or replaces the row; removes it if nothing is retained.
    func save(in database: Database) throws {
        guard let kind = retention.kind else {
            try database.execute(sql: "DELETE FROM retention WHERE keyHash = ?", arguments: [name])
            return
        }
        try database.execute(
            sql: """
                INSERT INTO retention (keyHash, kind, until, target, amount) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (keyHash) DO UPDATE SET kind = excluded.kind, until = excluded.until,
                    target = excluded.target, amount = excluded.amount,
                    position = IIF(kind = excluded.kind, position, NULL)
                """, arguments: [name, kind, retention.until, target, retention.amount])
    }
}
