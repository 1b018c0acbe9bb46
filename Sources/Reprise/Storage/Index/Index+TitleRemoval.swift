import Foundation
import GRDB

/// What goes with a title, and what a removal would free.
extension Index {
    /// The keys of the files that belong to the title of `key` and to no other.
    func ownFiles(of key: CacheKey) throws(RepriseError) -> [CacheKey] {
        let name = name(of: key)
        return try read { database in
            let id = try Int64.fetchOne(database, sql: "SELECT id FROM title WHERE keyHash = ?", arguments: [name])
            return try id.map { try ownFiles(ofTitle: $0, in: database) } ?? []
        }
    }

    private func ownFiles(ofTitle id: Int64, in database: Database) throws -> [CacheKey] {
        try GenerationRow.compactMap(
            database,
            sql: """
                SELECT generation.id, generation.keyHash, record, salt FROM member
                JOIN entry ON entry.keyHash = member.keyHash JOIN generation ON generation.id = entry.generation
                WHERE member.title = ? AND NOT \(Self.isShared)
                """, arguments: [id]
        ) { codec.decode($0)?.key }
    }

    /// Removes the records of titles, whose files are no longer retained because of them; returns the keys of the files
    /// that belong to no other title, and are not retained by themselves.
    ///
    /// `named` is what stored playlists name, which is recorded before.
    func removeTitles(
        _ keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>]
    ) async throws(RepriseError) -> [CacheKey] {
        let names = keys.map(name(of:))
        return try await write { database in try removeTitles(names, knowing: named, in: database) }
    }

    private func removeTitles(
        _ names: [String], knowing named: [TitleReference: Set<CacheKey>], in database: Database
    ) throws -> [CacheKey] {
        for (title, keys) in named { _ = try add(keys, to: title, in: database) }
        var files: [CacheKey] = []
        for name in names {
            let id = try Int64.fetchOne(database, sql: "SELECT id FROM title WHERE keyHash = ?", arguments: [name])
            try Self.endRetention(of: name, in: database)
            guard let id else { continue }
            files += try ownFiles(ofTitle: id, in: database).filter { key in
                let name = self.name(of: key)
                let isRetained = try Bool.fetchOne(
                    database,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM retention WHERE keyHash = ?1
                            OR keyHash IN (SELECT signpost FROM selection WHERE selection.keyHash = ?1))
                        """, arguments: [name])
                return isRetained != true
            }
            try database.execute(sql: "DELETE FROM member WHERE title = ?", arguments: [id])
            try database.execute(sql: "DELETE FROM title WHERE id = ?", arguments: [id])
        }
        return files
    }

    /// Ends those of `titles` that have lost their first file and all files of their own: what is left belongs to other
    /// titles, and goes with these.
    ///
    /// One that has a name, or is retained, stays. Returns the keys of those that are gone.
    func endRests(among titles: Set<Int64>, in database: Database) throws -> Set<CacheKey> {
        var ended: Set<CacheKey> = []
        for id in titles.sorted() {
            let rest = try TitleRow.first(
                database,
                sql: """
                    SELECT id, tag, keyHash, record FROM title WHERE id = ?1 AND named = 0
                    AND NOT EXISTS (SELECT 1 FROM retention WHERE retention.keyHash = title.keyHash)
                    AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.keyHash = title.keyHash OR entry.keyHash IN
                        (SELECT keyHash FROM selection WHERE signpost = title.keyHash))
                    AND NOT EXISTS (SELECT 1 FROM member WHERE member.title = ?1 AND NOT \(Self.isShared))
                    """, arguments: [id])
            guard let rest else { continue }
            // Its row goes with the last of them.
            try database.execute(sql: "DELETE FROM member WHERE title = ?", arguments: [id])
            if let fields = codec.decodeTitle(rest.record, name: rest.name) { ended.insert(CacheKey(fields.key)) }
        }
        return ended
    }

    /// What ``removeTitles(_:knowing:)`` and the removal of these titles' files would free; nothing is removed.
    ///
    /// The records are removed and rolled back, so that the forecast follows the same rules as the removal.
    func forecast(
        ofRemoving keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>]
    ) async throws(RepriseError) -> RemovalForecast {
        let titles = keys.map(name(of:))
        return try await write { database in
            var forecast = RemovalForecast()
            try database.inSavepoint {
                var names = Set(titles)
                forecast.files = Set(try removeTitles(titles, knowing: named, in: database))
                names.formUnion(forecast.files.map(name(of:)))
                for name in names {
                    for variant in try variants(of: name, in: database) {
                        names.insert(self.name(of: CacheKey(variant.key)))
                    }
                }
                for name in names {
                    let isStored = try Bool.fetchOne(
                        database, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE keyHash = ?)", arguments: [name])
                    if isStored == true { forecast.entries += 1 }
                    forecast.freedBytes += try usage(ofEntry: name, in: database).stored
                }
                return .rollback
            }
            return forecast
        }
    }

    /// What all generations of the entry `name` occupy.
    private func usage(ofEntry name: String, in database: Database) throws -> Usage {
        try GenerationRow.all(
            database, sql: "SELECT id, keyHash, allocated, stored FROM generation WHERE keyHash = ?", arguments: [name]
        ).reduce(Usage()) { $0 + $1.usage }
    }

    /// Bytes on disk of the entries under `keys`.
    func allocatedBytes(of keys: [CacheKey]) throws(RepriseError) -> Int64 {
        try read { database in
            try keys.reduce(0) { $0 + (try usage(ofEntry: name(of: $1), in: database).allocated) }
        }
    }
}
