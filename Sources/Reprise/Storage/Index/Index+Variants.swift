import Foundation
import GRDB
import HTTPSemantics

/// Which responses vary with the request, and which fields select among them (RFC 9111 §4.1).
extension Index {
    /// A variant to record: the key it belongs to, and the selecting fields.
    struct Variant: Sendable {
        let primary: CacheKey
        let vary: Vary
    }

    /// The request fields that select among the responses of `key`; `nil` if none do.
    func vary(of key: CacheKey) throws(RepriseError) -> Vary? {
        let names = try variants(of: key).flatMap(\.names)
        return names.isEmpty ? nil : Vary(names: names)
    }

    private func variants(of key: CacheKey) throws(RepriseError) -> [RecordCodec.VariantFields] {
        let primary = name(of: key)
        return try read { try variants(of: primary, in: $0) }
    }

    func variants(of primary: String, in database: Database) throws -> [RecordCodec.VariantFields] {
        try VariantRow.compactMap(
            database, sql: "SELECT keyHash, record FROM selection WHERE signpost = ?", arguments: [primary]
        ) { codec.decodeVariant($0.record, name: $0.name) }
    }

    func write(_ key: CacheKey, variant: Variant, to database: Database) throws {
        let name = name(of: key)
        let fields = RecordCodec.VariantFields(key: key.text, names: variant.vary.names)
        try VariantRow(fields, name: name, codec: codec).save(of: self.name(of: variant.primary), in: database)
    }

    /// Marks the generations of `key` and its variants as stale for good.
    func invalidate(_ key: CacheKey, in database: Database) throws {
        let rows = try GenerationRow.all(
            database,
            sql: """
                SELECT id, keyHash, record, salt FROM generation WHERE keyHash = ?1
                OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                """, arguments: [name(of: key)])
        for row in rows {
            guard var record = codec.decode(row) else { continue }
            record.requestTime = 0
            record.responseTime = 0
            try database.execute(
                sql: "UPDATE generation SET record = ? WHERE id = ?",
                arguments: [try codec.encode(record, name: row.name), record.id])
        }
    }

    /// Removes the variants and the retention of `keys`; returns the keys of the variants.
    func release(_ keys: [CacheKey]) async throws(RepriseError) -> [CacheKey] {
        let names = keys.map(name(of:))
        return try await write { database in
            var found: [CacheKey] = []
            for name in names {
                try Self.endRetention(of: name, in: database)
                found += try variants(of: name, in: database).map { CacheKey($0.key) }
                try database.execute(sql: "DELETE FROM selection WHERE signpost = ?", arguments: [name])
            }
            return found
        }
    }
}
