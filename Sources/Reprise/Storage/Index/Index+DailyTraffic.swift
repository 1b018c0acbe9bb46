import GRDB

/// Traffic by day: two rows of `total` for each, such as `served 2026-11-29`.
extension Index {
    private static let (served, fetched) = ("served ", "fetched ")

    /// Adds `more` to its day, and forgets days that are too long ago.
    func add(_ more: DailyTraffic, in database: Database) throws {
        guard more.servedBytes > 0 || more.fetchedBytes > 0 else { return }
        let isNew = try Bool.fetchOne(
            database, sql: "SELECT NOT EXISTS (SELECT 1 FROM total WHERE name = ?)", arguments: [Self.served + more.day]
        )
        try TotalRow(name: Self.served + more.day, value: more.servedBytes).add(in: database)
        try TotalRow(name: Self.fetched + more.day, value: more.fetchedBytes).add(in: database)
        guard isNew == true else { return }
        for kind in [Self.served, Self.fetched] {
            try database.execute(
                sql: """
                    DELETE FROM total WHERE name GLOB ?1 || '*' AND name NOT IN
                        (SELECT name FROM total WHERE name GLOB ?1 || '*' ORDER BY name DESC LIMIT ?2)
                    """, arguments: [kind, DailyTraffic.remembered])
        }
    }

    /// The traffic of the days that are remembered, the earliest first.
    func dailyTraffic() throws(RepriseError) -> [DailyTraffic] {
        var days: [String: DailyTraffic] = [:]
        for (name, value) in try totals() {
            if name.hasPrefix(Self.served) {
                let day = String(name.dropFirst(Self.served.count))
                days[day, default: DailyTraffic(day: day)].servedBytes = value
            } else if name.hasPrefix(Self.fetched) {
                let day = String(name.dropFirst(Self.fetched.count))
                days[day, default: DailyTraffic(day: day)].fetchedBytes = value
            }
        }
        return days.values.sorted { $0.day < $1.day }
    }
}
