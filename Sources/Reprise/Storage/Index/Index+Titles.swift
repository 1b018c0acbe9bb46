import Foundation
import GRDB

/// Titles and their files.
///
/// A title has a row as soon as a stored file is known to belong to it, or a name or tag is given. Rows of files go
/// with their entries, and a title without a name goes with its last file.
extension Index {
    // MARK: - Learning

    /// What becomes of files that are said to belong to a title.
    enum Membership: Int, Comparable {
        /// All were known to belong to it, or are not stored.
        case known
        /// One is new.
        case new
        /// One is new and brought the files of a title that it begins.
        case newWithOthers

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// Records that `keys`, as far as they are stored, belong to `title`; `isListed` says that its playlists list them
    /// now, so that those come back that were given up.
    func add(
        _ keys: Set<CacheKey>, to title: TitleReference, isListed: Bool = true, in database: Database
    ) throws -> Membership {
        var stored: [String] = []
        // Of the tens of thousands that a list names, few are stored when it is read first.
        for key in keys.count > 1 ? try recorded(keys, in: database) : keys {
            stored += try String.fetchAll(
                database,
                sql: """
                    SELECT keyHash FROM entry WHERE keyHash = ?1
                    OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                    """, arguments: [name(of: key)])
        }
        var outcome = Membership.known
        guard !stored.isEmpty else { return outcome }
        for id in try titles(that: title, in: database) {
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
                try database.execute(
                    sql: "UPDATE entry SET retained = \(Self.isHeld) WHERE keyHash = ?", arguments: [name])
            }
        }
        return outcome
    }

