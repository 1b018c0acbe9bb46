import Foundation
import GRDB

/// The tables `title`, `member` and `tagLimit`: streams of which a file is stored, files and streams with a name or a
/// tag, and the files that belong to them.
///
/// A file that belongs to no recorded title is a title by itself, without a row here. Rows of files are removed with
/// their entries, and a title without a name with its last file.
struct TitleStore: Sendable {
    let index: IndexDatabase
    let entries: EntryStore

    init(_ index: IndexDatabase, entries: EntryStore) { (self.index, self.entries) = (index, entries) }

    /// SQL for whether the file in `member` belongs to another title, too.
    static let isShared = """
        EXISTS (SELECT 1 FROM member AS other WHERE other.keyHash = member.keyHash AND other.title <> member.title)
        """

    // MARK: - Reading

    /// All titles, most recently used first: those with a row, and files that belong to none of them.
    func all() throws(RepriseError) -> [Title] {
        let titles = try recorded() + entries.all(isUntitled: true).map { Title($0) }
        return titles.sorted { ($0.lastUsed ?? .distantPast) > ($1.lastUsed ?? .distantPast) }
    }

    /// The title that begins with `key`: one with a row, or a file that belongs to none; `nil` if there is none.
    func title(of key: CacheKey) throws(RepriseError) -> Title? {
        let name = index.name(of: key)
        return try index.read { database in
            if let title = try recorded("WHERE title.keyHash = ?1", [name], in: database).first { return title }
            let file = try entries.select(
                "WHERE entry.keyHash = ?1 AND NOT EXISTS (SELECT 1 FROM member WHERE keyHash = ?1)", [name],
                in: database)
            return file.first.map { Title($0) }
        }
    }

    private func recorded() throws(RepriseError) -> [Title] {
        try index.read { database in
            let sums = try titleSums(in: database)
            return try TitleSummaryRow.compactMap(
                database,
                sql: """
                    SELECT \(Self.titleColumns) FROM title
                    LEFT JOIN retention ON retention.keyHash = title.keyHash
                    """
            ) { row in
                var row = row
                row.sums = sums[row.title.id] ?? TitleSums()
                return title(row)
            }
        }
    }

    /// SQL for the columns of a title without its sums.
    private static let titleColumns = """
        title.id, title.keyHash, title.record, retention.kind, retention.until, retention.amount,
            (SELECT MAX(plays) FROM entry AS first WHERE first.keyHash = title.keyHash OR first.keyHash IN
                (SELECT keyHash FROM selection WHERE signpost = title.keyHash)) AS plays
        """

    private func title(_ row: TitleSummaryRow) -> Title? {
        guard let fields = fields(row.title), let url = try? ResourceURL(fields.url) else { return nil }
        return Title(fields, url: url, row: row)
    }

    /// The titles with a row that `condition` selects, in no order.
    func recorded(_ condition: String, _ arguments: StatementArguments, in database: Database) throws -> [Title] {
        let sum = EntryStore.sum
        return try TitleSummaryRow.compactMap(
            database,
            sql: """
                SELECT \(Self.titleColumns), COUNT(entry.keyHash) AS files, MAX(entry.lastUsed) AS lastUsed,
                    \(sum("stored")) AS stored, \(sum("allocated")) AS allocated,
                    \(sum("CASE WHEN \(Self.isShared) THEN 0 ELSE allocated END")) AS own
                FROM title LEFT JOIN member ON member.title = title.id
                LEFT JOIN entry ON entry.keyHash = member.keyHash
                LEFT JOIN generation ON generation.id = entry.generation
                LEFT JOIN retention ON retention.keyHash = title.keyHash
                \(condition) GROUP BY title.id
                """, arguments: arguments
        ) { title($0) }
    }

