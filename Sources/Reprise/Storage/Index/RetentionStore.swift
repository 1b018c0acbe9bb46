import ByteRanges
import Foundation
import GRDB

/// The tables `retention` and `part`: pins, downloads and kept beginnings, and the entries that they protect from
/// eviction.
struct RetentionStore: Sendable {
    private let index: IndexDatabase
    private let entries: EntryStore
    private let titles: TitleStore
    private let downloads: DownloadStore

    init(_ index: IndexDatabase, entries: EntryStore, titles: TitleStore, downloads: DownloadStore) {
        (self.index, self.entries, self.titles, self.downloads) = (index, entries, titles, downloads)
    }

    // MARK: - SQL

    /// The names whose retention applies to `entry`: its own, its primary key, and the titles whose playlists list it.
    private static let holders = """
        SELECT entry.keyHash UNION ALL SELECT signpost FROM selection WHERE selection.keyHash = entry.keyHash
        UNION ALL SELECT title.keyHash FROM member JOIN title ON title.id = member.title
        WHERE member.keyHash = entry.keyHash AND member.listed = 1
        """

    /// Whether all of `entry` is retained.
    static let isHeld = """
        (EXISTS (SELECT 1 FROM retention WHERE kind <> 3 AND retention.keyHash IN (\(holders)))
         OR EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash AND bytes >= \(Usage.most)))
        """

    /// The name whose retention keeps `entry` longest.
    ///
    /// One that keeps only a part of it comes last.
    static let holder = """
        (SELECT held.keyHash FROM retention AS held WHERE held.keyHash IN (\(holders))
            AND (kind <> 3 OR EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash AND holder = held.keyHash))
         ORDER BY kind = 3, held.until IS NOT NULL, held.until DESC LIMIT 1)
        """

    /// Whether `entry` is marked as retained and no longer is.
    private static let isReleased = """
        (retained = 1 AND NOT \(isHeld)
         OR retained = 2 AND NOT EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash))
        """

    // MARK: - Changing

    /// A retained resource.
    struct Retained: Sendable {
        let key: CacheKey
        let url: ResourceURL
        let retention: Retention
        /// Which parts of a stream are downloaded.
        var selection: StreamSelection?
        /// How a download derives the keys of a stream's files; `nil` for the cache's own rule.
        var keyRule: KeyRule?
        /// Of a kept beginning, the bytes of each file.
        var parts: [CacheKey: ByteRangeSet] = [:]
        /// Of a pinned playlist, the files that it names.
        var files: Set<CacheKey> = []
    }

    /// Sets or removes the retention of a key.
    ///
    /// A new download is placed last and uses networks as `networkPolicy` allows.
    ///
    /// `mayRetain` receives the usage of everything that would be retained. If it throws, or a tag would exceed its
    /// limit, nothing changes.
    func retain(
        _ retained: Retained, networkPolicy: NetworkPolicy = .any,
        mayRetain: @escaping @Sendable (Usage) throws -> Void = { _ in }
    ) async throws(RepriseError) {
        let name = index.name(of: retained.key)
        try await index.write { database in
            var row = retained
            row.keyRule = try downloads.keyRule(ofDownload: name, in: database) ?? retained.keyRule
            try RetentionRow(row, name: name, codec: index.codec).save(in: database)
            if retained.retention == .download {
                try DownloadStore.begin(name, networkPolicy: networkPolicy, in: database)
            }
            if !retained.files.isEmpty {
                // A playlist that is kept by itself begins a title, even if it belongs to another one.
                _ = try titles.add(
                    retained.files, to: TitleReference(key: retained.key, url: retained.url), in: database)
            }
            for (key, ranges) in retained.parts {
                try PartRow.save(ranges, of: index.name(of: key), for: name, in: database)
            }
            try Self.updateHeld(
                """
                keyHash = ?1
                OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                OR keyHash IN (SELECT keyHash FROM part WHERE holder = ?1)
                OR keyHash IN (SELECT member.keyHash FROM member JOIN title ON title.id = member.title
                    WHERE title.keyHash = ?1)
                """, [name], in: database)
            try mayRetain(try Self.retainedUsage(in: database))
            guard retained.retention != .cached else { return }
            for tag in try titles.tags(ofFile: name, in: database) { try titles.checkKept(tag, in: database) }
        }
    }

    /// Marks the entries that `condition` selects as retained, or as evictable.
    static func updateHeld(_ condition: String, _ arguments: StatementArguments, in database: Database) throws {
        try database.execute(sql: "UPDATE entry SET retained = \(isHeld) WHERE \(condition)", arguments: arguments)
    }

