import Foundation

/// What is in force of one setting, and which place says so.
struct SettingNote: Sendable, Equatable {
    /// A place.
    enum Source: Sendable, Equatable {
        case option
        case variable
        /// A line for each text.
        case file(String, lines: [Int])
        /// No place names it.
        case nowhere
    }

    let name: String
    /// As a file would say it, without a password.
    private(set) var texts: [String]
    let source: Source
    let isSecret: Bool
    let isList: Bool
    /// Whether a place names it, with another value than the default.
    let isChanged: Bool
    private let isPath: Bool
    /// The option and the variable.
    let option, variable: String
    /// What holds where no place names it; `nil` if there is a default.
    let otherwise: String?

    init(_ setting: any AnySetting, texts: [String], source: Source) {
        (name, self.texts, self.source) = (setting.name, texts.map(setting.shown), source)
        (isSecret, isList, isPath) = (setting.traits.isSecret, setting.shape == .many, setting.traits.isPath)
        isChanged = source != .nowhere && setting.shortest(texts) != setting.defaultTexts
        (option, variable, otherwise) = (setting.option, setting.variable, setting.otherwise)
    }

    /// The same, with `texts` as the default.
    func with(_ texts: [String]) -> Self {
        var note = self
        note.texts = texts
        return note
    }

    /// As a file in any folder would say it.
    var textsInAnyFolder: [String] {
        guard isPath else { return texts }
        return texts.map { ConfigurationFile.isComplete($0) ? $0 : URL(fileURLWithPath: $0).path }
    }

    /// It as lines of a file, with its place as a comment.
    ///
    /// A secret is not shown.
    var lines: [String] {
        guard !texts.isEmpty else { return ["# \(name) is not set: \(otherwise ?? "")"] }
        return textsInAnyFolder.enumerated().map { index, text in
            let value = isSecret ? "(set)" : ConfigurationLine.written(text)
            let setting = "\(name) = \(value)"
            let padding = String(repeating: " ", count: max(2, 40 - setting.count))
            return "\(setting)\(padding)# \(place(index))"
        }
    }

    /// The option, the variable, or the file with the line of the value at `index`.
    func place(_ index: Int = 0) -> String {
        switch source {
        case .option: option
        case .variable: variable
        case .file(let name, let lines): "\(name):\(lines[index])"
        case .nowhere: "default"
        }
    }
}

/// A ``SettingNote`` in JSON.
struct SettingReport: Encodable {
    /// Of a section, its host.
    let host: String?
    let name: String
    /// Absent for lists, for secrets, and if nothing is set and there is no default.
    let value: String?
    let values: [String]?
    /// Only of secrets.
    let isSet: Bool?
    /// `option`, `variable`, `file`, or `default` if no place names it.
    let source: String
    /// The option, the variable or the file.
    let place: String?
    let lines: [Int]?
    /// Why no server starts with these settings alone; of the setting that it is about.
    let objection: String?

    init(_ note: SettingNote, host: String? = nil, objection: String? = nil) {
        (self.host, name, self.objection) = (host, note.name, objection)
        value = note.isSecret || note.isList ? nil : note.textsInAnyFolder.first
        values = note.isSecret || !note.isList ? nil : note.textsInAnyFolder
        isSet = note.isSecret ? !note.texts.isEmpty : nil
        switch note.source {
        case .option: (source, place, lines) = ("option", note.option, nil)
        case .variable: (source, place, lines) = ("variable", note.variable, nil)
        case .file(let file, let numbers): (source, place, lines) = ("file", file, numbers)
        case .nowhere: (source, place, lines) = ("default", nil, nil)
        }
    }
}
