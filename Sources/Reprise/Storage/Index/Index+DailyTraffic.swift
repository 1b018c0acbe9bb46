import GRDB

/// Traffic by day: two rows of `total` for each, such as `served 2026-11-29`.
extension Index {
    /// The beginnings of the rows' names.
    private static var kinds: [(prefix: String, bytes: WritableKeyPath<DailyTraffic, Int64>)] {
        [("served ", \.servedBytes), ("fetched ", \.fetchedBytes)]
    }

    /// Adds `more` to its day, and forgets days that are too long ago.
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

    /// The traffic of the days that are remembered, the earliest first.
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
}
