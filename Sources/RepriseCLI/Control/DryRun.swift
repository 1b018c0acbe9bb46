import Reprise

/// What an operation would remove, told in place of removing it.
struct DryRun: Codable, Sendable, Equatable {
    /// A title, or a file.
    struct Item: Codable, Sendable, Equatable {
        /// Without its query.
        let url: String
        /// The name of the title, if it has one.
        var name: String?
        /// Whether a part of it stays, because it is kept.
        var staysInPart: Bool?
    }

    /// What would go; at most ``longest``.
    let items: [Item]
    /// How many more would go.
    let others: Int

    /// So many are named.
    static let longest = 1000

    init(_ items: [Item]) {
        self.items = Array(items.prefix(Self.longest))
        others = items.count - self.items.count
    }

    /// Prints a line for each.
    func print() throws {
        for item in items {
            let part = item.staysInPart == true ? "  [its beginning stays]" : ""
            try Terminal.print(item.url + (item.name.map { "  \($0)" } ?? "") + part)
        }
        if others > 0 { try Terminal.print("… and \(others) more") }
    }
}
