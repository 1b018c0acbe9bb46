import GRDB

/// A row of `entry`, with the generation that it selects and the retention of its key.
struct EntryRow: IndexRow {
    /// The name of the key.
    let name: String
    /// `nil` if no generation can be read.
    let generation: GenerationRow?
    /// In seconds since 1970.
    let lastUsed: Double
    let plays: Int
    let retention: Retention

    /// SQL for entries with their generations.
    static let withGenerations = """
        SELECT entry.keyHash, generation.id, record, salt, allocated, stored FROM entry
        LEFT JOIN generation ON generation.id = entry.generation
        """

    init?(_ row: Row) {
        guard let name: String = row.value("keyHash") else { return nil }
        self.name = name
        generation = GenerationRow(row)
        lastUsed = row.value("lastUsed") ?? 0
        plays = max(0, row.value("plays") ?? 0)
        retention = Retention(row)
    }
}

extension Retention {
    /// The columns `kind`, `until` and `amount`.
    init(_ row: Row) { self.init(kind: row.value("kind"), until: row.value("until"), amount: row.value("amount")) }
}
