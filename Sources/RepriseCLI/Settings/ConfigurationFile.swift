import ArgumentParser
import Primitives
import Reprise
import RepriseProxy

/// What a configuration file says: settings, each with its line.
struct ConfigurationFile: Sendable, Equatable {
    /// What one line says of a setting.
    struct Entry: Sendable, Equatable {
        let name: String
        /// `nil` where there is no equals sign.
        let value: String?
        let line: Int
    }

    /// The settings of one host.
    struct Section: Sendable, Equatable {
        let host: String
        let line: Int
        var entries: [Entry] = []
    }

    /// How the file is called in messages.
    let name: String
    /// What relative paths in it begin with.
    private let folder: String
    private(set) var entries: [Entry] = []
    private(set) var sections: [Section] = []

    /// Most bytes of a file.
    static let largestFile = 1 << 20

    /// Reads the file at `path`.
    ///
    /// Throws a reason with code 64, as all errors of configurations.
    init(at path: String) throws {
        let advice = "Name a configuration file that this user may read with --config or REPRISE_CONFIG."
        let bytes: [UInt8]
        do throws(RepriseError) {
            bytes = try SmallFile.read(
                path, named: path.printable, limit: Self.largestFile, content: "a setting on each line")
        } catch { throw Self.reason("\(error.message) \(advice)") }
        try self.init(bytes, named: path)
    }

    /// Takes apart `bytes` of the file called `name`, and compares it with the settings that there are.
    init(_ bytes: [UInt8], named name: String) throws {
        self.name = name.printable
        folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
        guard let text = String(utf8: bytes) else {
            let line = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
                .firstIndex { String(utf8: $0) == nil }
            throw problem("The line is no text in UTF-8.", at: (line ?? 0) + 1)
        }
        let lines = text.drop { $0 == "\u{FEFF}" }.split(omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n"
        }
        for (index, line) in lines.enumerated() { try add(line, number: index + 1) }
        try check(entries, by: SettingTable.inFiles, in: nil)
        for section in sections { try check(section.entries, by: SettingTable.host, in: section) }
    }

    private mutating func add(_ text: Substring, number: Int) throws {
        let line: ConfigurationLine
        do throws(ConfigurationLine.Fault) { line = try ConfigurationLine(text) } catch {
            throw problem(error.message, at: number)
        }
        switch line {
        case .blank: return
        case .setting(let name, let value):
            let entry = Entry(name: name, value: value, line: number)
            if sections.isEmpty {
                entries.append(entry)
            } else {
                sections[sections.count - 1].entries.append(entry)
            }
        case .section(let kind, let name): try begin(kind, name.lowercased(), at: number)
        }
    }

    private mutating func begin(_ kind: String, _ host: String, at number: Int) throws {
        guard kind == "host" else {
            throw problem(
                "There is no section [\(String(kind.prefix(40)).printable)]; sections are [host NAME], and the settings of the server "
                    + "stand before the first one.", at: number)
        }
        if let advice = ProxyConfiguration.objection(toHost: host) {
            throw problem("[host \(String(host.prefix(80)).printable)]: \(advice)", at: number)
        }
        if let earlier = sections.first(where: { HostPattern.isSame($0.host, host) }) {
            throw problem(
                "[host \(earlier.host)] stands in line \(earlier.line) already; write all settings of a host there.",
                at: number
            )
        }
        sections.append(Section(host: host, line: number))
    }

    // MARK: - Checks

    private func check(_ entries: [Entry], by table: [any AnySetting], in section: Section?) throws {
        for (index, entry) in entries.enumerated() {
            guard let setting = table.first(where: { $0.name == entry.name }) else {
                throw problem(Self.unknown(entry, in: section), at: entry.line)
            }
            if setting.shape != .many, let earlier = entries[..<index].first(where: { $0.name == entry.name }) {
                throw problem("\(entry.name) has one value, and line \(earlier.line) has it already.", at: entry.line)
            }
            guard let text = Self.text(of: entry, for: setting) else {
                throw problem(
                    "\(entry.name) has no value; write \(entry.name) = VALUE: it \(setting.rule)", at: entry.line)
            }
            do throws(SettingObjection) { try setting.check([text]) } catch {
                throw problem(setting.message(error, subject: entry.name, text: text), at: entry.line)
            }
        }
    }

    /// Says where an unknown name belongs, or which one was meant.
    private static func unknown(_ entry: Entry, in section: Section?) -> String {
        let (here, elsewhere) =
            section == nil
            ? (SettingTable.inFiles, SettingTable.host) : (SettingTable.host, SettingTable.inFiles)
        let name = String(entry.name.prefix(40)).printable
        let kind = section == nil ? "setting" : "setting of a host"
        if elsewhere.contains(where: { $0.name == entry.name }) {
            return section == nil
                ? "\(name) is a setting of a host; it stands in a section such as [host media.example.com]."
                : "\(name) is no setting of a host; it stands before the first section."
        }
        if let setting = SettingTable.all.first(where: { $0.name == entry.name }) {
            return "\(name) is not read from files; give it as \(setting.variable)."
        }
        let option = entry.name.drop { $0 == "-" }
        if option != entry.name, here.contains(where: { $0.name == option }) {
            return "In files options have no hyphens before them: write \(option) = VALUE."
        }
        let nearest = NearestName.to(name, among: here.map(\.name))
        return "There is no \(kind) \"\(name)\". "
            + (nearest.map { "Did you mean \($0)?" } ?? "See: reprise help serve")
    }

    /// The value of `entry`; `nil` if it has none and needs one.
    private static func text(of entry: Entry, for setting: any AnySetting) -> String? {
        entry.value ?? (setting.shape == .toggle ? "yes" : nil)
    }

    /// The texts for `setting` in `entries`, and their lines; `nil` if it is not named.
    func texts(_ setting: any AnySetting, in entries: [Entry]) -> [(text: String, line: Int)]? {
        let named = entries.filter { $0.name == setting.name }
        guard !named.isEmpty else { return nil }
        return named.map { entry in
            let text = Self.text(of: entry, for: setting) ?? ""
            return (setting.traits.isPath ? path(text) : text, entry.line)
        }
    }

    /// A path that the file gives: relative to its own folder.
    private func path(_ text: String) -> String {
        Self.isComplete(text) ? text : folder + text
    }

    /// Whether a path means the same in any folder; `-`, standard output, has none.
    static func isComplete(_ path: String) -> Bool { path.hasPrefix("/") || path.hasPrefix("~") || path == "-" }

    // MARK: - Errors

    private func problem(_ message: String, at line: Int) -> Failure.Reason {
        Self.reason("\(name):\(line): \(message)")
    }

    /// What is wrong with a configuration.
    static func reason(_ message: String) -> Failure.Reason {
        Failure.Reason(code: ExitCode(64), name: "invalidConfiguration", message: message)
    }
}
