import ArgumentParser
import Reprise
import RepriseHTTPClient

/// A ``Setting`` of any type, for tables.
protocol AnySetting: Sendable {
    /// The option without its hyphens, and the name in files.
    var name: String { get }
    var shape: SettingShape { get }
    /// What follows its name to say which texts it takes: "must be 0 to 65535."
    var rule: String { get }
    var traits: SettingTraits { get }
    /// What holds where no place names it, for people; `nil` if it has a default.
    var otherwise: String? { get }
    /// The default as a file would say it; empty if there is none.
    var defaultTexts: [String] { get }

    /// The same value as `texts`, in its shortest form; `texts` themselves if they are wrong.
    func shortest(_ texts: [String]) -> [String]

    /// Throws if `texts` are wrong, one for each time the setting is named.
    func check(_ texts: [String]) throws(SettingObjection)
}

/// How often a setting is named, and with what.
enum SettingShape: Sendable {
    /// Once, with a value.
    case one
    /// Any number of times, each with a value.
    case many
    /// Once, with yes or no.
    case toggle
}

/// What is special about a setting.
struct SettingTraits: Sendable {
    /// What an empty variable says.
    enum EmptyVariable: Sendable {
        /// Nothing, as in the XDG Base Directory Specification 0.8.
        case unset
        /// That something which protects was lost on its way: it is an error.
        case refused
        /// An empty value, which those who take the setting judge.
        case value
    }

    /// Whether its value is never shown.
    var isSecret = false
    /// Its value as people may see it, without a part that is a secret, such as a password in a URL; `nil` if it has
    /// none.
    var shown: (@Sendable (String) -> String)?
    /// Whether its value is a path: one that a file gives is relative to the folder of that file.
    var isPath = false
    /// Whether there is neither an option nor a name in files.
    var isVariableOnly = false
    var emptyVariable = EmptyVariable.unset
}

/// Why a text is no value of a setting.
enum SettingObjection: Error, Equatable {
    case empty
    /// It is not what the rule says.
    case rule
    /// One of several values is wrong; `advice` says how to write it.
    case entry(String, advice: String)
}

extension AnySetting {
    /// The name of the variable.
    var variable: String { "REPRISE_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined() }
    /// The option with its hyphens.
    var option: String { "--\(name)" }

    /// `text` as people may see it, unless the whole is a secret.
    func shown(_ text: String) -> String { traits.shown?(text) ?? text }

    /// What is said to people when `subject`, such as the name of a variable, says `text`.
    func message(_ objection: SettingObjection, subject: String, text: String?) -> String {
        switch objection {
        case .empty: return "\(subject) is empty; it \(rule)"
        case .entry(let entry, let advice): return "\(subject) is \"\(shown(entry).printable)\": \(advice)"
        case .rule:
            guard let text, !traits.isSecret else { return "\(subject) \(rule)" }
            return "\(subject) is \"\(shown(text).printable)\"; it \(rule)"
        }
    }

    /// What is said to people when its variable is wrong, which separators have parted into `texts`.
    ///
    /// Those that may be pieces of one address, because a comma stands in its log-in or token, are not shown.
    func message(_ objection: SettingObjection, variable texts: [String]) -> String {
        guard case .entry(_, let advice) = objection, mayBePieces(texts) else {
            return message(objection, subject: variable, text: texts.joined(separator: " "))
        }
        return "\(variable) has a wrong entry, not shown because it may be part of a log-in or a token: \(advice) "
            + "Blanks and commas separate entries; in an address they are written %20 and %2C."
    }

    private func mayBePieces(_ texts: [String]) -> Bool {
        guard traits.shown != nil, texts.count > 1 else { return false }
        return !texts.allSatisfy { $0.contains("://") && !$0.contains("@") }
    }

    /// The help of its option: `abstract`, then the variable and the default.
    func help(_ abstract: String, discussion: String = "", valueName: String? = nil) -> ArgumentHelp {
        let value = defaultTexts.isEmpty ? otherwise : defaultTexts.joined(separator: " ")
        let described =
            shape == .many ? "; may be repeated" : shape == .toggle ? "" : value.map { "; default: \($0)" } ?? ""
        return ArgumentHelp("\(abstract) (\(variable)\(described))", discussion: discussion, valueName: valueName)
    }
}
