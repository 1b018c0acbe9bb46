/// Whole-number expressions: `+ - * / %`, parentheses, `min(…)`, `max(…)`, variables.
struct ScriptExpression {
    private var rest: Substring
    private let variables: [String: Int64]
    private let whole: String

    static func evaluate(_ text: String, _ variables: [String: Int64]) throws -> Int64 {
        var parser = ScriptExpression(rest: text[...], variables: variables, whole: text)
        let value = try parser.sum()
        parser.skipSpace()
        guard parser.rest.isEmpty else { throw parser.error }
        return value
    }

    private var error: ScriptFormatError { ScriptFormatError("the expression \"\(whole)\" cannot be read") }

    private mutating func skipSpace() { rest = rest.drop(while: \.isWhitespace) }

    private mutating func take(_ characters: String) -> Character? {
        skipSpace()
        guard let first = rest.first, characters.contains(first) else { return nil }
        rest.removeFirst()
        return first
    }

    private func checked(_ result: (partialValue: Int64, overflow: Bool)) throws -> Int64 {
        guard !result.overflow else { throw error }
        return result.partialValue
    }

    private mutating func sum() throws -> Int64 {
        var value = try product()
        while let sign = take("+-") {
            let next = try product()
            value = try checked(
                sign == "+" ? value.addingReportingOverflow(next) : value.subtractingReportingOverflow(next))
        }
        return value
    }

    private mutating func product() throws -> Int64 {
        var value = try atom()
        while let sign = take("*/%") {
            let next = try atom()
            switch sign {
            case "*": value = try checked(value.multipliedReportingOverflow(by: next))
            case "/": value = try checked(value.dividedReportingOverflow(by: next))
            default: value = try checked(value.remainderReportingOverflow(dividingBy: next))
            }
        }
        return value
    }

    private mutating func atom() throws -> Int64 {
        if take("-") != nil { return try checked(Int64(0).subtractingReportingOverflow(atom())) }
        if take("(") != nil {
            let value = try sum()
            guard take(")") != nil else { throw error }
            return value
        }
        skipSpace()
        let digits = rest.prefix { $0.isNumber || $0 == "_" }
        if let first = digits.first, first.isNumber {
            rest = rest.dropFirst(digits.count)
            guard let value = Int64(digits.filter { $0 != "_" }) else { throw error }
            return value
        }
        let name = String(rest.prefix { $0.isLetter || $0 == "$" })
        rest = rest.dropFirst(name.count)
        guard name == "min" || name == "max" else {
            guard let value = variables[name.replacing("$", with: "")] else { throw error }
            return value
        }
        guard take("(") != nil else { throw error }
        var values = [try sum()]
        while take(",") != nil { values.append(try sum()) }
        guard take(")") != nil, let result = name == "min" ? values.min() : values.max() else { throw error }
        return result
    }
}
