import Foundation
import Primitives
import Reprise
import RepriseHTTPClient

/// The places that settings come from: options first, then variables, then a configuration file, then the defaults.
///
/// It notes what was found, which `reprise config` shows.
final class Settings: Sendable {
    let environment: [String: String]
    /// The configuration file, if there is one.
    let file: ConfigurationFile?
    /// The option or variable that names the file.
    let fileSource: String?
    private let found = Mutex<[String: SettingNote]>([:])

    /// Variables as they are, empty ones too.
    init(environment: [String: String], file: ConfigurationFile? = nil, fileSource: String? = nil) {
        (self.environment, self.file, self.fileSource) = (environment, file, fileSource)
    }

    /// Reads the file that `option` or the variable names, if one does.
    ///
    /// Throws a reason with code 64 if it cannot be read, or if something in it is wrong.
    convenience init(option: String?, environment: [String: String]) throws {
        let variable = environment[Self.variable]
        if option == nil, variable?.isEmpty == true {
            throw ConfigurationFile.reason("\(Self.variable) is empty; name a configuration file, or unset it.")
        }
        let file = try (option ?? variable).map { try ConfigurationFile(at: ($0 as NSString).expandingTildeInPath) }
        self.init(
            environment: environment, file: file,
            fileSource: file == nil ? nil : option == nil ? Self.variable : "--config")
    }

    /// The variable that names the file.
    static let variable = "REPRISE_CONFIG"
    /// What the names of variables begin with.
    private static let prefix = "REPRISE_"

    private static let known = Mutex<[String: Settings]>([:])

    /// Those of this process; the file is read once, because it may be a pipe, and may change.
    static func ofProcess(option: String?) throws -> Settings {
        try known.withLock { known in
            if let settings = known[option ?? ""] { return settings }
            let settings = try Settings(option: option, environment: ProcessInfo.processInfo.environment)
            known[option ?? ""] = settings
            return settings
        }
    }

    /// What is in force of `setting`; `given` is what its option says.
    ///
    /// Throws a reason with code 64 if a variable is wrong. A setting for which something else counts is not looked up
    /// in the file if `ignoresFile`.
    func value<Given, Value>(
        _ setting: Setting<Given, Value>, given: Given?, ignoresFile: Bool = false
    ) throws -> Value {
        let (given, note) = try find(setting, given: given, ignoresFile: ignoresFile)
        found.withLock { $0[setting.name] = note }
        return setting.value(given)
    }

    /// The same for a setting whose default depends on the machine.
    func value<Given>(_ setting: Setting<Given, Given?>, given: Given?, default value: Given) throws -> Given {
        let (given, note) = try find(setting, given: given, ignoresFile: false)
        let inForce = given ?? value
        found.withLock { $0[setting.name] = given == nil ? note.with(setting.texts(of: inForce)) : note }
        return inForce
    }

    /// The same for a list, of which an option that is not given is empty.
    func value(_ setting: Setting<[String], [String]>, given: [String]) throws -> [String] {
        try value(setting, given: given.isEmpty ? nil : given)
    }

    private func find<Given, Value>(
        _ setting: Setting<Given, Value>, given: Given?, ignoresFile: Bool
    ) throws -> (Given?, SettingNote) {
        if let given { return (given, SettingNote(setting, texts: setting.texts(of: given), source: .option)) }
        if let texts = try texts(ofVariableFor: setting) {
            do throws(SettingObjection) {
                return (try setting.parse(texts), SettingNote(setting, texts: texts, source: .variable))
            } catch {
                throw ConfigurationFile.reason(setting.message(error, variable: texts))
            }
        }
        if !ignoresFile, let file, let lines = file.texts(setting, in: file.entries) {
            let texts = lines.map(\.text)
            // The file was checked when it was read.
            let value = try setting.parse(texts)
            return (value, SettingNote(setting, texts: texts, source: .file(file.name, lines: lines.map(\.line))))
        }
        return (nil, SettingNote(setting, texts: setting.defaultTexts, source: .nowhere))
    }

    /// What the variable of `setting` says; `nil` if it is not set.
    ///
    /// A list is separated by spaces or commas.
    private func texts(ofVariableFor setting: any AnySetting) throws -> [String]? {
        guard let text = environment[setting.variable] else { return nil }
        // A list of separators only is as empty as no text.
        let texts = setting.shape == .many ? text.split { $0 == " " || $0 == "," }.map(String.init) : [text]
        guard text.isEmpty || texts.isEmpty else { return texts }
        switch setting.traits.emptyVariable {
        case .unset: return nil
        case .value: return [text]
        case .refused:
            throw ConfigurationFile.reason("\(setting.variable) is empty. Unset it, or set it: it \(setting.rule)")
        }
    }

    /// Variables that are named as settings are, and are none, with the one that may have been meant.
    var unknownVariables: [(name: String, meant: String?)] {
        let known = SettingTable.all.map(\.variable) + [Self.variable]
        let unknown = environment.keys.filter { $0.hasPrefix(Self.prefix) && !known.contains($0) }
        // What all of them begin with makes none nearer.
        let names = known.map { $0.dropFirst(Self.prefix.count).lowercased() }
        return unknown.sorted().map { name in
            let meant = NearestName.to(String(name.dropFirst(Self.prefix.count)), among: names)
            return (name, meant.map { Self.prefix + $0.uppercased() })
        }
    }

    /// What was found, in the order of the table.
    var notes: [SettingNote] {
        let found = found.withLock { $0 }
        return SettingTable.all.compactMap { found[$0.name] }
    }

    /// The place that names `setting`, for people; `nil` if it was not looked up.
    func place(of setting: any AnySetting) -> String? { found.withLock { $0[setting.name]?.place() } }

    /// The variables of many programs that name proxies.
    var proxyVariables: ProxyVariables { ProxyVariables(environment) }

    /// What those variables say.
    ///
    /// Throws a reason with code 64 if one of them is wrong.
    var environmentProxies: OutgoingProxies {
        get throws {
            do { return try OutgoingProxies(environment: environment) } catch {
                throw ConfigurationFile.reason(error.message)
            }
        }
    }

    /// What the file says of single hosts.
    var hosts: HostRules { HostRules(file) }
}
