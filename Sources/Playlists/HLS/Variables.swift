/// Variables of HLS playlists (rfc8216bis §4.3).
package struct Variables: Hashable, Sendable {
    private var values: [[UInt8]: [UInt8]] = [:]

    /// Creates an empty table.
    package init() {}

    /// Creates a table with these values.
    package init(_ values: [String: String]) {
        for (name, value) in values { self.values[Array(name.utf8)] = Array(value.utf8) }
    }

    /// Whether there are none.
    package var isEmpty: Bool { values.isEmpty }

    /// The value of a variable, as text.
    package subscript(_ name: String) -> String? {
        values[Array(name.utf8)].map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of a variable.
    subscript(bytes name: [UInt8]) -> [UInt8]? { values[name] }

    /// Size of all names and values, in bytes.
    package var byteCount: Int { values.reduce(0) { $0 + $1.key.count + $1.value.count } }

    /// Adds a variable; false if there is one of that name, which then counts.
    mutating func define(_ name: [UInt8], as value: [UInt8]) -> Bool {
        guard values[name] == nil else { return false }
        values[name] = value
        return true
    }

    /// Whether `byte` may stand in a name.
    static func isName(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