    /// The entries that belong to the title of `key`, most recently used first; with `limit`, at most so many.
    func files(of key: CacheKey, atMost limit: Int? = nil) throws(RepriseError) -> [CacheEntry] {
        let members = "SELECT member.keyHash FROM member JOIN title ON title.id = member.title"
        let ofTitle = "WHERE title.keyHash = ?1"
        let names =
            limit.map { limit in
                """
                \(members) JOIN entry ON entry.keyHash = member.keyHash \(ofTitle) ORDER BY lastUsed DESC LIMIT \(limit)
                """
            } ?? "\(members) \(ofTitle)"
        return try index.read {
            try entries.select("WHERE entry.keyHash IN (\(names))", [index.name(of: key)], in: $0)
        }
    }

    /// The keys of the first files of the titles that have one of the files under `keys`.
    func keys(withFiles keys: Set<CacheKey>) throws(RepriseError) -> Set<CacheKey> {
        try index.read { database in
            var found: Set<CacheKey> = []
            try entries.forEachPart(of: keys) { marks, names in
                found.formUnion(
                    try rows("id IN (SELECT title FROM member WHERE keyHash IN (\(marks)))", names, in: database)
                        .compactMap(key))
            }
            return found
        }
    }

    /// The keys of the titles that have the file `name`, and of the download that it is by itself.
    func keys(withFileNamed name: String) throws(RepriseError) -> Set<CacheKey> {
        try index.read { database in
            let titles = try rows(
                "keyHash = ?1 OR id IN (SELECT title FROM member WHERE keyHash = ?1)", [name], in: database)
            let target = try DownloadStore.target(named: name, in: database)
            let download = target.flatMap { index.codec.decodeTarget($0, name: name) }.map { CacheKey($0.key) }
            return Set(titles.compactMap(key)).union(download.map { [$0] } ?? [])
        }
    }

    /// The key of the first file of a title; `nil` if its record cannot be read.
    func key(ofTitle id: Int64) throws(RepriseError) -> CacheKey? {
        try index.read { try rows("id = ?", [id], in: $0).first.flatMap(key) }
    }

    /// The name that a person gave to the title of `key`; `nil` if there is none.
    func givenName(of key: CacheKey) throws(RepriseError) -> String? {
        try index.read { try title(named: index.name(of: key), in: $0)?.fields.name }
    }

    /// The title whose first file is `name`; `nil` if there is none, or its record cannot be read.
    func title(
        named name: String, in database: Database
    ) throws -> (row: TitleRow, fields: RecordCodec.TitleFields)? {
        try row(named: name, in: database).flatMap { row in fields(row).map { (row, $0) } }
    }

    /// The rows that `condition` selects.
    func rows(_ condition: String, _ arguments: StatementArguments, in database: Database) throws -> [TitleRow] {
        try TitleRow.all(
            database, sql: "SELECT id, tag, keyHash, record FROM title WHERE \(condition)", arguments: arguments)
    }

    private func row(named name: String, in database: Database) throws -> TitleRow? {
        try rows("keyHash = ?", [name], in: database).first
    }

    /// The number of the title whose first file is `name`.
    static func number(ofTitle name: String, in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT id FROM title WHERE keyHash = ?", arguments: [name])
    }

    func fields(_ row: TitleRow) -> RecordCodec.TitleFields? { index.codec.decodeTitle(row.record, name: row.name) }

    /// The key of the first file.
    func key(_ row: TitleRow) -> CacheKey? { fields(row).map { CacheKey($0.key) } }

    // MARK: - Names and tags

    /// Changes the name and the tag of a title.
    ///
    /// Throws `storageFull`, and changes nothing, if its tag would exceed its limit.
    func change(
        _ title: TitleReference, _ change: @escaping @Sendable (inout RecordCodec.TitleFields) -> Void
    ) async throws(RepriseError) {
        let name = index.name(of: title.key)
        try await index.write { database in
            var fields =
                try self.title(named: name, in: database)?.fields ?? RecordCodec.TitleFields(title, isStream: false)
            change(&fields)
            let tagName = fields.tag.map(self.name(ofTag:))
            _ = try save(fields, name: name, tag: tagName, in: database)
            try addFirstFiles(name, in: database)
            if let tagName { try checkKept(tagName, in: database) }
            guard fields.name == nil, tagName == nil else { return }
            try database.execute(
                sql: """
                    DELETE FROM title WHERE keyHash = ? AND NOT EXISTS (SELECT 1 FROM member WHERE title = title.id)
                    """, arguments: [name])
        }
    }

