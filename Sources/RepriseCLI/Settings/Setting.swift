import ArgumentParser

/// A setting: what it is called, which texts it takes, and what holds where no place names it.
///
/// `Given` is what a place says, and `Value` is what is in force: an optional where there is no default.
struct Setting<Given: Sendable, Value: Sendable>: AnySetting {
    let name: String
    let shape: SettingShape
    let rule: String
    let traits: SettingTraits
    let otherwise: String?
    let defaultTexts: [String]

    private let parsing: @Sendable ([String]) throws(SettingObjection) -> Given
    private let objection: @Sendable (Given) -> SettingObjection?
    private let writing: @Sendable (Given) -> [String]
    private let choosing: @Sendable (Given?) -> Value

    /// What `texts` say; one for each time the setting is named.
    func parse(_ texts: [String]) throws(SettingObjection) -> Given {
        let given = try parsing(texts)
        if let objection = objection(given) { throw objection }
        return given
    }

    func check(_ texts: [String]) throws(SettingObjection) { _ = try parse(texts) }

    func shortest(_ texts: [String]) -> [String] { (try? parse(texts)).map(writing) ?? texts }

    /// The texts that say `given`.
    func texts(of given: Given) -> [String] { writing(given) }

    /// What is in force.
    func value(_ given: Given?) -> Value { choosing(given) }

    /// What the text of its option says; throws what the option takes.
    func read(_ text: String) throws(ValidationError) -> Given {
        do throws(SettingObjection) { return try parse([text]) } catch { throw ValidationError("it \(rule)") }
    }

    /// Refuses a wrong value of the option.
    func check(option given: Given?) throws(ValidationError) {
        guard let given, let objection = objection(given) else { return }
        throw ValidationError(message(objection, subject: option, text: nil))
    }
}

extension Setting where Given: ExpressibleByArgument, Value == Given {
    /// A setting with one value, which has a default.
    init(
        _ name: String, rule: String, default value: Given, traits: SettingTraits = SettingTraits(),
        accepts: @escaping @Sendable (Given) -> Bool = { _ in true }
    ) {
        self.init(
            name: name, shape: .one, rule: rule, traits: traits, otherwise: nil,
            defaultTexts: [value.defaultValueDescription], parsing: oneValue,
            objection: { accepts($0) ? nil : $0.objection }, writing: { [$0.defaultValueDescription] },
            choosing: { $0 ?? value })
    }
}

extension Setting where Given: ExpressibleByArgument, Value == Given? {
    /// A setting with one value, or none: then it is as `otherwise` says to people.
    init(
        _ name: String, rule: String, otherwise: String, traits: SettingTraits = SettingTraits(),
        accepts: @escaping @Sendable (Given) -> Bool = { _ in true }
    ) {
        self.init(
            name: name, shape: .one, rule: rule, traits: traits, otherwise: otherwise, defaultTexts: [],
            parsing: { texts throws(SettingObjection) in
                if traits.emptyVariable == .value, texts == [""], let value = Given(argument: "") { return value }
                return try oneValue(texts)
            }, objection: { accepts($0) ? nil : $0.objection },
            writing: { [$0.defaultValueDescription] }, choosing: { $0 })
    }
}

extension Setting where Given == [String], Value == [String] {
    /// A setting that may be named several times; `advice` says how to write an entry that is wrong.
    init(
        list name: String, rule: String, otherwise: String, traits: SettingTraits = SettingTraits(),
        advice: @escaping @Sendable (String) -> String?
    ) {
        self.init(
            name: name, shape: .many, rule: rule, traits: traits, otherwise: otherwise, defaultTexts: [],
            parsing: { texts throws(SettingObjection) in texts },
            objection: { entries in
                for entry in entries {
                    if entry.isEmpty { return .empty }
                    if let advice = advice(entry) { return .entry(entry, advice: advice) }
                }
                return nil
            }, writing: { $0 }, choosing: { $0 ?? [] })
    }
}

extension Setting where Given == Bool, Value == Bool {
    /// A setting that is on or off.
    init(toggle name: String, default isOn: Bool = false, traits: SettingTraits = SettingTraits()) {
        self.init(
            name: name, shape: .toggle, rule: "must be yes or no.", traits: traits, otherwise: nil,
            defaultTexts: [isOn ? "yes" : "no"],
            parsing: { texts throws(SettingObjection) in
                switch texts.last?.lowercased() {
                case "yes", "true", "on", "1": return true
                case "no", "false", "off", "0": return false
                case "", nil: throw .empty
                default: throw .rule
                }
            }, objection: { _ in nil }, writing: { [$0 ? "yes" : "no"] }, choosing: { $0 ?? isOn })
    }
}

extension ExpressibleByArgument {
    /// Why this value is wrong, if it is.
    fileprivate var objection: SettingObjection { defaultValueDescription.isEmpty ? .empty : .rule }
}

/// The last of `texts` as a value: a flag, variable or file gives one only.
private func oneValue<Value: ExpressibleByArgument>(_ texts: [String]) throws(SettingObjection) -> Value {
    guard let text = texts.last, !text.isEmpty else { throw .empty }
    guard let value = Value(argument: text) else { throw .rule }
    return value
}
