import Foundation
import GRDB
import HTTPSemantics

/// Batch lookups: many keys in one index read.
extension Index {
    /// The generations stored under `keys`, without other variants.
    func generations(of keys: some Collection<CacheKey>) throws(RepriseError) -> [CacheKey: RecordedGeneration] {
        try read { try generations(of: keys, in: $0) }
    }

    /// The generations selected by requests for `keys`, in the order of `keys`.
    ///
    /// `variant` receives the index of a request and the Vary fields, and returns the key of the selected variant.
    func generations(
        for keys: [CacheKey], variant: (Int, Vary) -> CacheKey
    ) throws(RepriseError) -> [RecordedGeneration?] {
        try read { database in
            let fields = try varies(of: keys, in: database)
            let selected = keys.indices.map { index in
                fields.isEmpty ? keys[index] : fields[keys[index]].map { variant(index, $0) } ?? keys[index]
            }
            let found = try generations(of: Set(selected), in: database)
            return selected.map { found[$0] }
        }
    }

    /// The entries of `keys` and their variants, most recently used first.
    func entries(of keys: some Collection<CacheKey>) throws(RepriseError) -> [CacheEntry] {
        try read { database in
            var found: [CacheEntry] = []
            try forEachPart(of: keys) { marks, names in
                found += try entries(
                    """
                    WHERE entry.keyHash IN (\(marks))
                        OR entry.keyHash IN (SELECT keyHash FROM selection WHERE signpost IN (\(marks)))
                    """, names + names, in: database)
            }
            return found.sorted { $0.lastUsed > $1.lastUsed }
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
            let blocks = try GenerationChunkRow.all(
                database,
                sql: """
                    SELECT generation, block, chunks FROM chunk
                    WHERE generation IN (SELECT generation FROM entry WHERE keyHash IN (\(marks)))
                    """, arguments: names)
            for row in blocks {
                chunks[row.generation, default: [:]][row.chunk.block] = [Chunk](
                    packed: [UInt8](row.chunk.chunks), block: row.chunk.block, isSealed: codec.vault != nil)
            }
            for row in rows {
                guard let record = codec.decode(row) else { continue }
                found[record.key] = RecordedGeneration(
                    record: record, usage: row.usage, chunks: chunks[record.id] ?? [:])
            }
        }
        return found
    }

    /// The request fields that select a variant, for each of `keys` that has variants.
    private func varies(of keys: [CacheKey], in database: Database) throws -> [CacheKey: Vary] {
        var fields: [String: [String]] = [:]
        try forEachPart(of: keys) { marks, names in
            let rows = try SignpostRow.all(
                database, sql: "SELECT signpost, keyHash, record FROM selection WHERE signpost IN (\(marks))",
                arguments: names)
            for row in rows {
                fields[row.signpost, default: []] +=
                    codec.decodeVariant(row.variant.record, name: row.variant.name)?.names ?? []
            }
        }
        guard !fields.isEmpty else { return [:] }
        let varying = keys.compactMap { key in
            fields[name(of: key)].flatMap { $0.isEmpty ? nil : (key, Vary(names: $0)) }
        }
        return Dictionary(varying) { first, _ in first }
    }

    /// Calls `body` with the names of `keys`, in batches that fit into one SQL statement.
    private func forEachPart(
        of keys: some Collection<CacheKey>, _ body: (_ marks: String, StatementArguments) throws -> Void
    ) throws {
        var rest = Array(keys)[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.lookupWidth)
            try body(databaseQuestionMarks(count: part.count), StatementArguments(part.map { name(of: $0) }))
            rest = rest.dropFirst(part.count)
        }
    }
}
