import Foundation
import Logging
import Reprise

/// Writes a line to standard error for each message: the time, the level, the message and then its fields as
/// `key=value`, sorted by key.
struct LineLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }
        Terminal.error(
            Self.line("\(event.level)", "\(event.message)", fields.mapValues { "\($0)" }, at: Date()))
    }

    /// The line for a message.
    static func line(_ level: String, _ message: String, _ fields: [String: String], at time: Date) -> String {
        let words = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\(written($0.value))" }
        return "\(time.formatted(.iso8601)) \(level) reprise: \(message.printable)\(words.joined())"
    }

    /// A value, in quotation marks if it is not a single word.
    private static func written(_ value: String) -> String {
        let value = value.printable
        guard value.isEmpty || value.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return value }
        return "\"\(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
