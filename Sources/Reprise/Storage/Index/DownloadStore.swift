import Foundation
import GRDB

/// Downloads: the rows of `retention` that have an order, a network policy, and the error that they failed with last.
struct DownloadStore: Sendable {
    private let index: IndexDatabase
    private let entries: EntryStore
    private let titles: TitleStore

    init(_ index: IndexDatabase, entries: EntryStore, titles: TitleStore) {
        (self.index, self.entries, self.titles) = (index, entries, titles)
    }

    // MARK: - Reading

    /// The downloads in their order; with `key`, only that one.
    func all(of key: CacheKey? = nil) throws(RepriseError) -> [DownloadQueue.Item] {
        let name = key.map { index.name(of: $0) }
        return try index.read { database in
            try DownloadRow.compactMap(
                database,
                sql: """
                    SELECT keyHash, kind, until, target, paused, policy, failure FROM retention WHERE kind = 2
                    AND (?1 IS NULL OR keyHash = ?1) ORDER BY position, keyHash
                    """, arguments: [name]
            ) { try item($0, in: database) }
        }
    }

    private func item(_ row: DownloadRow, in database: Database) throws -> DownloadQueue.Item? {
        let name = row.retention.name
        guard let target = index.codec.decodeTarget(row.retention.target, name: name),
            let url = try? ResourceURL(target.url)
        else { return nil }
        var request = OriginRequest(url: url)
        let key = CacheKey(target.key)
        (request.networkPolicy, request.context.key) = (row.networkPolicy, key)
        var item = DownloadQueue.Item(key: key, request: request)
        if let selection = target.selection { item.selection = selection }
        item.keyRule = target.keyRule
        item.lastError = row.failure.flatMap { index.codec.decodeFailure($0, name: name)?.error }
        let title = try titles.title(named: name, in: database)
        item.name = title?.fields.name
        if let title, title.fields.isStream {
            // Only its playlists tell whether it is complete.
            (item.storedBytes, item.isStream) = (try storedBytes(ofStream: title.row.id, in: database), true)
            item.phase = row.isPaused ? .paused : .queued
            return item
        }
        let extent = try extent(of: name, in: database)
        (item.storedBytes, item.completeLength) = (extent.storedBytes, extent.completeLength)
        // A text that arrived in place of a playlist is complete, and useless.
        let isDone = extent.isWhole && item.lastError?.code != .notDownloadable
        item.phase = isDone ? .done : row.isPaused ? .paused : .queued
        if isDone { item.lastError = nil }
        return item
    }