    /// Adds or replaces the row of the title that begins with `name`; returns its number.
    private func save(
        _ fields: RecordCodec.TitleFields, name: String, tag: String?, in database: Database
    ) throws -> Int64 {
        let isNamed = fields.name != nil || fields.tag != nil
        return try Int64.fetchOne(
            database,
            sql: """
                INSERT INTO title (keyHash, tag, named, record) VALUES (?, ?, ?, ?)
                ON CONFLICT (keyHash) DO UPDATE SET tag = excluded.tag, named = excluded.named, record = excluded.record
                RETURNING id
                """, arguments: [name, tag, isNamed, try index.codec.encode(fields, name: name)]) ?? 0
    }

    // MARK: - Members

    /// The effect of recording that files belong to a title.
    enum Membership: Int, Comparable {
        /// All were known to belong to it, or are not stored.
        case known
        /// One is new.
        case new
        /// One is new and brought the files of a title that it begins.
        case newWithOthers

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// Records that those of `keys` that are stored belong to `title`.
    ///
    /// `isListed` means that its playlists list them now, which takes back files that were given up.
    func add(
        _ keys: Set<CacheKey>, to title: TitleReference, isListed: Bool = true, in database: Database
    ) throws -> Membership {
        var stored: [String] = []
        // A playlist may name tens of thousands of files, few of which are stored when it is first read.
        for key in keys.count > 1 ? try entries.recorded(keys, in: database) : keys {
            stored += try entries.stored(under: index.name(of: key), in: database)
        }
        var outcome = Membership.known
        guard !stored.isEmpty else { return outcome }
        for id in try numbers(ofTitlesListedBy: title, in: database) {
            for name in stored {
                try database.execute(
                    sql: """
                        INSERT INTO member (keyHash, title) VALUES (?, ?)
                        ON CONFLICT DO UPDATE SET listed = 1 WHERE listed = 0 AND \(isListed ? 1 : 0)
                        """, arguments: [name, id])
                guard database.changesCount > 0 else { continue }
                try database.execute(
                    sql: "DELETE FROM member WHERE keyHash = ? AND title <> ? AND listed = 0", arguments: [name, id])
                outcome = max(outcome, try takeOver(name, into: id, in: database) ? .newWithOthers : .new)
                try RetentionStore.updateHeld("keyHash = ?", [name], in: database)
            }
        }
        return outcome
    }

    /// The titles that get the files of the playlist `title`: those that the playlist itself is a file of, or its own.
    ///
    /// Its own is made if there is no other, or if the playlist is kept by itself.
    private func numbers(ofTitlesListedBy title: TitleReference, in database: Database) throws -> [Int64] {
        let name = index.name(of: title.key)
        let own = try row(named: name, in: database)
        if own == nil {
            let outer = try Int64.fetchAll(
                database, sql: "SELECT title FROM member WHERE keyHash = ?", arguments: [name])
            let isKept = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM retention WHERE keyHash = ?)", arguments: [name])
            if !outer.isEmpty, isKept != true { return outer }
        }
        let known = own.flatMap { self.fields($0) }
        if let own, known?.isStream == true { return [own.id] }
        var fields = known ?? RecordCodec.TitleFields(title, isStream: true)
        // It may have been named before it was known to be a stream.
        fields.isStream = true
        let id = try save(fields, name: name, tag: own?.tag, in: database)
        // The playlist may have been stored before it was known to be one.
        try addFirstFiles(name, in: database)
        return [id]
    }

