/// One line of a configuration file, taken apart.
///
///     # comment
///     name = value            # comment
///     name = "  value with # and \"quotes\"  "
///     name                    stands for: name = yes
///     [host media.example.com]
enum ConfigurationLine: Equatable {
    case blank
    case section(kind: String, name: String)
    /// `nil` where there is no equals sign.
    case setting(name: String, value: String?)

    /// What is wrong with a line, for people.
    ///
    /// It shows nothing of the line: that may be a secret.
    struct Fault: Error, Equatable { let message: String }

    init(_ text: Substring) throws(Fault) {
        let text = text.trimmed
        if let character = text.unicodeScalars.first(where: { $0.properties.generalCategory == .control && $0 != "\t" })
        {
            let code = String(character.value, radix: 16, uppercase: true)
            throw Fault(
                message:
                    "The line has a control character (U+\(String(repeating: "0", count: 4 - code.count))\(code)); a configuration is text."
            )
        }
        switch text.first {
        case nil, "#": self = .blank
        case "[": self = try Self.section(text.dropFirst())
        default: self = try Self.setting(text)
        }
    }

    private static func section(_ text: Substring) throws(Fault) -> Self {
        let fault = Fault(message: "A section is [host NAME], such as [host media.example.com].")
        guard let end = text.firstIndex(of: "]"), text[text.index(after: end)...].isEndOfLine else { throw fault }
        let words = text[..<end].split(whereSeparator: \.isBlank)
        guard let kind = words.first, words.count <= 2 else { throw fault }
        return .section(kind: String(kind), name: words.count > 1 ? String(words[1]) : "")
    }

    private static func setting(_ text: Substring) throws(Fault) -> Self {
        let name = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "-" || $0 == "_" }
        let rest = text[name.endIndex...].drop(while: \.isBlank)
        if rest.isEmpty || rest.startsComment(after: text[name.endIndex...]), !name.isEmpty {
            return .setting(name: String(name), value: nil)
        }
        guard !name.isEmpty, rest.first == "=" else {
            throw Fault(message: "The line is neither name = value nor a section such as [host media.example.com].")
        }
        return .setting(name: String(name), value: try value(rest.dropFirst()))
    }

    private static func value(_ text: Substring) throws(Fault) -> String {
        let value = text.drop(while: \.isBlank)
        guard value.first != "\"" else { return try quoted(value.dropFirst()) }
        // A # within a word is part of it.
        var end = value.startIndex
        var isAfterBlank = text.startIndex < value.startIndex
        while end < value.endIndex, !(isAfterBlank && value[end] == "#") {
            isAfterBlank = value[end].isBlank
            end = value.index(after: end)
        }
        return String(value[..<end].trimmed)
    }

    private static func quoted(_ text: Substring) throws(Fault) -> String {
        var (value, rest) = ("", text)
        while let character = rest.popFirst() {
            switch character {
            case "\"":
                guard rest.isEndOfLine else {
                    throw Fault(message: "Something stands after the closing quotation mark.")
                }
                return value
            case "\\":
                guard let next = rest.popFirst(), next == "\"" || next == "\\" else {
                    throw Fault(
                        message: "Within quotation marks a backslash stands before \" or another backslash only.")
                }
                value.append(next)
            default: value.append(character)
            }
        }
        throw Fault(message: "The closing quotation mark is missing.")
    }

    /// `value` as it is written after the equals sign.
    static func written(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value == String(value[...].trimmed) && !value.hasPrefix("\"") && !value.hasPrefix("#")
            && !zip(value, value.dropFirst()).contains { $0.isBlank && $1 == "#" }
        if isPlain { return value }
        let escaped = value.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"\(escaped)\""
    }
}

extension Character {
    /// Whether it separates words on a line.
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop(while: \.isBlank)
        return start.lastIndex { !$0.isBlank }.map { start[...$0] } ?? ""
    }

    /// Whether nothing but a comment follows.
    fileprivate var isEndOfLine: Bool {
        let rest = drop(while: \.isBlank)
        return rest.isEmpty || rest.first == "#"
    }

    /// Whether it is a comment that blanks of `text` separate from what stands before it.
    fileprivate func startsComment(after text: Substring) -> Bool { first == "#" && text.startIndex < startIndex }
}
