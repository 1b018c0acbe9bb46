import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `reprise config`, and a server with a configuration file.
@Suite(.limit(minutes: 3)) struct ConfigCommandTests {
    private struct Report: Decodable, Equatable {
        let host: String?
        let name: String
        let value: String?
        let values: [String]?
        let isSet: Bool?
        let source: String
        let place: String?
        let lines: [Int]?
        let objection: String?
    }

    /// A file with every setting and every setting of a host; its values are the third samples.
    private static func everything(_ directory: TemporaryDirectory) throws -> String {
        var lines: [String] = []
        for setting in SettingTable.inFiles {
            let samples = SettingTests.samples[setting.name] ?? []
            lines += (setting.shape == .many ? samples : Array(samples.suffix(1))).map { "\(setting.name) = \($0)" }
        }
        lines += [
            "", "[host media.example.com]", "drop-query-item = token", "force-cache = yes", "fresh-for = 12h",
            "header-file = fields", "header-over-http = no", "connections = 4", "rate = 20Mbit", "read-ahead = 2m",
            "allow-private = yes", "outgoing-proxy = http://c.example:1", "s3-region = eu-central-1",
            "s3-credentials-file = keys", "s3-profile = media",
        ]
        try writeFields(in: directory)
        return try directory.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "every.conf")
    }

    private static func writeFields(in directory: TemporaryDirectory) throws {
        let path = try directory.write(Array("Authorization: Bearer secret\n".utf8), to: "fields")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let keys = "[media]\naws_access_key_id = AKID\naws_secret_access_key = secret\n"
        #expect(chmod(try directory.write(Array(keys.utf8), to: "keys"), 0o600) == 0)
    }

    @Test("A file with which no server starts is wrong here, too") func whatServeRefuses() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = try directory.write(Array("[host a.example]\nheader-file = fields\n".utf8), to: "r.conf")
        let place = "reprise: \(path):2: header-file: "
        let none = try await Command.run(["config", "--config", path])
        #expect(none.exit == .status(64) && none.errors.hasPrefix("\(place)Cannot read "), "\(none)")
        try Self.writeFields(in: directory)
        #expect(try await Command.run(["config", "--config", path]).exit == .status(0))
        let fields = directory.path(of: "fields")
        #expect(chmod(fields, 0o644) == 0)
        let open = try await Command.run(["config", "--config", path])
        #expect(open.exit == .status(64) && open.errors.hasPrefix("\(place)Other users have access"), "\(open)")
        try FileManager.default.removeItem(atPath: fields)
        // A pipe into which no program writes.
        #expect(mkfifo(fields, 0o600) == 0)
        let pipe = try await Command.run(["config", "--config", path])
        #expect(pipe.exit == .status(64) && pipe.errors.hasPrefix(place), "\(pipe)")
        #expect(pipe.errors.contains("no regular file"))
        let format = try await Command.run(["config", "--access-log-format", "json"])
        #expect(format.exit == .status(64) && format.errors.contains("of no use without --access-log"), "\(format)")
    }

    @Test(
        "config says of a server that others could use that serve refuses it; a token may come from elsewhere",
        arguments: [
            ("", false), ("allow-host = a.example", true), ("token = t0ken-of-me", true), ("token = t0ken", false),
            ("token-file = tokens", true),
            ("allow-private = nas.lan", false),
        ])
    func openServers(protection: String, isAllowed: Bool) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let tokens = try directory.write(Array("anna annas-token\n".utf8), to: "tokens")
        #expect(chmod(tokens, 0o600) == 0)
        for host in ["0.0.0.0", "::", "192.168.1.7", "a.example"] {
            let path = try directory.write(Array("host = \(host)\n\(protection)\n".utf8), to: "r.conf")
            let outcome = try await Command.run(["config", "--config", path])
            #expect(outcome.exit == .status(0) && outcome.output.contains("\nhost = \(host) "), "\(outcome)")
            let isRefused = outcome.output.contains("# With these settings alone, serve refuses to start: Listening on")
            #expect(isRefused != isAllowed, "\(outcome)")
            let json = try await Command.run(["config", "--config", path, "--json"])
            let objections = try Command.json(Report.self, json).filter { $0.objection != nil }
            #expect(objections.map(\.name) == (isAllowed ? [] : ["host"]), "\(json)")
            let isAbout = objections.allSatisfy { $0.objection?.hasPrefix("Listening on \(host) ") == true }
            #expect(json.exit == .status(0) && isAbout, "\(json)")
        }
    }

    @Test("Files of tokens and certificates with which no server starts are named") func unusableFiles() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for name in ["tokens", "key.pem"] {
            #expect(chmod(try directory.write(Array("nothing\n".utf8), to: name), 0o600) == 0)
        }
        let lines = "token-file = tokens\ntls-certificate = none.pem\ntls-key = key.pem\n"
        let path = try directory.write(Array(lines.utf8), to: "r.conf")
        let outcome = try await Command.run(["config", "--config", path])
        #expect(outcome.exit == .status(0), "\(outcome)")
        let start = "# With these settings alone, serve refuses to start: "
        #expect(outcome.output.contains(start + "\(directory.path(of: "tokens")):1: A line is a name"), "\(outcome)")
        #expect(outcome.output.contains(start + "tls-certificate: Cannot read"), "\(outcome)")
        let json = try await Command.run(["config", "--config", path, "--json"])
        let named = try Command.json(Report.self, json).filter { $0.objection != nil }.map(\.name)
        #expect(named.sorted() == ["tls-certificate", "token-file"], "\(json)")
    }

    @Test("What is printed says the same in another folder") func paths() async throws {
        let outcome = try await Command.run(["config", "--cache-dir", "here", "--access-log", "-"])
        let folder = URL(fileURLWithPath: "here").path
        #expect(outcome.output.contains("\ncache-dir = \(folder) "), "\(outcome)")
        #expect(outcome.output.contains("\naccess-log = - "), "\(outcome)")
        let file = try ConfigurationFile(Array("cache-dir = there".utf8), named: "conf/r.conf")
        let setting = Setting<String, String?>.cacheDir
        let texts = try #require(file.texts(setting, in: file.entries)).map(\.text)
        let note = SettingNote(setting, texts: texts, source: .option)
        #expect(note.textsInAnyFolder == [URL(fileURLWithPath: "conf/there").path])
    }

    @Test("Every setting of a file is in force, with its line, and what is printed says the same again")
    func everySetting() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = try Self.everything(directory)
        let json = try await Command.run(["config", "--config", path, "--json"])
        #expect(json.exit == .status(0), "\(json)")
        let reports = try Command.json(Report.self, json)
        #expect(Set(reports.filter { $0.host == nil }.map(\.name)) == Set(SettingTable.all.map(\.name)))
        for report in reports where report.name != "encrypt-key" {
            #expect(report.source == "file" && report.place == path, "\(report)")
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
        for report in reports {
            for (index, line) in (report.lines ?? []).enumerated() {
                let text = report.isSet == nil ? report.value ?? report.values?[index] ?? "" : "t0ken-c"
                let written = ["fields", "keys"].first { text.hasSuffix("/\($0)") } ?? text
                #expect(lines[line - 1] == "\(report.name) = \(written)")
            }
        }
        #expect(reports.first { $0.name == "token" }?.isSet == true && !json.output.contains("t0ken"))
        let printed = try await Command.run(["config", "--config", path])
        #expect(printed.exit == .status(0) && printed.output.contains("token = (set)"), "\(printed)")
        // Without what is not shown.
        let again = try directory.write(
            Array(printed.output.replacingOccurrences(of: "token = (set)", with: "token = t0ken-c").utf8),
            to: "again.conf")
        let second = try await Command.run(["config", "--config", again, "--json"])
        #expect(second.exit == .status(0), "\(second)")
        func facts(_ reports: [Report]) -> [String] {
            reports.map { "\($0.host ?? "") \($0.name) \($0.value ?? "") \($0.values ?? [])" }
        }
        #expect(facts(try Command.json(Report.self, second)) == facts(reports))
    }

    @Test("Each place is named, also where there is no file") func places() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = try directory.write(Array("port = 1\nlimit = 3GB\nrate = 2MB\n".utf8), to: "r.conf")
        let environment = [
            "REPRISE_CONFIG": path, "REPRISE_LIMIT": "4GB", "REPRISE_PROT": "2", "REPRISE_SEED": "1",
            "HOME": "/home/me",
        ]
        let outcome = try await Command.run(["config", "--rate", "20Mbit"], environment: environment)
        #expect(outcome.exit == .status(0), "\(outcome)")
        let lines = outcome.output.components(separatedBy: "\n")
        #expect(lines.first == "# File: \(path) (REPRISE_CONFIG)")
        #expect(lines.contains("# REPRISE_PROT is no variable of a setting. Did you mean REPRISE_PORT?"))
        #expect(lines.contains("# REPRISE_SEED is no variable of a setting."))
        for (setting, place) in [
            ("port = 1", "\(path):1"), ("limit = 4GB", "REPRISE_LIMIT"), ("rate = 20Mbit", "--rate"),
            ("host = 127.0.0.1", "default"),
        ] {
            #expect(lines.contains { $0.hasPrefix("\(setting) ") && $0.hasSuffix(" # \(place)") }, "\(outcome.output)")
        }
        let none = try await Command.run(["config"], environment: ["XDG_CACHE_HOME": "/xdg", "CACHE_DIRECTORY": ""])
        #expect(none.output.hasPrefix("# File: none; --config FILE or REPRISE_CONFIG names one\n"))
        #if os(Linux)
            #expect(none.output.contains("\ncache-dir = /xdg/reprise "))
        #endif
    }

    @Test("With --changed only settings that differ from their defaults are shown") func changed() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        // The default in another form.
        let text =
            "port = 9000\nstall-timeout = 600s\noffline = no\n[host a.example]\nforce-cache = no\n"
            + "[host b.example]\nforce-cache = yes\n"
        let path = try directory.write(Array(text.utf8), to: "r.conf")
        let options = ["--config", path, "--limit", "3GB", "--cache-dir", directory.path, "--changed"]
        let printed = try await Command.run(["config"] + options)
        #expect(printed.exit == .status(0), "\(printed)")
        let lines = printed.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let names = lines.map { String($0.prefix { $0 != "=" }).trimmingCharacters(in: .whitespaces) }
        #expect(names == ["cache-dir", "limit", "port", "[host b.example]", "force-cache"], "\(printed)")
        let json = try Command.json(Report.self, try await Command.run(["config", "--json"] + options))
        #expect(json.map(\.name) == ["cache-dir", "limit", "port", "force-cache"])
    }

    @Test(
        "A wrong file is 64 for every subcommand that takes one, before anything is done",
        arguments: ["serve", "fetch", "list", "config", "health", "play", "remove"])
    func wrongFiles(subcommand: String) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = try directory.write(Array("prot = 1".utf8), to: "r.conf")
        let more = ["fetch": ["http://127.0.0.1:1/a"], "play": ["http://127.0.0.1:1/a"], "remove": ["--all"]]
        let place = subcommand == "health" ? [] : ["--cache-dir", directory.path(of: "cache")]
        let outcome = try await Command.run(
            [subcommand, "--config", path] + place + (more[subcommand] ?? []))
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors == "reprise: \(path):1: There is no setting \"prot\". Did you mean port?\n")
        #expect(!FileManager.default.fileExists(atPath: directory.path(of: "cache")))
        for value in ["", directory.path(of: "none"), directory.path] {
            let variable = try await Command.run(
                [subcommand] + place + (more[subcommand] ?? []), environment: ["REPRISE_CONFIG": value])
            #expect(variable.exit == .status(64) && variable.errors.hasPrefix("reprise: "), "\(variable)")
        }
    }

    @Test("A wrong value of any setting is 64 for config, with the line and the setting") func wrongValues()
        async throws
    {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        // A command may be any text.
        var files = SettingTable.inFiles.filter { $0.name != "authorize-command" }.map { ("", $0) }
        files += SettingTable.host.map { ("[host media.example.com]\n", $0) }
        for (section, setting) in files {
            let value = setting.traits.isPath ? "" : setting.shape == .many ? "a=b/" : "a/b c"
            let path = try directory.write(Array("\(section)\(setting.name) = \(value)\n".utf8), to: "r.conf")
            let outcome = try await Command.run(["config", "--config", path])
            #expect(outcome.exit == .status(64), "\(setting.name) \(outcome)")
            let place = "reprise: \(path):\(section.isEmpty ? 1 : 2): \(setting.name) "
            #expect(outcome.errors.hasPrefix(place), "\(outcome)")
            #expect(outcome.output.isEmpty)
        }
    }

    @Test("A configuration may be a pipe") func pipe() async throws {
        let script = "printf 'port = 1\\n' | \"$0\" config --config /dev/stdin"
        let outcome = try await ChildProcess.run(
            "/bin/sh", ["-c", script, try Command.path], environment: Command.environment())
        #expect(outcome.exit == .status(0) && outcome.output.contains("port = 1 "), "\(outcome)")
    }

    @Test("A server takes its file, and what it says of a host") func serving() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000, fields: [.cacheControl: "no-store"])
            let fields = try site.directory.write(Array("X-Key: s3cret\n".utf8), to: "fields")
            #expect(chmod(fields, 0o600) == 0)
            let text = """
                port = 0
                cache-dir = \(site.directory.path(of: "cache"))
                token = abc
                log-level = trace
                [host 127.0.0.1]
                force-cache
                drop-query-item = sig
                header-file = fields
                header-over-http
                """
            let path = try site.directory.write(Array(text.utf8), to: "r.conf")
            let serving = try await Serving.run(["--config", path]) { serving async throws in
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 401)
                for query in ["?sig=1", "?sig=2"] {
                    let answer = try await serving.get("/abc\(site.target("/a.mp4"))\(query)")
                    #expect(answer.head.status == 200 && answer.body.count == 1000)
                }
            }
            #expect(serving.exit == .status(0), "\(serving)")
            let requests = site.origin.snapshot.requests
            let name = try #require(HTTPField.Name("X-Key"))
            // The second request is a hit.
            #expect(requests.map { $0.fields[name] } == ["s3cret"])
            #expect(!serving.errors.contains("s3cret") && !serving.output.contains("s3cret"))
            // The same file for a command: it knows the cache and the host's keys.
            let show = try await Command.run(["show", "--config", path, site.origin.url("/a.mp4?sig=3")])
            #expect(show.exit == .status(0), "\(show)")
        }
    }
}
