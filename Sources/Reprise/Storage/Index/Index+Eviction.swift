import ByteRanges
import GRDB

/// Which entries may be evicted: those that nothing retains as a whole.
extension Index {
    /// An entry as eviction sees it.
    struct Candidate: Sendable {
        let name: String
        /// `nil` if the record cannot be read; the entry is then unusable.
        let key: CacheKey?
        /// Where it is.
        var url: ResourceURL?
        /// Bytes on disk that its removal should free.
        var allocated: Int64 = 0
        /// The parts that stay; `nil` if it may go as a whole.
        var kept: ByteRangeSet?
    }

    /// Bytes on disk of entries of live streams that may be evicted.
    func liveBytes() throws(RepriseError) -> Int64 {
        try read { database in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT CAST(MIN(TOTAL(MIN(MAX(allocated, 0), \(Usage.most))), \(Usage.most)) AS INTEGER) FROM entry
                    JOIN generation ON generation.id = entry.generation WHERE retained = 0 AND live = 1
                    """) ?? 0
        }
    }

    /// Entries that may be evicted, in the order of `policy`; with `onlyLive`, only those of live streams.
    ///
    /// With `date`, only those last used before it.
    func candidates(
        by policy: EvictionPolicy, limit: Int, offset: Int, before date: Double? = nil, onlyLive: Bool = false
    ) throws(RepriseError) -> [Candidate] {
        try read { database in
            try EntryRow.compactMap(
                database,
                sql: """
                    \(EntryRow.withGenerations)
                    WHERE retained = 0 AND live >= ? AND lastUsed < ? ORDER BY \(policy.order) LIMIT ? OFFSET ?
                    """, arguments: [onlyLive ? 1 : 0, date ?? .infinity, limit, offset]
            ) { try candidate($0, in: database) }
        }
    }

    func candidate(_ row: EntryRow, in database: Database) throws -> Candidate {
        let record = row.generation.flatMap { codec.decode($0) }
        let kept = try keptParts(of: row.name, in: database)
        return Candidate(
            name: row.name, key: record?.key, url: record?.url,
            allocated: max(0, (row.generation?.usage.allocated ?? 0) - (kept?.extents.byteCount ?? 0)), kept: kept)
    }
}
