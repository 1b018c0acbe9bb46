import GRDB

/// Sums over the files of a title.
struct TitleSums: Sendable {
    var fileCount = 0
    var usage = Usage()
    /// Bytes on disk of files that no other title has.
    var own: Int64 = 0
    /// In seconds since 1970; `nil` if nothing is stored.
    var lastUsed: Double?

    init() {}

    /// The columns `files`, `allocated`, `stored`, `own` and `lastUsed`.
    init(_ row: Row) {
        fileCount = max(0, row.value("files") ?? 0)
        usage = Usage(row)
        own = min(max(0, row.value("own") ?? 0), Usage.most)
        lastUsed = row.value("lastUsed")
    }
}

extension TitleStore {
    /// A file of a title, and whether another title has it, too.
    private struct TitleFile {
        let generation, title: Int64
        var isShared: Bool
    }

    /// The sums of all titles, by their numbers in the index.
    ///
    /// Reads each table once, in the order of the file. Looking up a million files one by one, as for a single title,
    /// takes several times as long.
    func titleSums(in database: Database) throws -> [Int64: TitleSums] {
        var sums: [Int64: TitleSums] = [:]
        var files = try titleFiles(in: database, sums: &sums)
        files.sort { $0.generation < $1.generation }
        let rows = try Row.fetchCursor(database, sql: "SELECT id, allocated, stored FROM generation ORDER BY id")
        var place = 0
        while place < files.count, let row = try rows.next() {
            guard let id: Int64 = row.value("id") else { continue }
            while place < files.count, files[place].generation < id { place += 1 }
            let usage = Usage(row)
            while place < files.count, files[place].generation == id {
                sums[files[place].title]?.add(usage, isShared: files[place].isShared)
                place += 1
            }
        }
        return sums
    }

    /// The files of all titles, in the order of their keys.
    ///
    /// Counts them in `sums`, with their last use.
    private func titleFiles(in database: Database, sums: inout [Int64: TitleSums]) throws -> [TitleFile] {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT title, generation, lastUsed FROM member CROSS JOIN entry ON entry.keyHash = member.keyHash
                ORDER BY member.keyHash
                """)
        var files: [TitleFile] = []
        while let row = try rows.next() {
            guard let title: Int64 = row.value("title"), let generation: Int64 = row.value("generation") else {
                continue
            }
            let lastUsed: Double? = row.value("lastUsed")
            sums[title, default: TitleSums()].count(lastUsed: lastUsed)
            // The rows of one file are adjacent.
            let isShared = files.last?.generation == generation
            if isShared { files[files.count - 1].isShared = true }
            files.append(TitleFile(generation: generation, title: title, isShared: isShared))
        }
        return files
    }
}

extension TitleSums {
    fileprivate mutating func count(lastUsed date: Double?) {
        fileCount += 1
        lastUsed = [lastUsed, date].compactMap { $0 }.max()
    }

    fileprivate mutating func add(_ more: Usage, isShared: Bool) {
        usage = usage + more
        if !isShared { own = min(own + more.allocated, Usage.most) }
    }
}
