import GRDB

/// A row of a query for files in the order of their use.
struct UsedFileRow: IndexRow {
    /// The name of the key.
    let name: String
    /// In seconds since 1970.
    let lastUsed: Double
    /// The numbers of the titles that it belongs to.
    let titles: [Int64]

    init?(_ row: Row) {
        guard let name: String = row.value("keyHash"), let lastUsed: Double = row.value("lastUsed") else { return nil }
        (self.name, self.lastUsed) = (name, lastUsed)
        let numbers: String = row.value("titles") ?? ""
        titles = numbers.split(separator: ",").compactMap { Int64($0) }
    }
}