    private func storedBytes(ofStream title: Int64, in database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database,
            sql: """
                SELECT \(EntryStore.sum("stored")) FROM member JOIN entry ON entry.keyHash = member.keyHash
                JOIN generation ON generation.id = entry.generation WHERE member.title = ? AND listed = 1
                """, arguments: [title]) ?? 0
    }

    /// How much is stored under `name`, of all its variants.
    private func extent(
        of name: String, in database: Database
    ) throws -> (storedBytes: Int64, completeLength: Int64?, isWhole: Bool) {
        let rows = try GenerationRow.all(
            database,
            sql: """
                SELECT generation.id, generation.keyHash, record, salt, allocated, stored FROM entry
                JOIN generation ON generation.id = entry.generation
                WHERE entry.keyHash = ?1 OR entry.keyHash IN (\(EntryStore.variants))
                """, arguments: [name])
        var (storedBytes, completeLength, isWhole) = (Int64(0), Int64?.some(0), !rows.isEmpty)
        for row in rows {
            storedBytes += row.usage.stored
            guard let record = index.codec.decode(row), let length = record.completeLength else {
                (completeLength, isWhole) = (nil, false)
                continue
            }
            completeLength = completeLength.map { $0 + length }
            let chunks = try entries.chunks(ofGeneration: record.id, in: database)
            isWhole = isWhole && ChunkLedger(blocks: chunks).ranges.contains(0..<length)
        }
        return (storedBytes, rows.isEmpty ? nil : completeLength, isWhole)
    }

    /// The recorded rule by which the download of `key` derives the keys of a stream's files; `nil` if there is none.
    func keyRule(ofDownload key: CacheKey) throws(RepriseError) -> KeyRule? {
        try index.read { try keyRule(ofDownload: index.name(of: key), in: $0) }
    }

    func keyRule(ofDownload name: String, in database: Database) throws -> KeyRule? {
        try Self.target(named: name, in: database).flatMap { index.codec.decodeTarget($0, name: name)?.keyRule }
    }

    /// The encoded ``RecordCodec/Target`` of a download; `nil` if there is none.
    static func target(named name: String, in database: Database) throws -> Data? {
        try Data.fetchOne(
            database, sql: "SELECT target FROM retention WHERE keyHash = ? AND kind = 2", arguments: [name])
    }

    // MARK: - Changing

    /// Records that a download begins or resumes; a new one is placed last.
    static func begin(_ name: String, networkPolicy: NetworkPolicy, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE retention SET paused = 0, failure = NULL, policy = ?2,
                    position = IFNULL(position, 1 + IFNULL((SELECT MAX(position) FROM retention), 0))
                WHERE keyHash = ?1
                """, arguments: [name, DownloadRow.number(of: networkPolicy)])
    }

    /// Records the last error of each of `items`, or that it has none.
    func setFailures(of items: [DownloadQueue.Item]) async throws(RepriseError) {
        let failures = items.map { (name: index.name(of: $0.key), error: $0.lastError) }
        try await index.write { database in
            for failure in failures { try setFailure(failure.error, of: failure.name, in: database) }
        }
    }

    private func setFailure(_ error: RepriseError?, of name: String, in database: Database) throws {
        let failure = try error.map { try index.codec.encode(RecordCodec.Failure($0), name: name) }
        try database.execute(
            sql: "UPDATE retention SET failure = ? WHERE keyHash = ? AND kind = 2", arguments: [failure, name])
    }

    /// Pauses a download, or resumes it, which clears its error.
    func setPaused(_ isPaused: Bool, for key: CacheKey) async throws(RepriseError) {
        let name = index.name(of: key)
        try await index.write { database in
            try database.execute(
                sql: """
                    UPDATE retention SET paused = ?1, failure = IIF(?1, failure, NULL) WHERE keyHash = ?2 AND kind = 2
                    """, arguments: [isPaused ? 1 : 0, name])
        }
    }

    /// Restores a download as it was, with its selection, unless it was removed.
    func putBack(_ item: DownloadQueue.Item) async throws(RepriseError) {
        let name = index.name(of: item.key)
        let retained = RetentionStore.Retained(
            key: item.key, url: item.request.url, retention: .download, selection: item.selection,
            keyRule: item.keyRule)
        let isPaused = if case .paused = item.phase { 1 } else { 0 }
        try await index.write { database in
            try database.execute(
                sql: "UPDATE retention SET paused = ? WHERE keyHash = ? AND kind = 2", arguments: [isPaused, name])
            guard database.changesCount > 0 else { return }
            try RetentionRow(retained, name: name, codec: index.codec).save(in: database)
            try setFailure(item.lastError, of: name, in: database)
        }
    }

    func setOrder(_ keys: [CacheKey]) async throws(RepriseError) {
        let names = keys.map(index.name(of:))
        try await index.write { database in
            for (position, name) in names.enumerated() {
                try database.execute(
                    sql: "UPDATE retention SET position = ? WHERE keyHash = ? AND kind = 2",
                    arguments: [position + 1, name])
            }
        }
    }
}

/// A row of `retention` that is a download.
struct DownloadRow: IndexRow {
    let retention: RetentionRow
    let isPaused: Bool
    let networkPolicy: NetworkPolicy
    /// The encoded ``RecordCodec/Failure``; `nil` if there is none.
    let failure: Data?

    init?(_ row: Row) {
        guard let retention = RetentionRow(row) else { return nil }
        self.retention = retention
        isPaused = row.value("paused") ?? 0 != 0
        failure = row.value("failure")
        let number = row.value("policy") ?? 0
        networkPolicy = Self.policies.indices.contains(number) ? Self.policies[number] : .any
    }

    /// In the order of their numbers in the index.
    private static let policies: [NetworkPolicy] = [.any, .inexpensive, .inexpensiveAndUnconstrained]

    static func number(of policy: NetworkPolicy) -> Int { policies.firstIndex(of: policy) ?? 0 }
}