    /// The titles whose files a playlist lists that begins `title`: those that the playlist is a file of, or its own,
    /// which is made, if there are none or the playlist is kept by itself.
    private func titles(that title: TitleReference, in database: Database) throws -> [Int64] {
        let name = name(of: title.key)
        let own = try TitleRow.first(
            database, sql: "SELECT id, tag, keyHash, record FROM title WHERE keyHash = ?", arguments: [name])
        if own == nil {
            let outer = try Int64.fetchAll(
                database, sql: "SELECT title FROM member WHERE keyHash = ?", arguments: [name])
            let isKept = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM retention WHERE keyHash = ?)", arguments: [name])
            if !outer.isEmpty, isKept != true { return outer }
        }
        let known = own.flatMap { codec.decodeTitle($0.record, name: name) }
        if let own, known?.isStream == true { return [own.id] }
        var fields = known ?? RecordCodec.TitleFields(title, isStream: true)
        // It may have been named before it was known to be a stream.
        fields.isStream = true
        let id = try TitleRow(fields, name: name, tag: own?.tag, codec: codec).save(in: database)
        // It may have been recorded before it was known to be the playlist of a stream.
        try addFirstFiles(name, in: database)
        return [id]
    }

    /// Records that the first file of the title `name`, or its variants, belong to it, if they are stored.
    private func addFirstFiles(_ name: String, in database: Database) throws {
        for entry in try String.fetchAll(
            database,
            sql: """
                SELECT keyHash FROM entry WHERE keyHash = ?1
                OR keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                """, arguments: [name])
        { _ = try addToNamedTitle(entry, in: database) }
    }

    /// Moves the files of the title that begins with `name` into title `id`: its playlist was met before the one that
    /// lists it.
    ///
    /// A title that has a name, or is kept, keeps them, too. False if there are none.
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
        try database.execute(
            sql: """
                UPDATE entry SET retained = \(Self.isHeld)
                WHERE keyHash IN (SELECT keyHash FROM member WHERE title = ?)
                """, arguments: [id])
        return true
    }

    /// Gives up all files of the title of `key` but `named`, which are all that its playlists name now.
    ///
    /// Those that another title has are no files of this one any more. Others stay in the title, in case they are
    /// listed again, and go with it, but its retention no longer keeps them; one of their own does. Files that were
    /// recorded while the stream was live stay as they are: the window of its list has passed over them.
    func giveUp(filesOf key: CacheKey, except named: Set<CacheKey>) async throws(RepriseError) {
        try await write { database in try giveUp(filesOf: key, except: named, in: database) }
    }

    private func giveUp(filesOf key: CacheKey, except named: Set<CacheKey>, in database: Database) throws {
        let title = try Int64.fetchOne(
            database, sql: "SELECT id FROM title WHERE keyHash = ?", arguments: [name(of: key)])
        guard let title else { return }
        let names = Set(named.map(name(of:)))
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
            try database.execute(
                sql: "UPDATE entry SET retained = \(Self.isHeld) WHERE keyHash = ?", arguments: [file])
        }
    }

    /// Records that the entry `name` belongs to the title that was named before anything of it was stored.
    func addToNamedTitle(_ name: String, in database: Database) throws -> Membership {
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO member (keyHash, title) SELECT ?1, id FROM title
                WHERE keyHash = ?1 OR keyHash = (SELECT signpost FROM selection WHERE selection.keyHash = ?1)
                """, arguments: [name])
        return database.changesCount > 0 ? .new : .known
    }

    // MARK: - Names

    /// Gives a title a name and a tag; `nil` removes them.
    func change(
        _ title: TitleReference, _ change: @escaping @Sendable (inout RecordCodec.TitleFields) -> Void
    ) async throws(RepriseError) {
        let hash = self.name(of: title.key)
        try await write { database in
            let known = try TitleRow.first(
                database, sql: "SELECT id, keyHash, record FROM title WHERE keyHash = ?", arguments: [hash]
            ).flatMap { codec.decodeTitle($0.record, name: hash) }
            var fields = known ?? RecordCodec.TitleFields(title, isStream: false)
            change(&fields)
            let tagName = fields.tag.map(self.name(ofTag:))
            _ = try TitleRow(fields, name: hash, tag: tagName, codec: codec).save(in: database)
            try addFirstFiles(hash, in: database)
            if let tagName { try checkKept(tagName, in: database) }
            guard fields.name == nil, tagName == nil else { return }
            try database.execute(
                sql: """
                    DELETE FROM title WHERE keyHash = ? AND NOT EXISTS (SELECT 1 FROM member WHERE title = title.id)
                    """, arguments: [hash])
        }
    }

    // MARK: - Reading

    /// All titles, the most recently used first: those with a row, and files that belong to none of them.
    func titles() throws(RepriseError) -> [Title] {
        let titles = try recordedTitles() + entries(isUntitled: true).map { Title($0) }
        return titles.sorted { ($0.lastUsed ?? .distantPast) > ($1.lastUsed ?? .distantPast) }
    }

    /// The title that begins with `key`: one with a row, or a file that belongs to none; `nil` if there is none.
    func title(of key: CacheKey) throws(RepriseError) -> Title? {
        let name = name(of: key)
        return try read { database in
            if let title = try recordedTitles("WHERE title.keyHash = ?1", [name], in: database).first { return title }
            let file = try entries(
                "WHERE entry.keyHash = ?1 AND NOT EXISTS (SELECT 1 FROM member WHERE keyHash = ?1)", [name],
                in: database)
            return file.first.map { Title($0) }
        }
    }

    private func recordedTitles() throws(RepriseError) -> [Title] {
        try read { database in
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

    /// SQL for what a title has besides its sums.
    private static let titleColumns = """
        title.id, title.keyHash, title.record, retention.kind, retention.until, retention.amount,
            (SELECT MAX(plays) FROM entry AS first WHERE first.keyHash = title.keyHash OR first.keyHash IN
                (SELECT keyHash FROM selection WHERE signpost = title.keyHash)) AS plays
        """

    private func title(_ row: TitleSummaryRow) -> Title? {
        guard let fields = codec.decodeTitle(row.title.record, name: row.title.name),
            let url = try? ResourceURL(fields.url)
        else { return nil }
        return Title(fields, url: url, row: row)
    }

    /// The titles with a row that `condition` selects, in no order.
    func recordedTitles(
        _ condition: String, _ arguments: StatementArguments, in database: Database
    ) throws -> [Title] {
        try TitleSummaryRow.compactMap(
            database,
            sql: """
                SELECT \(Self.titleColumns), COUNT(entry.keyHash) AS files, MAX(entry.lastUsed) AS lastUsed,
                    \(Self.sum("stored")) AS stored, \(Self.sum("allocated")) AS allocated,
                    \(Self.sum("CASE WHEN \(Self.isShared) THEN 0 ELSE allocated END")) AS own
                FROM title LEFT JOIN member ON member.title = title.id
                LEFT JOIN entry ON entry.keyHash = member.keyHash
                LEFT JOIN generation ON generation.id = entry.generation
                LEFT JOIN retention ON retention.keyHash = title.keyHash
                \(condition) GROUP BY title.id
                """, arguments: arguments
        ) { title($0) }
    }

    /// The keys of the first files of the titles that have one of the files under `keys`.
    func titles(withFiles keys: Set<CacheKey>) throws(RepriseError) -> Set<CacheKey> {
        try read { database in
            var found: Set<CacheKey> = []
            var rest = keys.map(name(of:))[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(Self.lookupWidth))
                let rows = try TitleRow.all(
                    database,
                    sql: """
                        SELECT id, tag, keyHash, record FROM title WHERE id IN
                            (SELECT title FROM member WHERE keyHash IN (\(databaseQuestionMarks(count: part.count))))
                        """, arguments: StatementArguments(part))
                found.formUnion(
                    rows.compactMap { row in codec.decodeTitle(row.record, name: row.name).map { CacheKey($0.key) } })
                rest = rest.dropFirst(part.count)
            }
            return found
        }
    }

    /// The keys of the titles that have the file `name`, and of the download that it is by itself.
    func titles(withFileNamed name: String) throws(RepriseError) -> Set<CacheKey> {
        try read { database in
            let titles = try TitleRow.all(
                database,
                sql: """
                    SELECT id, tag, keyHash, record FROM title
                    WHERE keyHash = ?1 OR id IN (SELECT title FROM member WHERE keyHash = ?1)
                    """, arguments: [name])
            let target = try Data.fetchOne(
                database, sql: "SELECT target FROM retention WHERE keyHash = ? AND kind = 2", arguments: [name])
            let download = target.flatMap { codec.decodeTarget($0, name: name) }.map { CacheKey($0.key) }
            let keys = titles.compactMap { row in
                codec.decodeTitle(row.record, name: row.name).map { CacheKey($0.key) }
            }
            return Set(keys).union(download.map { [$0] } ?? [])
        }
    }

    /// SQL for whether the file in `member` belongs to another title, too.
    static let isShared = """
        EXISTS (SELECT 1 FROM member AS other WHERE other.keyHash = member.keyHash AND other.title <> member.title)
        """

    /// SQL for a bounded sum, whatever a damaged file has in its columns.
    static func sum(_ expression: String) -> String {
        "CAST(MIN(TOTAL(MIN(MAX(\(expression), 0), \(Usage.most))), \(Usage.most)) AS INTEGER)"
    }
}
