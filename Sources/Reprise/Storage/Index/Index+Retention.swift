import Foundation
import GRDB

extension Index {
    /// SQL for the names whose retention retains `entry`: its own, that of its response where that varies, and those of
    /// the titles whose playlists list it.
    private static let holders = """
        SELECT entry.keyHash UNION ALL SELECT signpost FROM selection WHERE selection.keyHash = entry.keyHash
        UNION ALL SELECT title.keyHash FROM member JOIN title ON title.id = member.title
        WHERE member.keyHash = entry.keyHash AND member.listed = 1
        """

    /// SQL for whether all of `entry` is retained.
    static let isHeld = """
        (EXISTS (SELECT 1 FROM retention WHERE kind <> 3 AND retention.keyHash IN (\(holders)))
         OR EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash AND bytes >= \(Usage.most)))
        """

    /// SQL for the name whose retention keeps `entry` longest; last one that keeps a part of it.
    static let holder = """
        (SELECT held.keyHash FROM retention AS held WHERE held.keyHash IN (\(holders))
            AND (kind <> 3 OR EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash AND holder = held.keyHash))
         ORDER BY kind = 3, held.until IS NOT NULL, held.until DESC LIMIT 1)
        """

    /// Sets or removes the retention of a key; a download uses networks as `networkPolicy` says, and comes last.
    ///
    /// `mayRetain` is told how much is retained then; by an error it stays as it was, and so it does where a tag would
    /// exceed its limit.
    func retain(
        _ retained: Retained, networkPolicy: NetworkPolicy = .any,
        mayRetain: @escaping @Sendable (Usage) throws -> Void = { _ in }
    ) async throws(RepriseError) {
        let name = name(of: retained.key)
        try await write { database in
            var row = retained
            row.keyRule = try keyRule(ofDownload: name, in: database) ?? retained.keyRule
            try RetentionRow(row, name: name, codec: codec).save(in: database)
            if retained.retention == .download { try beginDownload(name, networkPolicy: networkPolicy, in: database) }
            if !retained.files.isEmpty {
                // Kept by itself now, it begins a title although another one may name it.
                _ = try add(retained.files, to: TitleReference(key: retained.key, url: retained.url), in: database)
            }
            for (key, ranges) in retained.parts {
                try PartRow.save(ranges, of: self.name(of: key), for: name, in: database)
            }
            try database.execute(
                sql: """
                    UPDATE entry SET retained = \(Self.isHeld) WHERE keyHash = ?1
                    OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                    OR keyHash IN (SELECT keyHash FROM part WHERE holder = ?1)
                    OR keyHash IN (SELECT member.keyHash FROM member JOIN title ON title.id = member.title
                        WHERE title.keyHash = ?1)
                    """, arguments: [name])
            try mayRetain(try Self.retainedUsage(in: database))
            guard retained.retention != .cached else { return }
            for tag in try tags(ofFile: name, in: database) { try checkKept(tag, in: database) }
        }
    }

    /// The retention of `key`.
    func retention(of key: CacheKey) throws(RepriseError) -> Retention {
        let name = name(of: key)
        return try read { database in
            try Row.fetchOne(
                database, sql: "SELECT kind, until, amount FROM retention WHERE keyHash = ?", arguments: [name]
            ).map { Retention($0) } ?? .cached
        }
    }

