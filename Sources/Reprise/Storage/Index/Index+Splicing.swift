import GRDB

/// The hosts that are known to splice: see ``SplicingHostTable``.
extension Index {
    /// The name of a host in rows, which does not show it in an encrypted cache.
    func name(ofHost host: String) -> String { codec.vault?.name(ofHost: host) ?? host }

    /// When each host was last seen to splice, in seconds since 1970, by its name; the most recent ones.
    func splicingHosts() throws(RepriseError) -> [String: Int64] {
        try read { database in
            let rows = try SplicingHostRow.all(
                database, sql: "SELECT name, lastSeen FROM splicingHost ORDER BY lastSeen DESC LIMIT ?",
                arguments: [SplicingHostTable.capacity])
            return Dictionary(rows.map { ($0.name, $0.lastSeen) }) { $1 }
        }
    }

    /// Records that the host was seen to splice, and drops what is no longer remembered.
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

/// A row of `splicingHost`.
private struct SplicingHostRow: IndexRow {
    let name: String
    let lastSeen: Int64

    init?(_ row: Row) {
        guard let name: String = row.value("name"), let lastSeen: Int64 = row.value("lastSeen") else { return nil }
        (self.name, self.lastSeen) = (name, lastSeen)
    }
}
