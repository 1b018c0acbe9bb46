import Foundation
import GRDB

/// Limits of tags, and what titles with a tag occupy.
extension Index {
    /// SQL for the names of files of titles with the tag `?1`.
    static let tagged = """
        SELECT member.keyHash FROM member JOIN title ON title.id = member.title WHERE title.tag = ?1
        """

    /// The name of a tag in rows: one for all its spellings in Unicode, which count as equal everywhere else.
    func name(ofTag tag: String) -> String { name(of: CacheKey(tag.precomposedStringWithCanonicalMapping)) }

    // MARK: - Limits

    /// Records the limit of a tag, or that it has none; throws `storageFull`, and records nothing, if more is kept.
    func setLimit(_ limit: Int64?, ofTag tag: String) async throws(RepriseError) {
        let name = name(ofTag: tag)
        try await write { database in
            guard let limit else {
                return try database.execute(sql: "DELETE FROM tagLimit WHERE tag = ?", arguments: [name])
            }
            let record = try codec.encode(RecordCodec.TagFields(tag: tag, limit: limit), name: name)
            try database.execute(
                sql: "INSERT OR REPLACE INTO tagLimit (tag, record) VALUES (?, ?)", arguments: [name, record])
            try checkKept(name, in: database)
        }
    }

    /// The limit of a tag; `nil` if it has none.
    func limit(ofTag tag: String) throws(RepriseError) -> Int64? {
        let name = name(ofTag: tag)
        return try read { try limit(taggedAs: name, in: $0)?.limit }
    }

    private func limit(taggedAs name: String, in database: Database) throws -> RecordCodec.TagFields? {
        let record = try Row.fetchOne(database, sql: "SELECT record FROM tagLimit WHERE tag = ?", arguments: [name])
        let data: Data? = record?.value("record")
        return data.flatMap { codec.decodeTag($0, name: name) }
    }

    /// Throws `storageFull` if more is kept of titles with this tag than its limit allows; `adding` bytes more are to
    /// be kept.
    func checkKept(_ name: String, adding count: Int64 = 0, in database: Database) throws {
        guard let fields = try limit(taggedAs: name, in: database) else { return }
        let kept = try Self.retainedUsage(taggedAs: name, in: database).allocated
        guard kept + count > fields.limit else { return }
        let obstacle = StorageObstacle.tag(fields.tag, kept: kept, missing: count, limit: fields.limit)
        var error = RepriseError(.storageFull, obstacle.description)
        error.obstacle = obstacle
        throw error
    }

    /// Whether more is kept of titles with this tag than its limit allows.
    func keepsTooMuch(taggedAs name: String) throws(RepriseError) -> Bool {
        try read { database in
            guard let limit = try limit(taggedAs: name, in: database)?.limit else { return false }
            return try Self.retainedUsage(taggedAs: name, in: database).allocated > limit
        }
    }

    /// Whether `count` bytes more may be kept of titles with this tag.
    func hasRoom(for count: Int64, taggedAs name: String) throws(RepriseError) -> Bool {
        try read { database in
            guard let limit = try limit(taggedAs: name, in: database)?.limit else { return true }
            return try Self.retainedUsage(taggedAs: name, in: database).allocated + count <= limit
        }
    }

    /// Throws `storageFull` if keeping `count` bytes more of the title of `key` would exceed the limit of its tag.
    func checkRoom(for count: Int64, inTitleOf key: CacheKey) throws(RepriseError) {
        let name = name(of: key)
        try read { database in
            for tag in try tags(ofFile: name, in: database) { try checkKept(tag, adding: count, in: database) }
        }
    }

    // MARK: - Which tags

    /// The names of all tags with a limit.
    func limitedTags() throws(RepriseError) -> Set<String> {
        try read { try String.fetchSet($0, sql: "SELECT tag FROM tagLimit") }
    }

