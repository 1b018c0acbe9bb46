import ByteRanges
import GRDB
import Primitives

/// Titles page by page, in a time that does not grow with the number of files.
///
/// Reads files in the order of their last use, and adds the titles of each that were not added before. The position of
/// a title is thus that of its most recently used file.
extension TitleStore {
    /// A page of titles; ends early when the task is canceled.
    func page(
        after place: TitlePage.Place?, limit: Int, mostFiles: Int = 100_000
    ) throws(RepriseError) -> TitlePage {
        try index.read { database in
            var items: [TitlePage.Item] = []
            var known: Set<Int64> = []
            var files = 0
            var last: TitlePage.Place?
            let rows = try Row.fetchCursor(
                database, sql: Self.filesByUse, arguments: [place?.lastUsed ?? .infinity])
            while !Cancellation.isRequested, let row = try rows.next() {
                guard let row = UsedFileRow(row) else { continue }
                if let place, place.isPassed(by: row.lastUsed, row.name) { continue }
                // The next page begins with it.
                guard items.count < limit, files < mostFiles else {
                    return TitlePage(items: items, next: last)
                }
                files += 1
                last = TitlePage.Place(lastUsed: row.lastUsed, name: row.name)
                if row.titles.isEmpty {
                    if let item = try item(ofFile: row.name, in: database) { items.append(item) }
                } else {
                    let new = row.titles.filter { known.insert($0).inserted }
                    items += try new.compactMap { try item(ofTitle: $0, after: place, in: database) }
                }
            }
            return TitlePage(items: items, next: Cancellation.isRequested ? last : nil)
        }
    }

    /// The titles that begin with `keys`, in that order, without unknown ones.
    func items(_ keys: [CacheKey]) throws(RepriseError) -> [TitlePage.Item] {
        try index.read { database in
            try keys.compactMap { key in
                let name = index.name(of: key)
                guard let title = try Self.number(ofTitle: name, in: database) else {
                    return try item(ofFile: name, in: database)
                }
                return try item(ofTitle: title, in: database)
            }
        }
    }

    func count() throws(RepriseError) -> Int {
        try index.read { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT (SELECT COUNT(*) FROM title) + (SELECT COUNT(*) FROM entry
                        WHERE NOT EXISTS (SELECT 1 FROM member WHERE member.keyHash = entry.keyHash))
                    """) ?? 0
        }
    }

    /// SQL for all files, most recently used first, with the titles they belong to.
    ///
    /// Each part follows the index by use, and SQLite merges the parts without sorting.
    private static let filesByUse: String = {
        let parts = (0...2).flatMap { retained in
            (0...1).map { live in
                """
                SELECT keyHash, lastUsed, (SELECT group_concat(title) FROM member WHERE member.keyHash = entry.keyHash)
                    AS titles FROM entry WHERE retained = \(retained) AND live = \(live) AND lastUsed <= ?1
                """
            }
        }
        return parts.joined(separator: " UNION ALL ") + " ORDER BY lastUsed DESC, keyHash DESC"
    }()

    /// The file `name`, which belongs to no recorded title; `nil` if it cannot be read.
    private func item(ofFile name: String, in database: Database) throws -> TitlePage.Item? {
        guard let entry = try entries.select("WHERE entry.keyHash = ?1", [name], in: database).first else { return nil }
        return TitlePage.Item(
            id: name, title: Title(entry), information: entry.information, stored: try ranges(of: entry, in: database))
    }

    /// The title with that number; `nil` if it cannot be read, or precedes `place`.
    private func item(
        ofTitle id: Int64, after place: TitlePage.Place? = nil, in database: Database
    ) throws -> TitlePage.Item? {
        // First, because sums cost more.
        if let place, try isUsed(title: id, after: place, in: database) { return nil }
        guard let title = try recorded("WHERE title.id = ?1", [id], in: database).first else { return nil }
        let name = index.name(of: title.key)
        let first = try entries.select(under: name, in: database).first
        let stored = try title.isStream ? nil : first.map { try ranges(of: $0, in: database) }
        return TitlePage.Item(id: name, title: title, information: first?.information, stored: stored)
    }

    /// Whether a file of the title precedes `place`, or is at it.
    private func isUsed(title: Int64, after place: TitlePage.Place, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM member JOIN entry ON entry.keyHash = member.keyHash
                    WHERE member.title = ?1 AND (lastUsed > ?2 OR lastUsed = ?2 AND entry.keyHash >= ?3))
                """, arguments: [title, place.lastUsed, place.name]) ?? false
    }

    private func ranges(of entry: CacheEntry, in database: Database) throws -> ByteRangeSet {
        if entry.isComplete { return ByteRangeSet(0..<entry.storedBytes) }
        // The name of a generation is its number.
        guard let number = UInt64(entry.information.generation, radix: 16) else { return ByteRangeSet() }
        return ChunkLedger(blocks: try entries.chunks(ofGeneration: Int64(bitPattern: number), in: database)).ranges
    }

    // MARK: - Names

    /// Whether `text` has the form of a key's name in the index.
    static func isName(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    /// The first file of the title with that name, the file of that name, or the target of a retention.
    func reference(named name: String) throws(RepriseError) -> TitleReference? {
        try index.read { database in
            if let fields = try title(named: name, in: database)?.fields, let url = try? ResourceURL(fields.url) {
                return TitleReference(key: CacheKey(fields.key), url: url)
            }
            if let entry = try entries.select("WHERE entry.keyHash = ?1", [name], in: database).first {
                return TitleReference(key: entry.key, url: entry.url)
            }
            let kept = try RetentionRow.first(
                database, sql: "SELECT keyHash, kind, until, target, amount FROM retention WHERE keyHash = ?",
                arguments: [name])
            guard let target = kept.flatMap({ index.codec.decodeTarget($0.target, name: name) }),
                let url = try? ResourceURL(target.url)
            else { return nil }
            return TitleReference(key: CacheKey(target.key), url: url)
        }
    }
}

/// A row of a query for files in the order of their use.
private struct UsedFileRow: IndexRow {
    /// The name of the key.
    let name: String
    /// In seconds since 1970.
    let lastUsed: Double
    /// The numbers of the titles that it belongs to.
    let titles: [Int64]

    init?(_ row: Row) {
        guard let name: String = row.value("keyHash"), let lastUsed: Double = row.value("lastUsed") else { return nil }
        (self.name, self.lastUsed) = (name, lastUsed)
        let numbers: String = row.value("titles") ?? ""
        titles = numbers.split(separator: ",").compactMap { Int64($0) }
    }
}
