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

/// A variable whose value stands in the query of the playlist's URL: `EXT-X-DEFINE` with `QUERYPARAM`.
package struct QueryVariable: Hashable, Sendable {
    /// The attribute, from its name to its closing quotation mark.
    let place: Range<Int>
    let name: [UInt8]
    let value: [UInt8]

    /// The attributes that say the same without the query; `nil` for a value that no quoted string can hold.
    var definition: String? {
        guard value.allSatisfy({ !$0.isControl && $0 != UInt8(ascii: "\"") }) else { return nil }
        return "NAME=\"\(String(decoding: name, as: UTF8.self))\",VALUE=\"\(String(decoding: value, as: UTF8.self))\""
    }
}

/// Reads `EXT-X-DEFINE` (rfc8216bis §4.4.2.3).
struct DefinitionReader {
    private let context: HLSContext

    init(_ context: HLSContext) { self.context = context }

    /// Defines the variable of one tag, or notes why it cannot be defined.
    ///
    /// A value is taken as written: references in it are not expanded, neither here nor where the variable is used.
    func read(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var (name, content): ([UInt8]?, [UInt8]?)
        var (imported, parameter): ([UInt8]?, [UInt8]?)
        var parameterPlace = 0..<0
        while let attribute = attributes.next() {
            guard attribute.isQuoted else { continue }
            let bytes = Array(text.bytes[attribute.value])
            switch text.name(attribute) {
            case "NAME": name = bytes
            case "VALUE": content = bytes
            case "IMPORT": imported = bytes
            case "QUERYPARAM": (parameter, parameterPlace) = (bytes, attribute.whole)
            default: break
            }
        }
        text.note(attributes)
        switch (name, content, imported, parameter) {
        case (let name?, let content?, nil, nil): define(name, as: content, in: &text)
        case (nil, nil, let imported?, nil):
            if let value = context.imported?[bytes: imported] {
                define(imported, as: value, in: &text)
            } else {
                text.note(.undefinedVariable, "The imported variable is not known.")
            }
        case (nil, nil, nil, let parameter?):
            try text.budget.spend(bytes: context.url?.bytes.count ?? 0)
            if let value = context.url?.queryValue(parameter), !value.isEmpty {
                text.queryVariables.append(QueryVariable(place: parameterPlace, name: parameter, value: value))
                define(parameter, as: value, in: &text)
            } else {
                text.note(.undefinedVariable, "The URL has no such query parameter, or an empty one.")
            }
        default: text.note(.invalidDefinition, "Needs NAME and VALUE, or IMPORT, or QUERYPARAM.")
        }
    }

    private func define(_ name: [UInt8], as value: [UInt8], in text: inout HLSText) {
        guard !name.isEmpty, name.allSatisfy(Variables.isName) else {
            text.note(.invalidDefinition, "The name of the variable has characters that are not allowed.")
            return
        }
        text.define(name, as: value)
    }
}

/// Replaces variable references, within a limit for all that a playlist expands to.
struct VariableExpander {
    /// What becomes of a text.
    enum Result {
        /// It has no reference.
        case unchanged
        /// It reads like this.
        case expanded([UInt8])
        /// It names a variable that no earlier line defines.
        case undefined
        /// It would be longer than ``PlaylistLimits/linkLength``.
        case tooLong
    }

    /// Variables of the lines read so far.
    var variables: Variables
    private var remaining: Int
    private let budget: PlaylistBudget

    init(_ budget: PlaylistBudget, count: Int, variables: Variables) {
        self.variables = variables
        remaining = budget.limits.output(forInput: count)
        self.budget = budget
    }

    /// Expands `bytes[place]` once: what a value contains is not looked at again (rfc8216bis §4.3).
    ///
    /// Throws `expansionTooLong` when all expansions together exceed the limit of the output.
    mutating func expand(_ bytes: [UInt8], at place: Range<Int>) throws(PlaylistError) -> Result {
        guard var reference = bytes.firstPlace(of: "{$", in: place) else { return .unchanged }
        let longest = budget.limits.linkLength
        var result: [UInt8] = []
        var copied = place.lowerBound
        var isExpanded = false
        while true {
            let name = reference + 2
            var end = name
            while end < place.upperBound, Variables.isName(bytes[end]) { end += 1 }
            if end > name, end < place.upperBound, bytes[end] == UInt8(ascii: "}") {
                guard let value = variables[bytes: Array(bytes[name..<end])] else { return .undefined }
                isExpanded = true
                let (literal, added) = (reference - copied, value.count)
                guard result.count + literal + added <= longest else { return .tooLong }
                guard literal + added <= remaining else {
                    throw PlaylistError(
                        .expansionTooLong, "Variables expand to more than the playlist may become.", at: reference)
                }
                remaining -= literal + added
                try budget.spend(bytes: literal + added)
                result += bytes[copied..<reference]
                result += value
                copied = end + 1
            }
            guard let next = bytes.firstPlace(of: "{$", in: max(end, name)..<place.upperBound) else { break }
            reference = next
        }
        guard isExpanded else { return .unchanged }
        guard result.count + place.upperBound - copied <= longest else { return .tooLong }
        result += bytes[copied..<place.upperBound]
        return .expanded(result)
    }
}
