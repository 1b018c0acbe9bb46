import Foundation
import GRDB

/// Which files are removed with a title, and what a removal would free.
extension TitleStore {
    /// The keys of the files that belong to the title of `key` and to no other.
    func ownFiles(of key: CacheKey) throws(RepriseError) -> [CacheKey] {
        try index.read { database in
            let id = try Self.number(ofTitle: index.name(of: key), in: database)
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
        ) { index.codec.decode($0)?.key }
    }

    /// Removes the records of titles, which no longer retain their files.
    ///
    /// Records the files that stored playlists name, `named`, first. Returns the keys of files that belong to no other
    /// title and are not retained by themselves.
    func remove(
        _ keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>]
    ) async throws(RepriseError) -> [CacheKey] {
        let names = keys.map(index.name(of:))
        return try await index.write { database in try remove(names, knowing: named, in: database) }
    }

    private func remove(
        _ names: [String], knowing named: [TitleReference: Set<CacheKey>], in database: Database
    ) throws -> [CacheKey] {
        for (title, keys) in named { _ = try add(keys, to: title, in: database) }
        var files: [CacheKey] = []
        for name in names {
            let id = try Self.number(ofTitle: name, in: database)
            try RetentionStore.endRetention(of: name, in: database)
            guard let id else { continue }
            files += try ownFiles(ofTitle: id, in: database).filter { key in
                let isRetained = try Bool.fetchOne(
                    database,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM retention WHERE keyHash = ?1
                            OR keyHash IN (SELECT signpost FROM selection WHERE selection.keyHash = ?1))
                        """, arguments: [index.name(of: key)])
                return isRetained != true
            }
            try database.execute(sql: "DELETE FROM member WHERE title = ?", arguments: [id])
            try database.execute(sql: "DELETE FROM title WHERE id = ?", arguments: [id])
        }
        return files
    }

    /// Ends those of `titles` that have lost their first file and all files of their own.
    ///
    /// The files that are left belong to other titles and are removed with these.
    ///
    /// A title that has a name, or is retained, stays. Returns the keys of the titles that ended.
    func endRests(among titles: Set<Int64>, in database: Database) throws -> Set<CacheKey> {
        var ended: Set<CacheKey> = []
        for id in titles.sorted() {
            let rest = try rows(
                """
                id = ?1 AND named = 0
                AND NOT EXISTS (SELECT 1 FROM retention WHERE retention.keyHash = title.keyHash)
                AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.keyHash = title.keyHash OR entry.keyHash IN
                    (SELECT keyHash FROM selection WHERE signpost = title.keyHash))
                AND NOT EXISTS (SELECT 1 FROM member WHERE member.title = ?1 AND NOT \(Self.isShared))
                """, [id], in: database
            ).first
            guard let rest else { continue }
            // A trigger removes the title with its last member.
            try database.execute(sql: "DELETE FROM member WHERE title = ?", arguments: [id])
            if let key = key(rest) { ended.insert(key) }
        }
        return ended
    }

    /// What ``remove(_:knowing:)`` and the removal of these titles' files would free.
    ///
    /// The records are removed and rolled back, so that the forecast follows the rules of the removal.
    func forecast(
        ofRemoving keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>]
    ) async throws(RepriseError) -> RemovalForecast {
        let titles = keys.map(index.name(of:))
        return try await index.write { database in
            var forecast = RemovalForecast()
            try database.inSavepoint {
                var names = Set(titles)
                forecast.files = Set(try remove(titles, knowing: named, in: database))
                names.formUnion(forecast.files.map(index.name(of:)))
                for name in names {
                    for variant in try entries.variants(of: name, in: database) {
                        names.insert(index.name(of: CacheKey(variant.key)))
                    }
                }
                for name in names {
                    let isStored = try Bool.fetchOne(
                        database, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE keyHash = ?)", arguments: [name])
                    if isStored == true { forecast.entries += 1 }
                    forecast.freedBytes += try entries.usage(ofEntry: name, in: database).stored
                }
                return .rollback
            }
            return forecast
        }
    }
}
