import GRDB

/// A row as a value; one that lacks a column, or has a value of another type in it, counts as missing.
///
/// Not GRDB's `FetchableRecord`: the rest of a query goes on after a row that a damaged file cannot give.
protocol IndexRow {
    /// `nil` if the row cannot be used.
    init?(_ row: Row)
}

extension IndexRow {
    /// The usable rows of a query.
    static func all(
        _ database: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] {
        try compactMap(database, sql: sql, arguments: arguments) { $0 }
    }

    /// What `transform` makes of the usable rows of a query, one after the other.
    static func compactMap<T>(
        _ database: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        _ transform: (Self) throws -> T?
    ) throws -> [T] {
        let rows = try Row.fetchCursor(database, sql: sql, arguments: arguments)
        var values: [T] = []
        while let row = try rows.next() {
            if let value = try Self(row).flatMap(transform) { values.append(value) }
        }
        return values
    }

    /// The first row of a query, if there is one that can be used.
    static func first(
        _ database: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Self? {
        try Row.fetchOne(database, sql: sql, arguments: arguments).flatMap { Self($0) }
    }
}

extension Row {
    /// The column's value, or `nil` if it is missing or of another type.
    func value<T: DatabaseValueConvertible>(_ column: String) -> T? {
        (self[column] as DatabaseValue?).flatMap { T.fromDatabaseValue($0) }
    }
}