    /// The names of tags with a limit that the titles have which begin with `key` or contain it.
    func limitedTags(ofFile key: CacheKey) throws(RepriseError) -> Set<String> {
        try read { try hasLimitedTags(in: $0) ? try tags(ofFile: name(of: key), in: $0) : [] }
    }

    func hasLimitedTags(in database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM tagLimit)") == true
    }

    /// By how many bytes tags with a limit may have grown, by their names, if files have grown by `bytes`.
    func growth(ofTags bytes: [CacheKey: Int64], in database: Database) throws -> [String: Int64] {
        try bytes.reduce(into: [:]) { growth, file in
            for tag in try tags(ofFile: name(of: file.key), in: database) {
                growth[tag] = min(growth[tag, default: 0] + file.value, Usage.most)
            }
        }
    }

    /// The names of tags with a limit that the titles have which begin with the file `name` or contain it or one of its
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

    // MARK: - What they occupy

    /// Bytes that the files of titles with this tag occupy beyond its limit; 0 if it has none.
    func excess(ofTag name: String) throws(RepriseError) -> Int64 {
        try read { database in
            guard let limit = try limit(taggedAs: name, in: database)?.limit else { return 0 }
            return try usage(taggedAs: name, in: database).allocated - limit
        }
    }

    private func usage(taggedAs name: String, in database: Database) throws -> Usage {
        try Row.fetchOne(
            database,
            sql: """
                SELECT \(Self.sum("allocated")) AS allocated, \(Self.sum("stored")) AS stored FROM entry
                JOIN generation ON generation.id = entry.generation WHERE entry.keyHash IN (\(Self.tagged))
                """, arguments: [name]
        ).map { Usage($0) } ?? Usage()
    }

    /// All tags that a title has or that have a limit, in alphabetical order.
    func tags() throws(RepriseError) -> [TitleTag] {
        try read { database in
            var (texts, counts): ([String: String], [String: Int]) = ([:], [:])
            for row in try TitleRow.all(
                database, sql: "SELECT id, keyHash, tag, record FROM title WHERE tag IS NOT NULL")
            {
                guard let name = row.tag, let tag = codec.decodeTitle(row.record, name: row.name)?.tag else { continue }
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
                    keptBytes: try Self.retainedUsage(taggedAs: name, in: database).allocated)
            }.sorted { $0.name < $1.name }
        }
    }

    // MARK: - Eviction

    /// The numbers of titles with this tag of which something is stored, the least recently used first.
    func titles(taggedAs name: String) throws(RepriseError) -> [Int64] {
        try read { database in
            try Int64.fetchAll(
                database,
                sql: """
                    SELECT title.id FROM title JOIN member ON member.title = title.id
                    JOIN entry ON entry.keyHash = member.keyHash WHERE title.tag = ?
                    GROUP BY title.id ORDER BY MAX(entry.lastUsed), title.id
                    """, arguments: [name])
        }
    }

    /// The key of the first file of a title; `nil` if its record cannot be read.
    func key(ofTitle id: Int64) throws(RepriseError) -> CacheKey? {
        try read { database in
            let row = try TitleRow.first(
                database, sql: "SELECT id, tag, keyHash, record FROM title WHERE id = ?", arguments: [id])
            return row.flatMap { codec.decodeTitle($0.record, name: $0.name) }.map { CacheKey($0.key) }
        }
    }

    /// The evictable files of the title of `key` that belong to no other one, the least recently used first.
    func candidates(ofTitle key: CacheKey) throws(RepriseError) -> [Candidate] {
        let name = name(of: key)
        let id = try read { database in
            try Int64.fetchOne(database, sql: "SELECT id FROM title WHERE keyHash = ?", arguments: [name])
        }
        guard let id else { return [] }
        return try candidates(ofTitle: id, besides: [])
    }

    /// The evictable files of a title that belong to no other one besides `gone`, the least recently used first.
    func candidates(ofTitle id: Int64, besides gone: some Collection<Int64>) throws(RepriseError) -> [Candidate] {
        let others = ([id] + gone).map { "\($0)" }.joined(separator: ", ")
        return try read { database in
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
}
