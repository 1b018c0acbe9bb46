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
        /// Whether it is a playlist, as far as is known.
        var isPlaylist = false
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
            allocated: max(0, (row.generation?.usage.allocated ?? 0) - (kept?.extents.byteCount ?? 0)), kept: kept,
            isPlaylist: record?.isPlaylist == true)
    }

    // MARK: - Playlists

    /// Of the files of a title that were used after a playlist, so many are looked at for one that is none.
    private static let lookedAt = 64
    /// How much later than the media of its title a playlist counts as used, in seconds.
    private static let lead = 0.001

    /// Makes the playlists among `candidates` count as used after the media of their titles, so that they are evicted
    /// after these: they are small, and without them the rest cannot be played.
    ///
    /// The last use of a title is that of one of its files, and so it stays, but for the lead. Returns the last uses by
    /// name of those that have changed.
    func postponePlaylists(among candidates: [Candidate]) async throws(RepriseError) -> [String: Double] {
        let names = candidates.filter(\.isPlaylist).map(\.name)
        guard !names.isEmpty else { return [:] }
        let uses = try await look { index in
            try index.read { database in
                try names.reduce(into: [:]) { $0[$1] = try index.laterUse(ofMediaBeside: $1, in: database) }
            }
        }
        guard !uses.isEmpty else { return [:] }
        try await write { database in
            for (name, use) in uses {
                try database.execute(
                    sql: "UPDATE entry SET lastUsed = ?1 WHERE keyHash = ?2 AND lastUsed < ?1", arguments: [use, name])
            }
        }
        return uses
    }

    /// The use from which on a playlist is the last file of its titles to go; `nil` if it is already.
    private func laterUse(ofMediaBeside name: String, in database: Database) throws -> Double? {
        let rows = try EntryRow.all(
            database,
            sql: """
                SELECT entry.keyHash, lastUsed, generation.id, record, salt FROM entry
                JOIN generation ON generation.id = entry.generation
                WHERE lastUsed >= (SELECT lastUsed FROM entry WHERE keyHash = ?1) AND entry.keyHash IN
                    (SELECT keyHash FROM member WHERE title IN (SELECT title FROM member WHERE keyHash = ?1))
                ORDER BY lastUsed DESC LIMIT \(Self.lookedAt)
                """, arguments: [name])
        let media = rows.first { row in row.generation.flatMap { codec.decode($0) }?.isPlaylist == false }
        return media.map { $0.lastUsed + Self.lead }
    }
}
