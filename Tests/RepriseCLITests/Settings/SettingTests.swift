import ArgumentParser
import Foundation
import TestLimits
import Testing

@testable import RepriseCLI

/// Every setting of the table: its places in their order, its texts, and where it is documented.
@Suite(.limit(minutes: 1)) struct SettingTests {
    /// Three different right texts for each setting, as a file has them, in their shortest form.
    static let samples: [String: [String]] = [
        "cache-dir": ["/a", "/b", "/c"], "encrypt-key-file": ["/a", "/b", "/c"],
        "encrypt-key": ["7f", "11", "22"].map { String(repeating: $0, count: 32) },
        "log-level": ["debug", "info", "error"], "limit": ["500MB", "3GB", "1GiB"],
        "minimum-free": ["1MB", "0", "1GiB"], "entry-limit": ["1MB", "2MB", "1536MiB"],
        "maximum-age": ["12h", "30d", "90s"], "wait": ["0s", "2m", "1h"],
        "drop-query-item": ["a", "b", "c"], "authorize-command": ["a", "b", "c"],
        "outgoing-proxy": ["http://a.example:3128", "socks5h://b.example", "none"],
        "trust-roots": ["/a", "/b", "/c"], "response-timeout": ["1s", "2m", "3h"], "idle-timeout": ["1s", "2m", "3h"],
        "rate": ["20Mbit", "2MB", "9B"], "while": ["02:00-06:00", "22:30-06:00", "01:00-02:00"],
        "host": ["0.0.0.0", "::1", "localhost"], "port": ["0", "1", "65535"],
        "name": ["n1", "living-room", "a.b_c~d"],
        "token": ["t0ken-a", "t0ken-b", "t0ken-c"],
        "token-file": ["/a", "/b", "/c"], "tls-certificate": ["/a", "/b", "/c"], "tls-key": ["/a", "/b", "/c"],
        "allow-host": ["a.example", ".b.example", "192.0.2.7"],
        "allow-private": ["nas.lan", "192.168.1.0/24", "fd00::1"],
        "parent": ["http://10.0.0.5:8090", "https://n1.example", "http://[::1]:8090"],
        "parent-fallback": ["none", "direct", "none"],
        "allow-page": ["http://a.example", "https://b.example", "http://localhost:8000"],
        "shared": ["yes", "no", "yes"],
        "offline": ["yes", "no", "yes"], "force-cache": ["a.example", "b.example", "192.0.2.7"],
        "read-ahead": ["2m", "32MB", "all"],
        "peers": ["http://10.0.0.5:8090", "https://n1.example", "http://[::1]:8090"],
        "trust-proxy": ["10.0.0.0/24", "192.0.2.7", "fd00::/8"],
        "page": ["yes", "no", "yes"], "access-log": ["/a", "-", "/c"],
        "access-log-format": ["combined", "json", "combined"], "metrics-hosts": ["no", "yes", "no"],
        "max-connections": ["1", "2", "3"], "stall-timeout": ["1s", "2m", "3h"],
        "connections-per-host": ["1", "2", "256"],
        "queue-timeout": ["1s", "2m", "1h"], "drain-timeout": ["0s", "2m", "3h"], "drain-delay": ["1s", "2m", "3h"],
    ]

    private static let names = SettingTable.all.map(\.name)

    /// The settings that the server finds, of its options, variables and a file with `text`.
    private static func found(
        _ options: [String] = [], environment: [String: String] = [:], file text: String? = nil
    ) throws -> [String: SettingNote] {
        let file = try text.map { try ConfigurationFile(Array($0.utf8), named: "/r.conf") }
        let settings = Settings(environment: environment, file: file, fileSource: "--config")
        try Serve.parse(options).lookUp(in: settings)
        return Dictionary(uniqueKeysWithValues: settings.notes.map { ($0.name, $0) })
    }

    /// The option that says `text`.
    private static func option(_ setting: any AnySetting, _ text: String) -> String {
        setting.shape == .toggle
            ? (text == "yes" ? setting.option : "--no-\(setting.name)") : "\(setting.option)=\(text)"
    }

    @Test func eachHasSamples() { #expect(Set(Self.names) == Set(Self.samples.keys)) }

    @Test("An option counts before a variable, a variable before a file, a file before the default", arguments: names)
    func places(name: String) throws {
        let setting = try #require(SettingTable.all.first { $0.name == name })
        let samples = try #require(Self.samples[name])
        let environment = [setting.variable: samples[1]]
        let file = "# comment\n\(name) = \(samples[2])"
        guard !setting.traits.isVariableOnly else {
            #expect(try Self.found(environment: environment)[name]?.source == .variable)
            return
        }
        func check(_ note: SettingNote?, _ texts: [String], _ source: SettingNote.Source) {
            #expect(note?.texts == texts && note?.source == source, "\(name): \(String(describing: note))")
        }
        let option = [Self.option(setting, samples[0])]
        check(try Self.found(option, environment: environment, file: file)[name], [samples[0]], .option)
        check(try Self.found(environment: environment, file: file)[name], [samples[1]], .variable)
        check(try Self.found(file: file)[name], [samples[2]], .file("/r.conf", lines: [2]))
        let unset = try #require(try Self.found()[name])
        #expect(unset.source == .nowhere)
        if name != "cache-dir" { #expect(unset.texts == setting.defaultTexts) }
        #expect(unset.texts.isEmpty == (setting.otherwise != nil) || name == "cache-dir")
    }

    @Test("What one place says of a list, no other adds to", arguments: names)
    func lists(name: String) throws {
        let setting = try #require(SettingTable.all.first { $0.name == name })
        guard setting.shape == .many, let samples = Self.samples[name] else { return }
        let file = samples.map { "\(name) = \($0)" }.joined(separator: "\n")
        let fromFile = try Self.found(file: file)[name]
        #expect(fromFile?.texts == samples && fromFile?.source == .file("/r.conf", lines: [1, 2, 3]))
        for separator in [" ", ",", ", "] {
            let environment = [setting.variable: samples.prefix(2).joined(separator: separator)]
            #expect(try Self.found(environment: environment, file: file)[name]?.texts == Array(samples.prefix(2)))
        }
        #expect(try Self.found([Self.option(setting, samples[2])], file: file)[name]?.texts == [samples[2]])
    }

    @Test("An empty variable is none, or an error where it may have protected something", arguments: names)
    func emptyVariables(name: String) throws {
        let setting = try #require(SettingTable.all.first { $0.name == name })
        let environment = [setting.variable: ""]
        switch setting.traits.emptyVariable {
        case .unset: #expect(try Self.found(environment: environment)[name]?.source == .nowhere)
        case .value: #expect(throws: (any Error).self) { try Self.found(environment: environment) }
        case .refused:
            let file = "\(name) = \(Self.samples[name]?[2] ?? "")"
            let empty = setting.shape == .many ? ["", ",", " ", ", ,"] : [""]
            for text in empty {
                #expect(throws: Failure.Reason.self, "\(text)") {
                    try Self.found(environment: [setting.variable: text], file: file)
                }
            }
            // Where an option says it, nothing was lost.
            let option = Self.option(setting, Self.samples[name]?[0] ?? "")
            #expect(try Self.found([option], environment: environment)[name]?.source == .option)
        }
        let protected: Set = [
            "token", "token-file", "tls-certificate", "tls-key", "encrypt-key-file", "allow-host", "shared",
            "outgoing-proxy", "parent",
        ]
        #expect((setting.traits.emptyVariable == .refused) == protected.contains(name))
    }

    @Test("A wrong text is refused in each place, and the place is named", arguments: names)
    func wrongTexts(name: String) throws {
        let setting = try #require(SettingTable.all.first { $0.name == name })
        // Any text without a line feed may be a path, and a key is judged where it is used.
        guard !setting.traits.isPath, !setting.traits.isVariableOnly, name != "authorize-command" else { return }
        let wrong = setting.shape == .many ? "a=b/" : "a/b c"
        #expect(throws: (any Error).self) {
            _ = try Serve.parse(["\(setting.option)=\(wrong)"])
        }
        for (environment, file, place) in [
            ([setting.variable: wrong], nil, setting.variable), ([:], "\(name) = \(wrong)", "/r.conf:1: \(name)"),
        ] as [([String: String], String?, String)] {
            do {
                _ = try Self.found(environment: environment, file: file)
                Issue.record("\(place) takes \(wrong)")
            } catch let reason as Failure.Reason {
                #expect(reason.code == ExitCode(64) && reason.message.hasPrefix("\(place) "), "\(reason.message)")
                #expect(setting.traits.isSecret != reason.message.contains("a/b c") || setting.shape == .many)
            }
        }
    }

    @Test(
        "A wrong address of a server is shown without its token and log-in",
        arguments: [
            "http://u:s3cret@h", "http://s3cret@h/", "http://h/s3cret#x", "http://h?s3cret", "http://h/s3cret/b",
        ])
    func secretsOfServers(text: String) throws {
        func message(_ body: () throws -> Void) -> String {
            do { try body() } catch let reason as Failure.Reason { return reason.message } catch {
                return Serve.fullMessage(for: error)
            }
            return ""
        }
        var messages = [message { _ = try Self.found(file: "[host a.example]\nparent = \(text)") }]
        for name in ["parent", "peers"] {
            messages.append(message { _ = try Serve.parse(["--\(name)=\(text)"]) })
            messages.append(message { _ = try Self.found(environment: ["REPRISE_\(name.uppercased())": text]) })
            messages.append(message { _ = try Self.found(file: "\(name) = \(text)") })
        }
        for message in messages { #expect(message.contains("<hidden>") && !message.contains("s3cret"), "\(message)") }
    }

    @Test(
        "Pieces of an address that a comma or a blank in its log-in or token parts are not shown",
        arguments: [
            "http://u:s3cret,s3cret@h", "http://u:80,s3cret,s3cret@h", "http://u:s3cret s3cret@h", "s3cret,s3cret@h",
            "http://h/t,s3cret", "http://h,http://u:80,s3cret,b@h",
        ])
    func piecesOfServers(text: String) throws {
        for name in ["REPRISE_PARENT", "REPRISE_PEERS"] {
            let error = #expect(throws: Failure.Reason.self) { try Self.found(environment: [name: text]) }
            let message = try #require(error).message
            #expect(message.hasPrefix("\(name) ") && !message.contains("s3cret"), "\(message)")
            #expect(message.contains("%2C") && message.contains("http://host:port"), "\(message)")
            // Addresses that are whole are shown, so that one finds the wrong one.
            let wrong = #expect(throws: Failure.Reason.self) {
                try Self.found(environment: [name: "http://h,ftp://h2"])
            }
            #expect(wrong?.message.contains("\"ftp://h2\"") == true)
        }
    }

    @Test("A default is a text that the setting takes, and means the default", arguments: names)
    func defaults(name: String) throws {
        let setting = try #require(SettingTable.all.first { $0.name == name })
        guard !setting.defaultTexts.isEmpty else { return }
        let file = setting.defaultTexts.map { "\(name) = \($0)" }.joined(separator: "\n")
        #expect(try Self.found(file: file)[name]?.texts == setting.defaultTexts)
    }

    @Test("REPRISE_ENCRYPT_KEY counts before a file's line, and after the option and the variable of the file")
    func keys() throws {
        let digits = ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)]
        func source(_ options: [String], _ environment: [String: String]) throws -> SettingNote.Source? {
            try Self.found(options, environment: environment, file: "encrypt-key-file = /k")["encrypt-key-file"]?.source
        }
        #expect(try source([], digits) == .nowhere)
        #expect(try source([], [:]) == .file("/r.conf", lines: [1]))
        #expect(try source(["--encrypt-key-file", "/o"], digits) == .option)
        #expect(try source([], digits.merging(["REPRISE_ENCRYPT_KEY_FILE": "/v"]) { $1 }) == .variable)
    }

    // MARK: - Documents

    /// What the parser knows of the options of a subcommand.
    private struct Dump: Decodable {
        struct Command: Decodable { let arguments: [Argument]? }
        struct Argument: Decodable {
            struct Name: Decodable { let kind, name: String }
            let names: [Name]?
            let abstract: String?
        }

        let command: Command
    }

    private static func options<Command: ParsableCommand>(_ command: Command.Type) throws -> [String: String] {
        let dump = try JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8))
        return Dictionary(
            (dump.command.arguments ?? []).flatMap { argument in
                (argument.names ?? []).filter { $0.kind == "long" }.map { ($0.name, argument.abstract ?? "") }
            }
        ) { first, _ in first }
    }

    @Test("Each option of the server is a setting, and each setting an option whose help names its variable")
    func options() throws {
        let options = try Self.options(Serve.self).filter { !$0.key.hasPrefix("no-") }
        // What is done once is no setting, and neither is the place of the settings.
        let actions: Set = ["help", "version", "reset", "config"]
        #expect(Set(options.keys).subtracting(actions) == Set(SettingTable.inFiles.map(\.name)))
        for setting in SettingTable.inFiles {
            #expect(options[setting.name]?.contains("(\(setting.variable)") == true, "\(setting.name)")
        }
    }

    @Test("Options of other subcommands that are called as settings are say their variable, too")
    func otherSubcommands() throws {
        for command in [Fetch.self, Pin.self, Play.self, List.self, Show.self, Verify.self]
            as [any ParsableCommand.Type]
        {
            for (name, abstract) in try Self.options(command) {
                guard let setting = SettingTable.inFiles.first(where: { $0.name == name }) else { continue }
                #expect(abstract.contains("(\(setting.variable)"), "\(command) \(name)")
            }
        }
    }

    private static func text(_ path: String) throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../../\(path)").standardized, encoding: .utf8)
    }

    @Test("The documents have a row for each setting, with its variable and its default", arguments: names)
    func documents(name: String) throws {
        let setting = try #require(SettingTable.all.first { $0.name == name })
        let rows = try Self.text("docs/command.md").split(separator: "\n").filter {
            $0.hasPrefix("| `\(setting.option)")
        }
        .filter { $0.dropFirst("| `\(setting.option)".count).first.map { " `".contains($0) } == true }
        if setting.traits.isVariableOnly {
            #expect(try Self.text("docs/command.md").contains("`\(setting.variable)`"))
            return
        }
        try #require(!rows.isEmpty, "\(name) has no row in docs/command.md")
        #expect(rows.contains { $0.contains("| `\(setting.variable)` |") }, "\(rows)")
    }

    @Test("The example of the package names each setting, as it is by default") func example() throws {
        let text = try Self.text("Deploy/reprise.conf")
        for line in text.split(separator: "\n") { #expect(line.hasPrefix("#"), "this is in force: \(line)") }
        // What a person gets who takes the comments of all settings away.
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") && $0 != "#" }
        let file = try ConfigurationFile(
            Array(lines.map { $0.dropFirst() }.joined(separator: "\n").utf8), named: "/reprise.conf")
        #expect(Set(file.entries.map(\.name)) == Set(SettingTable.inFiles.map(\.name)))
        for setting in SettingTable.inFiles where !setting.defaultTexts.isEmpty {
            #expect(file.texts(setting, in: file.entries)?.map(\.text) == setting.defaultTexts, "\(setting.name)")
        }
        #expect(Set(file.sections.flatMap(\.entries).map(\.name)) == Set(SettingTable.host.map(\.name)))
    }

    @Test("The page on configurations has each setting of a host") func hostSettings() throws {
        let text = try Self.text("docs/configuration.md")
        for setting in SettingTable.host { #expect(text.contains("\n| `\(setting.name)"), "\(setting.name)") }
    }
}
