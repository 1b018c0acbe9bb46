import GRDB

/// The tables `total` and `splicingHost`: counts over the life of the cache, traffic by day, and the hosts that were
/// seen to splice (``SplicingHostTable``).
struct StatisticsStore: Sendable {
    private let index: IndexDatabase

    init(_ index: IndexDatabase) { self.index = index }

    /// Totals over the life of the cache, by name.
    func totals() throws(RepriseError) -> [String: Int64] {
        try index.read { database in
            let rows = try TotalRow.all(database, sql: "SELECT name, value FROM total")
            return Dictionary(rows.map { ($0.name, $0.value) }) { $1 }
        }
    }

    // MARK: - Traffic

    /// The prefixes of the two totals of each day, such as `served 2026-11-29`.
    private static var kinds: [(prefix: String, bytes: WritableKeyPath<DailyTraffic, Int64>)] {
        [("served ", \.servedBytes), ("fetched ", \.fetchedBytes)]
    }

    /// Adds `more` to its day, and removes the totals of days that are too old.
    func add(_ more: DailyTraffic, in database: Database) throws {
        guard more.servedBytes > 0 || more.fetchedBytes > 0 else { return }
        for (prefix, bytes) in Self.kinds {
            try TotalRow(name: prefix + more.day, value: more[keyPath: bytes]).add(in: database)
            try database.execute(
                sql: """
                    DELETE FROM total WHERE name GLOB ?1 || '*' AND name NOT IN
                        (SELECT name FROM total WHERE name GLOB ?1 || '*' ORDER BY name DESC LIMIT ?2)
                    """, arguments: [prefix, DailyTraffic.remembered])
        }
    }

    /// The traffic of the recorded days, the earliest first.
    func dailyTraffic() throws(RepriseError) -> [DailyTraffic] {
        var days: [String: DailyTraffic] = [:]
        for (name, value) in try totals() {
            for (prefix, bytes) in Self.kinds where name.hasPrefix(prefix) {
                let day = String(name.dropFirst(prefix.count))
                days[day, default: DailyTraffic(day: day)][keyPath: bytes] = value
            }
        }
        return days.values.sorted { $0.day < $1.day }
    }

    // MARK: - Hosts that splice

    /// The name of a host in rows, which hides it in an encrypted cache.
    func name(ofHost host: String) -> String { index.codec.vault?.name(ofHost: host) ?? host }

    /// When each host was last seen to splice, in seconds since 1970, by its name; the most recent ones.
    func splicingHosts() throws(RepriseError) -> [String: Int64] {
        try index.read { database in
            let rows = try SplicingHostRow.all(
                database, sql: "SELECT name, lastSeen FROM splicingHost ORDER BY lastSeen DESC LIMIT ?",
                arguments: [SplicingHostTable.capacity])
            return Dictionary(rows.map { ($0.name, $0.lastSeen) }) { $1 }
        }
    }

    /// Records that the host was seen to splice, and removes hosts that are no longer remembered.
    func write(splicing name: String, at date: Int64, to database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO splicingHost (name, lastSeen) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET lastSeen = excluded.lastSeen
                """, arguments: [name, date])
        try database.execute(
            sql: """
                DELETE FROM splicingHost WHERE lastSeen < ?
                OR name NOT IN (SELECT name FROM splicingHost ORDER BY lastSeen DESC LIMIT ?)
                """, arguments: [date - SplicingHostTable.memory, SplicingHostTable.capacity])
    }
}

/// A row of `total`.
struct TotalRow: IndexRow {
    let name: String
    let value: Int64

    /// Upper bound of a total (an exabyte); a damaged number must not overflow a sum.
    private static let most: Int64 = 1 << 60

    init?(_ row: Row) {
        guard let name: String = row.value("name"), let value: Int64 = row.value("value") else { return nil }
        (self.name, self.value) = (name, min(max(0, value), Self.most))
    }

    init(name: String, value: Int64) { (self.name, self.value) = (name, value) }

    /// Adds the value to that of the row, or adds the row.
    func add(in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO total (name, value) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                """, arguments: [name, value])
    }
}

/// A row of `splicingHost`.
private struct SplicingHostRow: IndexRow {
    let name: String
    let lastSeen: Int64

    init?(_ row: Row) {
        guard let name: String = row.value("name"), let lastSeen: Int64 = row.value("lastSeen") else { return nil }
        (self.name, self.lastSeen) = (name, lastSeen)
    }
}