    /// Ends the retention of a name, and marks the entries that are no longer retained as evictable.
    ///
    /// Checks only the entries that this retention applies to, however many others are retained.
    static func endRetention(of name: String, in database: Database) throws {
        // Before the row is removed, and its parts with it.
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

    /// Ends the retention of a URL whose last variant, `name`, is removed explicitly.
    func endRetention(ofLastVariant name: String, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM retention WHERE keyHash = (SELECT signpost FROM selection WHERE keyHash = ?)
                AND NOT EXISTS (SELECT 1 FROM selection JOIN entry ON entry.keyHash = selection.keyHash
                    WHERE selection.signpost = retention.keyHash)
                """, arguments: [name])
    }

    /// Ends retentions that expired before `date`; returns false if there were none.
    func releaseExpired(before date: Double) async throws(RepriseError) -> Bool {
        let isDue = try await DiskQueue.shared.run { () throws(RepriseError) in
            try index.read { database in
                try Bool.fetchOne(
                    database, sql: "SELECT EXISTS (SELECT 1 FROM retention WHERE until <= ?)", arguments: [date])
            }
        }
        guard isDue == true else { return false }
        try await index.write { database in
            try database.execute(sql: "DELETE FROM retention WHERE until <= ?", arguments: [date])
            try database.execute(sql: "UPDATE entry SET retained = 0 WHERE \(Self.isReleased)")
        }
        return true
    }

    /// Removes the variants and the retentions of `keys`; returns the keys of the variants.
    func release(_ keys: [CacheKey]) async throws(RepriseError) -> [CacheKey] {
        let names = keys.map(index.name(of:))
        return try await index.write { database in
            var found: [CacheKey] = []
            for name in names {
                try Self.endRetention(of: name, in: database)
                found += try entries.variants(of: name, in: database).map { CacheKey($0.key) }
                try database.execute(sql: "DELETE FROM selection WHERE signpost = ?", arguments: [name])
            }
            return found
        }
    }

    /// Records that only the kept parts of an entry are left, so that eviction skips it until more is stored.
    func markTrimmed(_ name: String) async throws(RepriseError) {
        try await index.write { database in
            try database.execute(
                sql: """
                    UPDATE entry SET retained = 2 WHERE keyHash = ?1 AND retained = 0
                    AND EXISTS (SELECT 1 FROM part WHERE keyHash = ?1)
                    """, arguments: [name])
        }
    }

    // MARK: - Reading

    func retention(of key: CacheKey) throws(RepriseError) -> Retention {
        try index.read { database in
            try Row.fetchOne(
                database, sql: "SELECT kind, until, amount FROM retention WHERE keyHash = ?",
                arguments: [index.name(of: key)]
            ).map { Retention($0) } ?? .cached
        }
    }

    /// Whether the whole entry of `key` is retained, by itself or with a title.
    func isKept(_ key: CacheKey) throws(RepriseError) -> Bool {
        try index.read { database in
            // A response that was just stored may have no entry yet.
            try Bool.fetchOne(
                database,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM retention WHERE keyHash = ?1 AND kind <> 3)
                    OR EXISTS (SELECT 1 FROM entry WHERE keyHash = ?1 AND retained = 1)
                    """, arguments: [index.name(of: key)]) ?? false
        }
    }

    /// Those of `names` that are retained, as a whole or in part.
    func held(_ names: [String]) throws(RepriseError) -> Set<String> {
        try index.read { database in Set(try names.filter { try Self.isHeld($0, in: database) }) }
    }

    static func isHeld(_ name: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT retained OR EXISTS (SELECT 1 FROM part WHERE part.keyHash = entry.keyHash)
                FROM entry WHERE keyHash = ?
                """, arguments: [name]) ?? false
    }

    /// The kept parts of an entry; `nil` if there are none.
    static func keptParts(of name: String, in database: Database) throws -> ByteRangeSet? {
        let rows = try PartRow.all(database, sql: "SELECT ranges FROM part WHERE keyHash = ?", arguments: [name])
        guard !rows.isEmpty else { return nil }
        return rows.reduce(into: ByteRangeSet()) { $0.formUnion($1.ranges) }
    }

    func all() throws(RepriseError) -> [Retained] { try index.read { try select(in: $0) } }

    private func select(
        _ condition: String = "", _ arguments: StatementArguments = StatementArguments(), in database: Database
    ) throws -> [Retained] {
        try RetentionRow.compactMap(
            database, sql: "SELECT keyHash, kind, until, target, amount FROM retention \(condition)",
            arguments: arguments
        ) { row in
            guard let target = index.codec.decodeTarget(row.target, name: row.name),
                let url = try? ResourceURL(target.url)
            else { return nil }
            return Retained(key: CacheKey(target.key), url: url, retention: row.retention)
        }
    }

    /// Retained keys without stored bytes.
    func awaited() throws(RepriseError) -> [Retained] {
        try index.read { database in
            let present = try String.fetchSet(
                database,
                sql: """
                    SELECT keyHash FROM entry
                    UNION SELECT signpost FROM selection JOIN entry ON entry.keyHash = selection.keyHash
                    """)
            return try select(in: database).filter { !present.contains(index.name(of: $0.key)) }
        }
    }

    /// The retention of `key` if it has no stored bytes; `nil` otherwise.
    func awaited(_ key: CacheKey) throws(RepriseError) -> Retained? {
        try index.read { database in
            let condition = """
                WHERE keyHash = ?1 AND NOT EXISTS (SELECT 1 FROM entry WHERE keyHash = ?1
                    OR keyHash IN (\(EntryStore.variants)))
                """
            return try select(condition, [index.name(of: key)], in: database).first
        }
    }

    // MARK: - Usage

    /// Disk usage of all retained entries and parts.
    func retainedUsage() throws(RepriseError) -> Usage { try index.read { try Self.retainedUsage(in: $0) } }

    /// Bytes on disk of retained entries and parts that do not belong to the title of `key`; with a tag, only of files
    /// of titles with that tag.
    func retainedBytes(besidesTitleOf key: CacheKey, taggedAs tag: String? = nil) throws(RepriseError) -> Int64 {
        let tagName = tag.map(titles.name(ofTag:))
        return try index.read { database in
            let own = try Int64.fetchOne(
                database,
                sql: """
                    SELECT \(EntryStore.sum("allocated")) FROM entry JOIN generation ON generation.id = entry.generation
                    WHERE retained = 1 AND entry.keyHash IN (SELECT ?1
                        UNION SELECT keyHash FROM selection WHERE signpost = ?1
                        UNION SELECT member.keyHash FROM member JOIN title ON title.id = member.title
                            WHERE title.keyHash = ?1)
                    """, arguments: [index.name(of: key)])
            return max(0, try Self.retainedUsage(taggedAs: tagName, in: database).allocated - (own ?? 0))
        }
    }

    /// Disk usage of retained entries and parts; with the name of a tag, only of files of titles with that tag.
    static func retainedUsage(taggedAs tag: String? = nil, in database: Database) throws -> Usage {
        let isMeant = tag == nil ? "" : "AND entry.keyHash IN (\(TitleStore.tagged))"
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

// MARK: - Rows

/// A row of `retention`.
struct RetentionRow: IndexRow {
    /// The name of the key.
    let name: String
    let retention: Retention
    /// The encoded ``RecordCodec/Target``.
    let target: Data

    init?(_ row: Row) {
        guard let name: String = row.value("keyHash"), let target: Data = row.value("target") else { return nil }
        (self.name, self.target) = (name, target)
        retention = Retention(row)
    }

    init(_ retained: RetentionStore.Retained, name: String, codec: RecordCodec) throws {
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

extension Retention {
    /// The columns `kind`, `until` and `amount`.
    init(_ row: Row) { self.init(kind: row.value("kind"), until: row.value("until"), amount: row.value("amount")) }
}

/// A row of `part`: the bytes of an entry that a kept beginning protects.
struct PartRow: IndexRow {
    /// Empty if the row is damaged; the entry stays then, without its bytes.
    let ranges: ByteRangeSet

    init(_ row: Row) {
        let packed: Data = row.value("ranges") ?? Data()
        let numbers = packed.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map {
                Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self))
            }
        }
        var ranges = ByteRangeSet()
        for index in stride(from: 1, to: numbers.count, by: 2) where (0..<numbers[index]).contains(numbers[index - 1]) {
            ranges.insert(numbers[index - 1]..<numbers[index])
        }
        self.ranges = ranges
    }

    /// Adds a row: the retention of `holder` keeps `ranges` of the entry `name`.
    static func save(_ ranges: ByteRangeSet, of name: String, for holder: String, in database: Database) throws {
        let packed = ranges.reduce(into: Data()) { data, range in
            for number in [range.lowerBound, range.upperBound] {
                withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
            }
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO part (keyHash, holder, bytes, ranges) VALUES (?, ?, ?, ?)",
            arguments: [name, holder, ranges.extents.byteCount, packed])
    }
}

extension ByteRangeSet {
    /// The extents that contain its bytes, which stay on disk because of them.
    var extents: ByteRangeSet {
        reduce(into: []) { extents, range in
            let size = FetchSchedule.extent
            extents.insert(range.lowerBound / size * size..<(range.upperBound + size - 1) / size * size)
        }
    }
}
