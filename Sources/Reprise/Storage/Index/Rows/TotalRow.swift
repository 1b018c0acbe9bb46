import GRDB

/// A row of `total`: one sum over the life of the cache.
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

    /// Adds the value to that of the row, which is made if there is none.
    func add(in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO total (name, value) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                """, arguments: [name, value])
    }
}
