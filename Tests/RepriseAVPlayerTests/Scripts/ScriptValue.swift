import Foundation

/// A JSON value.
indirect enum ScriptValue: Decodable, Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    /// A number that is not whole.
    case fraction(Double)
    case text(String)
    case list([ScriptValue])
    case object([String: ScriptValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .fraction(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([ScriptValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: ScriptValue].self))
        }
    }

    /// The value with `$name` in texts substituted, and the expressions in `{"expr": …}` evaluated.
    func substituting(_ variables: [String: Int64]) throws -> ScriptValue {
        switch self {
        case .text(let text):
            return .text(variables.reduce(text) { $0.replacingOccurrences(of: "$" + $1.key, with: "\($1.value)") })
        case .list(let values): return .list(try values.map { try $0.substituting(variables) })
        case .object(let fields):
            if fields.count == 1, case .text(let expression)? = fields["expr"] {
                return .int(try ScriptExpression.evaluate(expression, variables))
            }
            return .object(try fields.mapValues { try $0.substituting(variables) })
        default: return self
        }
    }
}

/// A script that cannot be run: a field or step that the schema does not have, or a value of the wrong kind.
struct ScriptFormatError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The fields of an object, each to be taken once; remaining fields are an error, or are reported and skipped.
struct ScriptFields {
    /// Called for fields beyond the schema in scenarios of others; `nil` if such a field is an error.
    @TaskLocal static var onUnknownFields: (@Sendable (String) -> Void)?

    var place: String
    private var fields: [String: ScriptValue]

    init(_ value: ScriptValue, _ place: String) throws {
        guard case .object(let fields) = value else { throw ScriptFormatError("\(place): an object is expected") }
        self.fields = fields
        self.place = place
    }

    /// Whether the field exists; does not take it.
    func has(_ name: String) -> Bool { fields[name] != nil }

    var names: [String] { fields.keys.sorted() }

    /// The value, `.null` included.
    mutating func value(_ name: String) -> ScriptValue? { fields.removeValue(forKey: name) }

    private func wrong(_ name: String, _ kind: String) -> ScriptFormatError {
        ScriptFormatError("\(place): \"\(name)\" must be \(kind)")
    }

    mutating func int(_ name: String) throws -> Int64? {
        switch value(name) {
        case nil, .null: return nil
        case .int(let number): return number
        default: throw wrong(name, "a whole number")
        }
    }

    /// A time in seconds, in ticks of a hundredth of a second.
    mutating func ticks(seconds name: String) throws -> Int64? {
        switch value(name) {
        case nil, .null: return nil
        case .int(let seconds) where seconds <= Int64.max / 100: return seconds * 100
        case .fraction(let seconds): return Int64(exactly: (seconds * 100).rounded())
        default: throw wrong(name, "a number of seconds")
        }
    }

    mutating func bool(_ name: String) throws -> Bool? {
        switch value(name) {
        case nil, .null: return nil
        case .bool(let flag): return flag
        default: throw wrong(name, "true or false")
        }
    }

    mutating func text(_ name: String) throws -> String? {
        switch value(name) {
        case nil, .null: return nil
        case .text(let text): return text
        default: throw wrong(name, "a text")
        }
    }

    mutating func texts(_ name: String) throws -> [String]? {
        switch value(name) {
        case nil, .null: return nil
        case .text(let text): return [text]
        case .list(let values):
            return try values.map { value in
                guard case .text(let text) = value else { throw wrong(name, "a list of texts") }
                return text
            }
        default: throw wrong(name, "a list of texts")
        }
    }

    mutating func ranges(_ name: String) throws -> [Range<Int64>]? {
        switch value(name) {
        case nil, .null: return nil
        case .list(let values): return try values.map { try Self.range($0, wrong(name, "ranges [start, end)")) }
        default: throw wrong(name, "ranges [start, end)")
        }
    }

    private static func range(_ value: ScriptValue, _ error: ScriptFormatError) throws -> Range<Int64> {
        guard case .list(let ends) = value, ends.count == 2, case .int(let start) = ends[0],
            case .int(let end) = ends[1], start <= end
        else { throw error }
        return start..<end
    }

    mutating func list(_ name: String) throws -> [ScriptValue]? {
        switch value(name) {
        case nil, .null: return nil
        case .list(let values): return values
        default: throw wrong(name, "a list")
        }
    }

    mutating func object(_ name: String) throws -> [String: ScriptValue]? {
        switch value(name) {
        case nil, .null: return nil
        case .object(let fields): return fields
        default: throw wrong(name, "an object")
        }
    }

    /// A field that must be there.
    func require<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw ScriptFormatError("\(place): \"\(name)\" is missing") }
        return value
    }

    /// Fields that the schema documents for all steps; a step to which they say nothing only reports them.
    private static let documented: Set = ["withinTicks", "withinSeconds", "beforeBytesOf"]

    /// Fails for fields that were not taken, except comments and those that the schema documents for all steps.
    func finish() throws {
        let comments = ["text", "why", "note", "comment"]
        let rest = fields.keys.filter { !comments.contains($0) }.sorted()
        for name in rest where Self.documented.contains(name) {
            Self.onUnknownFields?("\(place): the field \"\(name)\" has no meaning here")
        }
        let left = rest.filter { !Self.documented.contains($0) }
        guard !left.isEmpty else { return }
        let message = "\(place): unknown field \(left.map { "\"\($0)\"" }.joined(separator: ", "))"
        guard let tell = Self.onUnknownFields else { throw ScriptFormatError(message) }
        tell(message)
    }
}
