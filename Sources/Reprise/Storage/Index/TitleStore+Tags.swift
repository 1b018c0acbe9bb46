import Foundation
import GRDB

/// Limits of tags, and the usage of the titles with a tag.
extension TitleStore {
    /// SQL for the names of files of titles with the tag `?1`.
    static let tagged = """
        SELECT member.keyHash FROM member JOIN title ON title.id = member.title WHERE title.tag = ?1
        """

    /// The name of a tag in rows, the same for all its spellings in Unicode, which are equal everywhere else.
    func name(ofTag tag: String) -> String { index.name(of: CacheKey(tag.precomposedStringWithCanonicalMapping)) }

    // MARK: - Limits

    /// Sets or removes the limit of a tag.
    ///
    /// Throws `storageFull`, and changes nothing, if more than the limit is kept.
    func setLimit(_ limit: Int64?, ofTag tag: String) async throws(RepriseError) {
        let name = name(ofTag: tag)
        try await index.write { database in
            guard let limit else {
                return try database.execute(sql: "DELETE FROM tagLimit WHERE tag = ?", arguments: [name])
            }
            let record = try index.codec.encode(RecordCodec.TagFields(tag: tag, limit: limit), name: name)
            try database.execute(
                sql: "INSERT OR REPLACE INTO tagLimit (tag, record) VALUES (?, ?)", arguments: [name, record])
            try checkKept(name, in: database)
        }
    }

    /// The limit of a tag; `nil` if it has none.
    func limit(ofTag tag: String) throws(RepriseError) -> Int64? {
        let name = name(ofTag: tag)
        return try index.read { try limit(taggedAs: name, in: $0)?.limit }
    }

    private func limit(taggedAs name: String, in database: Database) throws -> RecordCodec.TagFields? {
        let record = try Row.fetchOne(database, sql: "SELECT record FROM tagLimit WHERE tag = ?", arguments: [name])
        let data: Data? = record?.value("record")
        return data.flatMap { index.codec.decodeTag($0, name: name) }
    }

    /// Throws `storageFull` if `count` bytes more than are kept of titles with this tag would exceed its limit.
    func checkKept(_ name: String, adding count: Int64 = 0, in database: Database) throws {
        guard let fields = try limit(taggedAs: name, in: database) else { return }
        let kept = try RetentionStore.retainedUsage(taggedAs: name, in: database).allocated
        guard kept + count > fields.limit else { return }
        let obstacle = StorageObstacle.tag(fields.tag, kept: kept, missing: count, limit: fields.limit)
        var error = RepriseError(.storageFull, obstacle.description)
        error.obstacle = obstacle
        throw error
    }

    /// Whether `count` bytes more may be kept of titles with this tag.
    func hasRoom(for count: Int64, taggedAs name: String) throws(RepriseError) -> Bool {
        try index.read { database in
            guard let limit = try limit(taggedAs: name, in: database)?.limit else { return true }
            return try RetentionStore.retainedUsage(taggedAs: name, in: database).allocated + count <= limit
        }
    }

    /// Throws `storageFull` if keeping `count` bytes more of the title of `key` would exceed the limit of its tag.
    func checkRoom(for count: Int64, inTitleOf key: CacheKey) throws(RepriseError) {
        let name = index.name(of: key)
        try index.read { database in
            for tag in try tags(ofFile: name, in: database) { try checkKept(tag, adding: count, in: database) }
        }
    }

    /// The names of all tags with a limit.
    func limitedTags() throws(RepriseError) -> Set<String> {
        try index.read { try String.fetchSet($0, sql: "SELECT tag FROM tagLimit") }
    }

    /// The names of tags with a limit of the titles that begin with `key` or contain it.
    func limitedTags(ofFile key: CacheKey) throws(RepriseError) -> Set<String> {
        try index.read { try hasLimitedTags(in: $0) ? try tags(ofFile: index.name(of: key), in: $0) : [] }
    }

    func hasLimitedTags(in database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM tagLimit)") == true
    }

    /// The bytes that tags with a limit may have grown by, by name, if files have grown by `bytes`.
    func growth(ofTags bytes: [CacheKey: Int64], in database: Database) throws -> [String: Int64] {
        try bytes.reduce(into: [:]) { growth, file in
            for tag in try tags(ofFile: index.name(of: file.key), in: database) {
                growth[tag] = min(growth[tag, default: 0] + file.value, Usage.most)
            }
        }
    }

    /// The names of tags with a limit of the titles that begin with the file `name`, or contain it or one of its
    /// variants.
    func tags(ofFile name: String, in database: Database) throws -> Set<String> {
        try String.fetchSet(
            database,
            sql: """
                SELECT tagLimit.tag FROM title JOIN tagLimit ON tagLimit.tag = title.tag WHERE title.keyHash = ?1
                UNION SELECT tagLimit.tag FROM member JOIN title ON title.id = member.title
                JOIN tagLimit ON tagLimit.tag = title.tag WHERE member.keyHash = ?1
                OR member.keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                """, arguments: [name])
    }

    // MARK: - Usage

    /// Bytes on disk of the files of titles with this tag beyond its limit, negative below it; 0 without a limit.
    func excess(ofTag name: String) throws(RepriseError) -> Int64 {
        try index.read { database in
            guard let limit = try limit(taggedAs: name, in: database)?.limit else { return 0 }
            return try usage(taggedAs: name, in: database).allocated - limit
        }
    }

    private func usage(taggedAs name: String, in database: Database) throws -> Usage {
        try Row.fetchOne(
            database,
            sql: """
                SELECT \(EntryStore.sum("allocated")) AS allocated, \(EntryStore.sum("stored")) AS stored FROM entry
                JOIN generation ON generation.id = entry.generation WHERE entry.keyHash IN (\(Self.tagged))
                """, arguments: [name]
        ).map { Usage($0) } ?? Usage()
    }

    /// All tags of titles, and tags with a limit, in alphabetical order.
    func tags() throws(RepriseError) -> [TitleTag] {
        try index.read { database in
            var (texts, counts): ([String: String], [String: Int]) = ([:], [:])
            for row in try rows("tag IS NOT NULL", [], in: database) {
                guard let name = row.tag, let tag = fields(row)?.tag else { continue }
                (texts[name], counts[name]) = (tag, counts[name, default: 0] + 1)
            }
            var limits: [String: Int64] = [:]
            for name in try String.fetchAll(database, sql: "SELECT tag FROM tagLimit") {
                guard let fields = try limit(taggedAs: name, in: database) else { continue }
                (texts[name], limits[name]) = (fields.tag, fields.limit)
            }
            return try texts.map { name, tag in
                let usage = try usage(taggedAs: name, in: database)
                return TitleTag(
                    name: tag, limit: limits[name], titleCount: counts[name] ?? 0, storedBytes: usage.stored,
                    allocatedBytes: usage.allocated,
                    keptBytes: try RetentionStore.retainedUsage(taggedAs: name, in: database).allocated)
            }.sorted { $0.name < $1.name }
        }
    }

    /// The numbers of titles with this tag that have stored files, least recently used first.
    func numbers(taggedAs name: String) throws(RepriseError) -> [Int64] {
        try index.read { database in
            try Int64.fetchAll(
                database,
                sql: """
                    SELECT title.id FROM title JOIN member ON member.title = title.id
                    JOIN entry ON entry.keyHash = member.keyHash WHERE title.tag = ?
                    GROUP BY title.id ORDER BY MAX(entry.lastUsed), title.id
                    """, arguments: [name])
        }
    }
}
