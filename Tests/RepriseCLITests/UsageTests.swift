import ArgumentParser
import Foundation
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Help, and what is said to wrong usage.
@Suite(.limit(minutes: 3)) struct UsageTests {
    private static let subcommands = RepriseCommand.configuration.subcommands.map { $0._commandName }

    @Test(arguments: subcommands) func helpOfASubcommandHasAnExample(subcommand: String) async throws {
        let help = try await Command.run([subcommand, "--help"])
        #expect(help.exit == .status(0))
        let examples = try #require(help.output.components(separatedBy: "Examples:").dropFirst().first)
        #expect(examples.contains("\n  reprise \(subcommand)"))
    }

    @Test("examples fit into 80 columns, so that no line of them is broken", arguments: subcommands)
    func examples(subcommand: String) throws {
        let command = try #require(
            RepriseCommand.configuration.subcommands.first { $0._commandName == subcommand })
        for line in command.configuration.discussion.split(separator: "\n") where line.hasPrefix(" ") {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test func helpNamesTheSubcommandsAndTheExitCodes() async throws {
        let help = try await Command.run(["--help"])
        #expect(help.exit == .status(0))
        for word in Self.subcommands + ["64", "66", "69", "74", "75", "78", "126", "127"] {
            #expect(help.output.contains(word))
        }
    }

    @Test(
        "what begins with a URL plays it, and names of other tools work",
        arguments: [
            (["http://127.0.0.1/a", "--help"], "play"), (["ls", "--help"], "list"), (["rm", "--help"], "remove"),
            (["info", "--help"], "show"), (["get", "--help"], "download"),
        ]) func otherNames(arguments: [String], name: String) async throws
    {
        let help = try await Command.run(arguments)
        #expect(help.exit == .status(0))
        #expect(help.output.contains("USAGE: reprise \(name) "))
    }

    @Test(
        "a wrong subcommand gets a suggestion",
        arguments: [
            ("status", "stats"), ("lst", "list"), ("downlod", "download"), ("clean", "prune"), ("version", "--version"),
        ]) func suggestions(name: String, meant: String) async throws
    {
        let outcome = try await Command.run([name, "x"])
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors.contains("There is no subcommand '\(name)'. Did you mean 'reprise \(meant)'?"))
    }

    @Test func helpGroupsTheSubcommands() async throws {
        let help = try await Command.run(["--help"])
        for group in ["PLAY", "KEEP", "LOOK", "SERVE", "MAINTAIN"] {
            #expect(help.output.uppercased().contains("\(group) SUBCOMMANDS:"))
        }
    }

    @Test("help settings has the options that commands share, and serve has groups") func helpGroupsOptions()
        async throws
    {
        let help = try await Command.run(["help", "settings"])
        #expect(help.exit == .status(0), "\(help)")
        for word in ["ALL COMMANDS", "STORAGE AND NETWORK", "DOWNLOADS", "LOGS"] {
            #expect(help.output.uppercased().contains(word), "\(word)")
        }
        for option in ["--cache-dir", "--config", "--limit", "--trust-roots", "--rate", "--while", "--log-level"] {
            #expect(help.output.contains("  \(option) <"), "\(option)")
        }
        #expect(!help.output.contains("--allow-host"))
        let serve = try await Command.run(["serve", "--help"])
        for group in [
            "Address", "Access", "Stored responses", "Clients", "Origins", "Downloads", "Storage and network",
            "Page, metrics and logs", "Cache and configuration",
        ] {
            #expect(serve.output.uppercased().contains("\n\(group.uppercased()):\n"), "\(serve.output)")
        }
    }

    @Test(
        arguments: [
            ["serve", "--limit", "12XB"], ["serve", "--limit", "lots"],
            ["fetch", "--limit", "-1", "http://127.0.0.1/a"],
            ["serve", "--port", "65536"], ["serve", "--port", "-1"], ["serve", "--port", "http"],
            ["serve", "--connections-per-host", "0"], ["serve", "--connections-per-host", "257"],
            ["serve", "--queue-timeout", "0s"], ["serve", "--queue-timeout", "30"],
            ["serve", "--name", "a b"], ["serve", "--name", ""], ["serve", "--name", "a/b"],
            ["serve", "--token", "a/b"], ["serve", "--log-level", "loud"], ["serve", "--allow-page", "*"],
            ["serve", "--allow-page", "null"], ["serve", "--allow-page", "localhost:8000"],
            ["fetch"], ["fetch", "http://127.0.0.1/a", "http://127.0.0.1/b", "-o", "x"],
            ["fetch", "--rate", "0", "http://127.0.0.1/a"], ["fetch", "--rate", "20", "http://127.0.0.1/a"],
            ["fetch", "--rate", "0Mbit", "http://127.0.0.1/a"], ["fetch", "--rate", "-1MB", "http://127.0.0.1/a"],
            ["serve", "--rate", "fast"], ["serve", "--rate", "7bit"], ["serve", "--rate", ""],
            ["download", "--rate", "20", "http://127.0.0.1/a"],
            ["fetch", "--while", "2-6", "http://127.0.0.1/a"], ["serve", "--while", "02:00-02:00"],
            ["fetch", "--while", "", "http://127.0.0.1/a"], ["download", "--output", "x"],
            ["download", "-o", "-", "http://127.0.0.1/a"],
            ["download", "-o", "x", "http://127.0.0.1/a", "http://127.0.0.1/b"],
            ["download", "--force", "http://127.0.0.1/a"],
            ["fetch", "--from", ""], ["fetch", "--from", "-", "--from", "-"], ["fetch", "--from", "list", "-o", "x"],
            ["fetch", "--from", "list", "http://127.0.0.1/a", "-o", "x"],
            ["fetch", "--header", "no colon", "http://127.0.0.1/a"],
            ["fetch", "--header", "Range: bytes=0-9", "http://127.0.0.1/a"],
            ["fetch", "--header", "host: b.example", "http://127.0.0.1/a"],
            ["download", "--header", "Range: bytes=0-9", "http://127.0.0.1/a"],
            ["pin", "--header", "Referer: http://b.example/", "http://127.0.0.1/a"], ["list", "--cache-dir", ""],
            ["list", "--encrypt-key-file", ""], ["fetch", "-o", "", "http://127.0.0.1/a"],
            ["export", "-o", "", "http://127.0.0.1/a"], ["fetch", "--json", "-o", "-", "http://127.0.0.1/a"],
            ["fetch", "--limit", "", "http://127.0.0.1/a"], ["fetch", "--drop-query-item", "", "http://127.0.0.1/a"],
            ["show", "--drop-query-item", "", "http://127.0.0.1/a"], ["serve", "--host", ""], ["serve", "--token", ""],
            ["pin", "--for", "", "http://127.0.0.1/a"], ["serve", "--host", "0.0.0.0", "--allow-host", ""],
            ["serve", "--allow-host", "http://foo"], ["serve", "--allow-host", "*.example.com"],
            ["serve", "--allow-host", "127.0.0.1:23001"], ["serve", "--allow-host", "[::1]"],
            ["serve", "--allow-host", "a b"], ["serve", "--allow-host", "."],
            ["pin", "--for", "0s", "http://127.0.0.1/a"], ["show", "--drop-query-item", "a=b", "http://127.0.0.1/a"],
            ["serve", "--read-ahead", "120"], ["serve", "--read-ahead", "2M"], ["serve", "--read-ahead", "-1s"],
            ["serve", "--force-cache", ".example.com"],
            ["remove"], ["remove", "--all", "http://127.0.0.1/a"], ["show"], ["frobnicate"], ["list", "--frobnicate"],
        ])
    func wrongUsageIs64AndSaysWhy(arguments: [String]) async throws {
        let outcome = try await Command.run(arguments)
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors.contains("Error:"))
        #expect(outcome.output.isEmpty)
    }

    @Test(
        "a size or a time without its unit is refused, and so is a limit of nothing: the units and an example are named",
        arguments: [
            ("serve", "limit", "20"), ("serve", "limit", "0"), ("serve", "limit", "0GB"), ("fetch", "limit", "20"),
            ("pin", "limit", "20"), ("serve", "minimum-free", "5"), ("serve", "entry-limit", "5"),
            ("serve", "entry-limit", "0"), ("prune", "to", "500"), ("serve", "stall-timeout", "10"),
            ("serve", "response-timeout", "10"), ("fetch", "idle-timeout", "10"), ("serve", "queue-timeout", "10"),
            ("serve", "drain-timeout", "10"), ("serve", "drain-delay", "10"),
            ("serve", "maximum-age", "30"), ("prune", "older-than", "30"), ("pin", "for", "30"),
            ("serve", "read-ahead", "120"), ("fetch", "first", "10"), ("pin", "first", "10"),
        ])
    func units(subcommand: String, option: String, text: String) async throws {
        let urls = ["fetch", "pin"].contains(subcommand) ? ["http://127.0.0.1/a"] : []
        let outcome = try await Command.run([subcommand, "--\(option)", text] + urls)
        #expect(outcome.exit == .status(64), "\(outcome)")
        let line = try #require(outcome.errors.split(separator: "\n").first)
        #expect(line.contains("The value '\(text)' is invalid for '--\(option) <"), "\(outcome)")
        #expect(line.contains(/it takes .*such as \d+[a-zA-Z]+/), "\(outcome)")
        guard SettingTable.all.contains(where: { $0.name == option }) else { return }
        let variable = "REPRISE_" + option.uppercased().replacing("-", with: "_")
        let other = try await Command.run(["config"], environment: [variable: text])
        #expect(other.exit == .status(64), "\(other)")
        #expect(other.errors.contains("\(variable) is \"\(text)\"; it takes "), "\(other)")
    }

    @Test(
        arguments: [
            ("REPRISE_LIMIT", "lots"), ("REPRISE_PORT", "65536"), ("REPRISE_LOG_LEVEL", "loud"),
            ("REPRISE_TOKEN", "a/b"), ("REPRISE_TOKEN", "a b"), ("REPRISE_TOKEN", ".."), ("REPRISE_TOKEN", ""),
            ("REPRISE_ENCRYPT_KEY_FILE", ""),
        ])
    func wrongSettingsInTheEnvironmentAre64AndNamed(name: String, value: String) async throws {
        let directory = try TemporaryDirectory()
        let outcome = try await Command.run(
            "serve", directory, environment: ["REPRISE_PORT": "0"].merging([name: value]) { $1 })
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors.contains(name))
    }

    @Test(
        "a host is a name or an address, after a dot a name",
        arguments: [
            "..", "..a", "a..b", "-x", "x-", "999.1.1.1", "1.2.3", "1.2.3.4.5", "1", "0x7f.1", "0x7f000001", "a.0x1",
            ".1.2.3.4", ".::1", ":::", "1:2:3", "a_b.-c",
        ])
    func noHost(name: String) async throws {
        let directory = try TemporaryDirectory()
        for option in ["--allow-host", "--force-cache"] {
            // An equals sign, so that a name with a hyphen is no option.
            let outcome = try await Command.run("serve", directory, ["\(option)=\(name)", "--port", "0"])
            #expect(outcome.exit == .status(64), "\(outcome)")
            #expect(outcome.errors.contains("\(option) is \"\(name)\": "), "\(outcome)")
        }
    }

    @Test(
        arguments: [
            "localhost", "media.example.com", "Media.Example.com", ".example.com", "a_b.example",
            "xn--bcher-kva.example",
            "127.0.0.1", "::1", "2001:db8::7", "::ffff:192.0.2.7", "4.example", "1.2.3.4x", "example.com.",
        ])
    func whatIsAHost(name: String) throws {
        #expect(ProxyConfiguration.objection(toHost: name) == nil)
    }

    @Test("a key that is none is refused with 78, wherever it stands")
    func malformedKeys() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(Array("no key".utf8), to: "key")
        let url = "http://127.0.0.1/a"
        let commands = [
            ["fetch", url], ["list"], ["limit"], ["limit", "news", "none"], ["show", url], ["export", url, "-o", "-"],
            ["stats"], ["verify"], ["pin", url],
            ["prune", "--to", "0"], ["unpin", url], ["remove", url], ["serve", "--port", "0"],
        ]
        let keys = [
            ["REPRISE_ENCRYPT_KEY": ""], ["REPRISE_ENCRYPT_KEY": "7f"], ["REPRISE_ENCRYPT_KEY_FILE": file],
            ["REPRISE_ENCRYPT_KEY_FILE": directory.path(of: "none")],
        ]
        for command in commands {
            for key in keys {
                let outcome = try await Command.run(
                    command + ["--cache-dir", directory.path(of: "cache")], environment: key)
                #expect(outcome.exit == .status(78), "\(command) \(key): \(outcome)")
                #expect(outcome.errors.hasPrefix("reprise: "), "\(command) \(key): \(outcome)")
            }
        }
    }

    @Test func aKeyFileThatCannotBeReadHasItsReason() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for (path, reason) in [(directory.path(of: "none"), "no such file"), (directory.path, "is a directory")] {
            let outcome = try await Command.run("list", directory, ["--encrypt-key-file", path])
            #expect(outcome.exit == .status(78), "\(outcome)")
            #expect(outcome.errors.contains(reason), "\(outcome)")
        }
    }

    @Test func anEmptyVariableCountsAsUnset() async throws {
        let home = try TemporaryDirectory()
        let environment = [
            "REPRISE_CACHE_DIR": "", "REPRISE_LIMIT": "", "REPRISE_LOG_LEVEL": "", "XDG_CACHE_HOME": home.path,
            "HOME": home.path,
        ]
        let list = try await Command.run(["list"], environment: environment)
        #expect(list.exit == .status(0), "\(list)")
        #expect(list.output.hasPrefix("Nothing is stored in \(home.path)/"), "\(list.output)")
        let pin = try await Command.run(["pin", "http://127.0.0.1/a"], environment: environment)
        #expect(pin.exit == .status(0), "\(pin)")
    }

    @Test("a service has the directory that systemd made for it: systemd.exec(5), CacheDirectory=")
    func theDirectoryOfAService() {
        let home = ["HOME": "/home/me"]
        for (variables, directory) in [
            (["CACHE_DIRECTORY": "/var/cache/reprise"], "/var/cache/reprise"),
            (["CACHE_DIRECTORY": "/var/cache/reprise", "XDG_CACHE_HOME": "/xdg"], "/var/cache/reprise"),
            (["CACHE_DIRECTORY": "/var/cache/a:/var/cache/b"], "/var/cache/a"),
            (["CACHE_DIRECTORY": "relative", "XDG_CACHE_HOME": "/xdg"], "/xdg/reprise"),
            (["XDG_CACHE_HOME": "/xdg"], "/xdg/reprise"),
        ] {
            let variables = variables.merging(home) { first, _ in first }
            #expect(CacheOptions.defaultDirectory(variables) == directory, "\(variables)")
        }
    }

    @Test("what looks and removes takes no invalid URL either", arguments: ["show", "export", "remove", "unpin"])
    func anInvalidURLIs64(subcommand: String) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let more = subcommand == "export" ? ["-o", directory.path(of: "out")] : []
        for url in ["http://user:pa55word@example.com/a", "https://", "http://exa mple/a"] {
            let outcome = try await Command.run(subcommand, directory, [url] + more)
            #expect(outcome.exit == .status(64), "\(outcome)")
            #expect(!outcome.errors.contains("pa55word"), "\(outcome)")
        }
        let unknown = try await Command.run(subcommand, directory, ["https://example.com/a"] + more)
        #expect(unknown.exit == .status(66), "\(unknown)")
    }

    @Test("a token goes through URLs as it is", arguments: ["a b", "ä", "a#b", "a%20b", "a?b", "a/b", ".", "..", ""])
    func aTokenThatNoURLHolds(token: String) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for command in [["serve"], ["play", "https://example.com/a"]] {
            let outcome = try await Command.run(
                command[0], directory, ["--token=\(token)"] + command.dropFirst(), environment: ["PATH": "/nowhere"])
            #expect(outcome.exit == .status(64), "\(outcome)")
            if !token.isEmpty { #expect(outcome.errors.contains("--token takes letters"), "\(outcome)") }
        }
    }

    @Test(arguments: ["ftp://example.com/a", "no-url", "http://", "http://user:pw@example.com/a"])
    func anAddressThatIsNoneIs64(url: String) async throws {
        let directory = try TemporaryDirectory()
        let outcome = try await Command.run("fetch", directory, [url])
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors.hasPrefix("reprise: "))
    }

    @Test(
        arguments: [
            (.networkUnavailable, 69), (.originUnreachable, 69), (.validatorChanged, 69), (.notStored, 66),
            (.keyUnavailable, 78), (.storageFull, 74), (.storageLocked, 75), (.invalidURL, 64), (.closed, 1),
        ] as [(RepriseError.Code, Int32)])
    func anErrorHasItsExitCode(code: RepriseError.Code, status: Int32) {
        #expect(Failure.code(RepriseError(code, "")).rawValue == status)
    }
}
