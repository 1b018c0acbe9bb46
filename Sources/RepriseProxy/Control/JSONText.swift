import Foundation

/// JSON as it is sent to those who control a server.
enum JSONText {
    /// `value` on one line, without its end.
    static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}