    /// Whether the whole entry of `key` is retained, by itself or with a title.
    func isKept(_ key: CacheKey) throws(RepriseError) -> Bool {
        let name = name(of: key)
        return try read { database in
            // A response that was just stored may have no entry yet.
            try Bool.fetchOne(
                database,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM retention WHERE keyHash = ?1 AND kind <> 3)
                    OR EXISTS (SELECT 1 FROM entry WHERE keyHash = ?1 AND retained = 1)
                    """, arguments: [name]) ?? false
        }
    }

    /// SQL for whether `entry` is marked as retained, and is no longer.
    private static let isReleased = """
        (retained = 1 AND NOT \(isHeld)
         OR retained = 2 AND NOT EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash))
        """

    /// Ends the retention of a name, and marks the entries as evictable that are no longer retained.
    ///
    /// Looks at the entries of that name alone, however many others are retained.
    static func endRetention(of name: String, in database: Database) throws {
        // Before the row goes, and its parts with it.
        let retained = try String.fetchAll(
            database,
            sql: """
                SELECT ?1 UNION SELECT keyHash FROM selection WHERE signpost = ?1
                UNION SELECT keyHash FROM part WHERE holder = ?1
                UNION SELECT member.keyHash FROM member JOIN title ON title.id = member.title WHERE title.keyHash = ?1
                """, arguments: [name])
        try database.execute(sql: "DELETE FROM retention WHERE keyHash = ?", arguments: [name])
        guard database.changesCount > 0 else { return }
        for entry in retained {
            try database.cachedStatement(
                sql: "UPDATE entry SET retained = 0 WHERE keyHash = ? AND \(isReleased)"
            ).execute(arguments: [entry])
        }
    }

    /// Records that of an entry nothing is left but the parts that stay, so that eviction passes over it until more is
    /// stored.
    func markTrimmed(_ name: String) async throws(RepriseError) {
        try await write { database in
            try database.execute(
                sql: """
                    UPDATE entry SET retained = 2 WHERE keyHash = ?1 AND retained = 0
                    AND EXISTS (SELECT 1 FROM part WHERE keyHash = ?1)
                    """, arguments: [name])
        }
    }

    /// The parts of an entry that stay; `nil` if none do.
    func keptParts(of name: String, in database: Database) throws -> ByteRangeSet? {
        let rows = try PartRow.all(database, sql: "SELECT ranges FROM part WHERE keyHash = ?", arguments: [name])
        guard !rows.isEmpty else { return nil }
        return rows.reduce(into: ByteRangeSet()) { $0.formUnion($1.ranges) }
    }

    /// Ends retentions that expired before `date`; false if there was none.
    func releaseExpired(before date: Double) async throws(RepriseError) -> Bool {
        let isDue = try await look { index in
            try index.read { database in
                try Bool.fetchOne(
                    database, sql: "SELECT EXISTS (SELECT 1 FROM retention WHERE until <= ?)", arguments: [date])
            }
        }
        guard isDue == true else { return false }
        try await write { database in
            try database.execute(sql: "DELETE FROM retention WHERE until <= ?", arguments: [date])
            try database.execute(sql: "UPDATE entry SET retained = 0 WHERE \(Self.isReleased)")
        }
        return true
    }

    /// A key that is kept, and for how long.
    struct Retained: Sendable {
        let key: CacheKey
        let url: ResourceURL
        let retention: Retention
        /// What of a stream is downloaded.
        var selection: StreamSelection?
        /// How a download derives the keys of a stream's files; `nil` for the cache's own rule.
        var keyRule: KeyRule?
        /// Where the beginning is kept, which bytes of which files that is.
        var parts: [CacheKey: ByteRangeSet] = [:]
        /// Where a playlist is pinned, the files that it names.
        var files: Set<CacheKey> = []
    }

    /// All retained keys.
    func holds() throws(RepriseError) -> [Retained] {
        try read { try holds(in: $0) }
    }

    private func holds(
        _ condition: String = "", _ arguments: StatementArguments = StatementArguments(), in database: Database
    ) throws -> [Retained] {
        try RetentionRow.compactMap(
            database, sql: "SELECT keyHash, kind, until, target, amount FROM retention \(condition)",
            arguments: arguments
        ) { row in
            guard let target = codec.decodeTarget(row.target, name: row.name), let url = try? ResourceURL(target.url)
            else { return nil }
            return Retained(key: CacheKey(target.key), url: url, retention: row.retention)
        }
    }

    /// Retained keys of which nothing is stored.
    func awaitedRetentions() throws(RepriseError) -> [Retained] {
        try read { database in
            let present = try String.fetchSet(
                database,
                sql: """
                    SELECT keyHash FROM entry
                    UNION SELECT signpost FROM selection JOIN entry ON entry.keyHash = selection.keyHash
                    """)
            return try holds(in: database).filter { !present.contains(name(of: $0.key)) }
        }
    }

    /// What is retained under `key` if nothing of it is stored; `nil` otherwise.
    func awaitedRetention(of key: CacheKey) throws(RepriseError) -> Retained? {
        let name = name(of: key)
        return try read { database in
            let condition = """
                WHERE keyHash = ?1 AND NOT EXISTS (SELECT 1 FROM entry WHERE keyHash = ?1
                    OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1))
                """
            return try holds(condition, [name], in: database).first
        }
    }

    /// Bytes that the entry of `key` and its variants occupy on disk.
    func allocated(of key: CacheKey) throws(RepriseError) -> Int64 {
        let name = name(of: key)
        return try read { database in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT SUM(allocated) FROM generation WHERE keyHash = ?1
                    OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                    """, arguments: [name]) ?? 0
        }
    }

    /// Disk usage of all retained entries and parts.
    func retainedUsage() throws(RepriseError) -> Usage { try read { try Self.retainedUsage(in: $0) } }

    /// Bytes on disk of retained entries and parts that are not of the title of `key`; with a tag, only of files of
    /// titles with that tag.
    func retainedBytes(besidesTitleOf key: CacheKey, taggedAs tag: String? = nil) throws(RepriseError) -> Int64 {
        let name = name(of: key)
        let tagName = tag.map(name(ofTag:))
        return try read { database in
            let own = try Int64.fetchOne(
                database,
                sql: """
                    SELECT \(Self.sum("allocated")) FROM entry JOIN generation ON generation.id = entry.generation
                    WHERE retained = 1 AND entry.keyHash IN (SELECT ?1
                        UNION SELECT keyHash FROM selection WHERE signpost = ?1
                        UNION SELECT member.keyHash FROM member JOIN title ON title.id = member.title
                            WHERE title.keyHash = ?1)
                    """, arguments: [name])
            return max(0, try Self.retainedUsage(taggedAs: tagName, in: database).allocated - (own ?? 0))
        }
    }

    /// Disk usage of retained entries and parts; with the name of a tag, only of files of titles with that tag.
    static func retainedUsage(taggedAs tag: String? = nil, in database: Database) throws -> Usage {
        let isMeant = tag == nil ? "" : "AND entry.keyHash IN (\(tagged))"
        return try Row.fetchOne(
            database,
            sql: """
                SELECT CAST(MIN(TOTAL(allocated), \(Usage.most)) AS INTEGER) AS allocated,
                    CAST(MIN(TOTAL(stored), \(Usage.most)) AS INTEGER) AS stored
                FROM (
                    SELECT allocated, stored FROM generation
                    WHERE keyHash IN (SELECT keyHash FROM entry WHERE retained = 1 \(isMeant))
                    UNION ALL
                    SELECT MIN(allocated, MAX(bytes)), MIN(stored, MAX(bytes)) FROM part
                    JOIN entry ON entry.keyHash = part.keyHash AND retained <> 1 \(isMeant)
                    JOIN generation ON generation.id = entry.generation GROUP BY part.keyHash)
                """, arguments: tag.map { [$0] } ?? StatementArguments()
        ).map { Usage($0) } ?? Usage()
    }
}
