import Foundation
import GRDB

/// Downloads: retentions with an order, a network policy, and a mark for those that are paused.
extension Index {
    /// The downloads in their order, with what they are to do; with `key`, only that one.
    func downloads(of key: CacheKey? = nil) throws(RepriseError) -> [DownloadQueue.Item] {
        let name = key.map { self.name(of: $0) }
        return try read { database in
            try DownloadRow.compactMap(
                database,
                sql: """
                    SELECT keyHash, kind, until, target, paused, policy, failure FROM retention WHERE kind = 2
                    AND (?1 IS NULL OR keyHash = ?1) ORDER BY position, keyHash
                    """, arguments: [name]
            ) { row in
                guard let target = codec.decodeTarget(row.retention.target, name: row.retention.name),
                    let url = try? ResourceURL(target.url)
                else { return nil }
                var request = OriginRequest(url: url)
                let key = CacheKey(target.key)
                (request.networkPolicy, request.key) = (row.networkPolicy, key)
                var item = DownloadQueue.Item(key: key, request: request)
                if let selection = target.selection { item.selection = selection }
                item.keyRule = target.keyRule
                let name = row.retention.name
                item.lastError = row.failure.flatMap { codec.decodeFailure($0, name: name)?.error }
                let title = try title(named: name, in: database)
                item.name = title?.fields.name
                if let storedBytes = try storedBytes(ofStream: title, in: database) {
                    // Only its playlists tell whether that is all.
                    (item.storedBytes, item.isStream) = (storedBytes, true)
                    item.phase = row.isPaused ? .paused : .queued
                    return item
                }
                let extent = try extent(of: name, in: database)
                (item.storedBytes, item.completeLength) = (extent.storedBytes, extent.completeLength)
                // A text that came in place of a playlist is whole, and of no use.
                let isDone = extent.isWhole && item.lastError?.code != .notDownloadable
                item.phase = isDone ? .done : row.isPaused ? .paused : .queued
                if isDone { item.lastError = nil }
                return item
            }
        }
    }

    /// The recorded rule by which the download of `key` derives the keys of a stream's files; `nil` if there is none.
    func keyRule(ofDownload key: CacheKey) throws(RepriseError) -> KeyRule? {
        let name = name(of: key)
        return try read { try keyRule(ofDownload: name, in: $0) }
    }

    func keyRule(ofDownload name: String, in database: Database) throws -> KeyRule? {
        let target = try Data.fetchOne(
            database, sql: "SELECT target FROM retention WHERE keyHash = ? AND kind = 2", arguments: [name])
        return target.flatMap { codec.decodeTarget($0, name: name)?.keyRule }
    }

    /// The name given to the title that begins with `key`; `nil` if there is none.
    func titleName(of key: CacheKey) throws(RepriseError) -> String? {
        let name = name(of: key)
        return try read { try title(named: name, in: $0)?.fields.name }
    }

    /// The title whose first file is `name`.
    private func title(
        named name: String, in database: Database
    ) throws -> (row: TitleRow, fields: RecordCodec.TitleFields)? {
        let row = try TitleRow.first(
            database, sql: "SELECT id, tag, keyHash, record FROM title WHERE keyHash = ?", arguments: [name])
        return row.flatMap { row in codec.decodeTitle(row.record, name: name).map { (row, $0) } }
    }

    /// The stored bytes of a stream; `nil` if the title is not a stream.
    private func storedBytes(
        ofStream title: (row: TitleRow, fields: RecordCodec.TitleFields)?, in database: Database
    ) throws -> Int64? {
        guard let title, title.fields.isStream else { return nil }
        return try Int64.fetchOne(
            database,
            sql: """
                SELECT \(Self.sum("stored")) FROM member JOIN entry ON entry.keyHash = member.keyHash
                JOIN generation ON generation.id = entry.generation WHERE member.title = ? AND listed = 1
                """, arguments: [title.row.id])
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
                WHERE entry.keyHash = ?1 OR entry.keyHash IN (SELECT keyHash FROM selection WHERE signpost = ?1)
                """, arguments: [name])
        var (storedBytes, completeLength, isWhole) = (Int64(0), Int64?.some(0), !rows.isEmpty)
        for row in rows {
            storedBytes += row.usage.stored
            guard let record = codec.decode(row), let length = record.completeLength else {
                (completeLength, isWhole) = (nil, false)
                continue
            }
            completeLength = completeLength.map { $0 + length }
            let chunks = try chunks(database, generation: record.id)
            isWhole = isWhole && ChunkLedger(blocks: chunks).ranges.contains(0..<length)
        }
        return (storedBytes, rows.isEmpty ? nil : completeLength, isWhole)
    }

    /// Records that a download was begun or goes on; a new one comes last.
    func beginDownload(_ name: String, networkPolicy: NetworkPolicy, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE retention SET paused = 0, failure = NULL, policy = ?2,
                    position = IFNULL(position, 1 + IFNULL((SELECT MAX(position) FROM retention), 0))
                WHERE keyHash = ?1
                """, arguments: [name, DownloadRow.number(of: networkPolicy)])
    }

    /// Records why each of `items` waits or has failed last, or that it has not.
    func setFailures(of items: [DownloadQueue.Item]) async throws(RepriseError) {
        let failures = items.map { (name: name(of: $0.key), error: $0.lastError) }
        try await write { database in
            for failure in failures { try setFailure(failure.error, of: failure.name, in: database) }
        }
    }

    private func setFailure(_ error: RepriseError?, of name: String, in database: Database) throws {
        let failure = try error.map { try codec.encode(RecordCodec.Failure($0), name: name) }
        try database.execute(
            sql: "UPDATE retention SET failure = ? WHERE keyHash = ? AND kind = 2", arguments: [failure, name])
    }

    /// Records that a download was paused, or is to go on, whatever it failed with before.
    func setPaused(_ isPaused: Bool, for key: CacheKey) async throws(RepriseError) {
        let name = name(of: key)
        try await write { database in
            try database.execute(
                sql: """
                    UPDATE retention SET paused = ?1, failure = IIF(?1, failure, NULL) WHERE keyHash = ?2 AND kind = 2
                    """, arguments: [isPaused ? 1 : 0, name])
        }
    }

    /// Records a download as it was, with its selection, unless it was removed.
    func putBack(_ item: DownloadQueue.Item) async throws(RepriseError) {
        let name = name(of: item.key)
        let retained = Retained(
            key: item.key, url: item.request.url, retention: .download, selection: item.selection,
            keyRule: item.keyRule)
        let isPaused = if case .paused = item.phase { 1 } else { 0 }
        try await write { database in
            try database.execute(
                sql: "UPDATE retention SET paused = ? WHERE keyHash = ? AND kind = 2", arguments: [isPaused, name])
            guard database.changesCount > 0 else { return }
            try RetentionRow(retained, name: name, codec: codec).save(in: database)
            try setFailure(item.lastError, of: name, in: database)
        }
    }

    /// Records the order of downloads.
    func setOrder(_ keys: [CacheKey]) async throws(RepriseError) {
        let names = keys.map(name(of:))
        try await write { database in
            for (position, name) in names.enumerated() {
                try database.execute(
                    sql: "UPDATE retention SET position = ? WHERE keyHash = ? AND kind = 2",
                    arguments: [position + 1, name])
            }
        }
    }
}
