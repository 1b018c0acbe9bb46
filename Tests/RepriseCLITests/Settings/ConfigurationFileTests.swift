import ArgumentParser
import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// What a configuration file says, and what is said of a wrong one.
@Suite(.limit(minutes: 1)) struct ConfigurationFileTests {
    /// What is said of a file with `text`; `nil` if it is right.
    private static func fault(_ text: String) throws -> String? { try fault(Array(text.utf8)) }

    private static func fault(_ bytes: [UInt8]) throws -> String? {
        do { _ = try ConfigurationFile(bytes, named: "r.conf") } catch let reason as Failure.Reason {
            #expect(reason.code == ExitCode(64))
            return reason.message
        }
        return nil
    }

    @Test func settingsHaveTheirLines() throws {
        let text =
            "\u{FEFF}# comment\r\nport = 1\r\n\r\nallow-host = a.example\nallow-host = b.example\n[host A.Example]\nconnections = 2"
        let file = try ConfigurationFile(Array(text.utf8), named: "r.conf")
        #expect(
            file.entries == [
                .init(name: "port", value: "1", line: 2), .init(name: "allow-host", value: "a.example", line: 4),
                .init(name: "allow-host", value: "b.example", line: 5),
            ])
        #expect(
            file.sections == [
                .init(host: "a.example", line: 6, entries: [.init(name: "connections", value: "2", line: 7)])
            ])
    }

    @Test(
        "A wrong line is named, and what to do",
        arguments: [
            ("port = 1\nprot = 2", "r.conf:2: There is no setting \"prot\". Did you mean port?"),
            ("zzz = 2", "r.conf:1: There is no setting \"zzz\". See: reprise help serve"),
            ("port = x", "r.conf:1: port is \"x\"; it must be 0 to 65535."),
            ("port = 65536", "r.conf:1: port is \"65536\"; it must be 0 to 65535."),
            ("port =", "r.conf:1: port is empty; it must be 0 to 65535."),
            ("port", "r.conf:1: port has no value; write port = VALUE: it must be 0 to 65535."),
            ("shared = maybe", "r.conf:1: shared is \"maybe\"; it must be yes or no."),
            ("shared = \"\"", "r.conf:1: shared is empty; it must be yes or no."),
            ("port = 1\n\nport = 1", "r.conf:3: port has one value, and line 1 has it already."),
            ("shared\nshared", "r.conf:2: shared has one value, and line 1 has it already."),
            ("--port = 1", "r.conf:1: In files options have no hyphens before them: write port = VALUE."),
            (
                "[server]",
                "r.conf:1: There is no section [server]; sections are [host NAME], and the settings of the server stand before the first one."
            ),
            (
                "[host *.example]",
                "r.conf:1: [host *.example]: give .example.com for example.com and all its subdomains."
            ),
            ("[host]", "r.conf:1: [host ]: give a host name, such as media.example.com."),
            (
                "[host a.example]\n[host A.example]",
                "r.conf:2: [host a.example] stands in line 1 already; write all settings of a host there."
            ),
            (
                "[host a.example]\nport = 1",
                "r.conf:2: port is no setting of a host; it stands before the first section."
            ),
            (
                "[host a.example]\nconections = 1",
                "r.conf:2: There is no setting of a host \"conections\". Did you mean connections?"
            ),
            ("[host a.example]\nconnections = 0", "r.conf:2: connections is \"0\"; it must be 1 to 256."),
            (
                "[host a.example]\nfresh-for = 0s",
                "r.conf:2: fresh-for is \"0s\"; it takes a time of at least a second, such as 12h."
            ),
            (
                "[host a.example]\nrate = 20",
                "r.conf:2: rate is \"20\"; it takes a rate of at least one byte per second with its unit, such as 8bit, 20Mbit or 2MB."
            ),
            (
                "[host a.example]\nread-ahead = far",
                "r.conf:2: read-ahead is \"far\"; it takes none, a time such as 120s, a size such as 32MB, or all."
            ),
            (
                "header-file = a",
                "r.conf:1: header-file is a setting of a host; it stands in a section such as [host media.example.com]."
            ),
            (
                "allow-host = http://a",
                "r.conf:1: allow-host is \"http://a\": give a host name, such as media.example.com, without scheme and path."
            ),
            ("encrypt-key = 7f", "r.conf:1: encrypt-key is not read from files; give it as REPRISE_ENCRYPT_KEY."),
            (
                "port = 1\nport 2",
                "r.conf:2: The line is neither name = value nor a section such as [host media.example.com]."
            ),
            ("token = a\u{0}b", "r.conf:1: The line has a control character (U+0000); a configuration is text."),
        ])
    func faults(text: String, message: String) throws {
        #expect(try Self.fault(text) == message)
    }

    @Test func whatIsNoTextHasItsLine() throws {
        #expect(try Self.fault(Array("port = 1\n# ".utf8) + [0xFF]) == "r.conf:2: The line is no text in UTF-8.")
        #expect(try Self.fault([0xFF, 0xFE, 0x70, 0x00]) == "r.conf:1: The line is no text in UTF-8.")
    }

    @Test("A secret is not shown when it is wrong") func secrets() throws {
        let fault = try #require(try Self.fault("token = s3cret/s3cret"))
        #expect(fault.hasPrefix("r.conf:1: token takes letters") && !fault.contains("s3cret"))
    }

    @Test func aFileThatCannotBeRead() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let long = try directory.write(Array(repeating: UInt8(ascii: "#"), count: (1 << 20) + 1), to: "long")
        let none = directory.path(of: "none")
        for (path, reason) in [
            (none, "Cannot read \(none): No such file or directory."),
            (directory.path, "Cannot read \(directory.path): Is a directory."),
            (long, "\(long) is longer than 1 MiB; it takes a setting on each line."),
        ] {
            do {
                _ = try ConfigurationFile(at: path)
                Issue.record("\(path) is read")
            } catch let error as Failure.Reason {
                #expect(error.code == ExitCode(64))
                #expect(
                    error.message
                        == "\(reason) Name a configuration file that this user may read with --config or REPRISE_CONFIG."
                )
            }
        }
        let largest = try directory.write(Array(repeating: UInt8(ascii: "#"), count: 1 << 20), to: "largest")
        #expect(try ConfigurationFile(at: largest).entries.isEmpty)
    }

    @Test("A path in a file is relative to the file's folder")
    func paths() throws {
        let setting = Setting<String, String?>.cacheDir
        func path(_ text: String, in name: String) throws -> String? {
            let file = try ConfigurationFile(Array("cache-dir = \(text)".utf8), named: name)
            return file.texts(setting, in: file.entries)?.first?.text
        }
        #expect(try path("media", in: "/etc/r/r.conf") == "/etc/r/media")
        #expect(try path("media", in: "conf/r.conf") == "conf/media")
        #expect(try path("media", in: "r.conf") == "media")
        #expect(try path("media", in: "/r.conf") == "/media")
        #expect(try path("/media", in: "/etc/r.conf") == "/media")
        #expect(try path("~/media", in: "/etc/r.conf") == "~/media")
    }
}
