import ByteRanges
import GRDB

/// Which entries may be evicted: those that nothing retains as a whole.
extension EntryStore {
    struct Candidate: Sendable {
        let name: String
        /// `nil` if the record cannot be read; the entry is then unusable.
        let key: CacheKey?
        var url: ResourceURL?
        /// Bytes on disk that its removal should free.
        var allocated: Int64 = 0
        /// The parts that are kept; `nil` if the whole entry may be evicted.
        var kept: ByteRangeSet?
        /// Whether it is a playlist, as far as is known.
        var isPlaylist = false
    }

    /// Bytes on disk of entries of live streams that may be evicted.
    func liveBytes() throws(RepriseError) -> Int64 {
        try index.read { database in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT \(Self.sum("allocated")) FROM entry
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
        try index.read { database in
            try EntryRow.compactMap(
                database,
                sql: """
                    \(EntryRow.withGenerations)
                    WHERE retained = 0 AND live >= ? AND lastUsed < ? ORDER BY \(policy.order) LIMIT ? OFFSET ?
                    """, arguments: [onlyLive ? 1 : 0, date ?? .infinity, limit, offset]
            ) { try candidate($0, in: database) }
        }
    }

    /// The evictable files of the title of `key` that belong to no other one, the least recently used first.
    func candidates(ofTitle key: CacheKey) throws(RepriseError) -> [Candidate] {
        let id = try index.read { try TitleStore.number(ofTitle: index.name(of: key), in: $0) }
        return try id.map { id throws(RepriseError) in try candidates(ofTitle: id, besides: []) } ?? []
    }

    /// The evictable files of a title that belong to no other one besides `gone`, the least recently used first.
    func candidates(ofTitle id: Int64, besides gone: some Collection<Int64>) throws(RepriseError) -> [Candidate] {
        let others = ([id] + gone).map { "\($0)" }.joined(separator: ", ")
        return try index.read { database in
            try EntryRow.compactMap(
                database,
                sql: """
                    SELECT entry.keyHash, generation.id, record, salt, allocated, stored FROM member
                    JOIN entry ON entry.keyHash = member.keyHash
                    LEFT JOIN generation ON generation.id = entry.generation
                    WHERE member.title = ? AND retained = 0 AND NOT EXISTS (SELECT 1 FROM member AS other
                        WHERE other.keyHash = member.keyHash AND other.title NOT IN (\(others)))
                    ORDER BY lastUsed, entry.keyHash
                    """, arguments: [id]
            ) { try candidate($0, in: database) }
        }
    }

    private func candidate(_ row: EntryRow, in database: Database) throws -> Candidate {
        let record = row.generation.flatMap { index.codec.decode($0) }
        let kept = try RetentionStore.keptParts(of: row.name, in: database)
        return Candidate(
            name: row.name, key: record?.key, url: record?.url,
            allocated: max(0, (row.generation?.usage.allocated ?? 0) - (kept?.extents.byteCount ?? 0)), kept: kept,
            isPlaylist: record?.isPlaylist == true)
    }

    // MARK: - Playlists

    /// Files of a title, used after its playlist, among which media are searched for.
    private static let lookedAt = 64
    /// How much later than the media of its title a playlist counts as used, in seconds.
    private static let lead = 0.001

    /// Makes the playlists among `candidates` count as used after the media of their titles, so that they are evicted
    /// last: they are small, and the media cannot be played without them.
    ///
    /// Returns the new times of last use by name. The last use of a title, which is that of one of its files, changes
    /// by no more than the lead.
    func postponePlaylists(among candidates: [Candidate]) async throws(RepriseError) -> [String: Double] {
        let names = candidates.filter(\.isPlaylist).map(\.name)
        guard !names.isEmpty else { return [:] }
        let uses = try await DiskQueue.shared.run { () throws(RepriseError) in
            try index.read { database in
                try names.reduce(into: [:]) { $0[$1] = try laterUse(ofMediaBeside: $1, in: database) }
            }
        }
        guard !uses.isEmpty else { return [:] }
        try await index.write { database in
            for (name, use) in uses {
                try database.execute(
                    sql: "UPDATE entry SET lastUsed = ?1 WHERE keyHash = ?2 AND lastUsed < ?1", arguments: [use, name])
            }
        }
        return uses
    }

    /// The time of use that makes a playlist the last file of its titles to be evicted; `nil` if it is already.
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
        let media = rows.first { row in row.generation.flatMap { index.codec.decode($0) }?.isPlaylist == false }
        return media.map { $0.lastUsed + Self.lead }
    }
}