    /// Records that the first file of the title `name`, or its variants, belong to it, if they are stored.
    private func addFirstFiles(_ name: String, in database: Database) throws {
        for entry in try entries.stored(under: name, in: database) { _ = try addToNamedTitle(entry, in: database) }
    }

    /// Moves the files of the title that begins with `name` into title `id`, because a playlist of `id` lists it.
    ///
    /// A title that has a name, or is kept, keeps its files, too. Returns false if there are none.
    private func takeOver(_ name: String, into id: Int64, in database: Database) throws -> Bool {
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO member (keyHash, title, listed) SELECT member.keyHash, ?2, listed FROM member
                JOIN title ON title.id = member.title WHERE title.keyHash = ?1 AND title.id <> ?2
                """, arguments: [name, id])
        guard database.changesCount > 0 else { return false }
        try database.execute(
            sql: """
                DELETE FROM member WHERE title = (SELECT id FROM title WHERE keyHash = ?1 AND id <> ?2 AND named = 0
                    AND NOT EXISTS (SELECT 1 FROM retention WHERE keyHash = ?1))
                """, arguments: [name, id])
        try RetentionStore.updateHeld("keyHash IN (SELECT keyHash FROM member WHERE title = ?)", [id], in: database)
        return true
    }

    /// Gives up all files of the title of `key` except `named`, the files that its playlists name now.
    ///
    /// Files that belong to another title leave this one. Others stay in it, in case they are listed again, and are
    /// removed with it, but its retention no longer keeps them. Files that were recorded while the stream was live do
    /// not change, because the window of its playlist has moved past them.
    func giveUp(filesOf key: CacheKey, except named: Set<CacheKey>) async throws(RepriseError) {
        try await index.write { database in try giveUp(filesOf: key, except: named, in: database) }
    }

    private func giveUp(filesOf key: CacheKey, except named: Set<CacheKey>, in database: Database) throws {
        guard let title = try Self.number(ofTitle: index.name(of: key), in: database) else { return }
        let names = Set(named.map(index.name(of:)))
        let members = try Row.fetchAll(
            database,
            sql: """
                SELECT member.keyHash AS file, IFNULL(signpost, member.keyHash) AS named
                FROM member JOIN entry ON entry.keyHash = member.keyHash
                LEFT JOIN selection ON selection.keyHash = member.keyHash
                WHERE title = ? AND live = 0 AND listed = 1
                """, arguments: [title])
        for member in members {
            guard let file: String = member.value("file"), let primary: String = member.value("named"),
                !names.contains(file), !names.contains(primary)
            else { continue }
            try database.execute(
                sql: "DELETE FROM member WHERE keyHash = ? AND title = ? AND \(Self.isShared)",
                arguments: [file, title])
            try database.execute(
                sql: "UPDATE member SET listed = 0 WHERE keyHash = ? AND title = ?", arguments: [file, title])
            try RetentionStore.updateHeld("keyHash = ?", [file], in: database)
        }
    }

    /// Records that the entry `name` belongs to the title that was named before any of it was stored.
    func addToNamedTitle(_ name: String, in database: Database) throws -> Membership {
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO member (keyHash, title) SELECT ?1, id FROM title
                WHERE keyHash = ?1 OR keyHash = (SELECT signpost FROM selection WHERE selection.keyHash = ?1)
                """, arguments: [name])
        return database.changesCount > 0 ? .new : .known
    }
}

// MARK: - Rows

/// A row of `title`.
struct TitleRow: IndexRow {
    let id: Int64
    /// The name of the key of its first file.
    let name: String
    /// The name of its tag.
    let tag: String?
    /// The encoded ``RecordCodec/TitleFields``.
    let record: Data

    init?(_ row: Row) {
        guard let id: Int64 = row.value("id"), let name: String = row.value("keyHash"),
            let record: Data = row.value("record")
        else { return nil }
        (self.id, self.name, self.record) = (id, name, record)
        tag = row.value("tag")
    }
}

/// A row of `title` with the sums of its files, if the query has them.
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
