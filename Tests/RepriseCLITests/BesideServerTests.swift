import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Each subcommand with a cache of its own, and through the server that has the cache open.
@Suite(.limit(minutes: 5)) struct BesideServerTests {
    /// A command to compare, and the commands before it.
    struct Case: Sendable, CustomTestStringConvertible {
        /// URL stands for that of a file of 100,000 bytes, OTHER for that of one of 50,000.
        let command: [String]
        var before: [[String]] = []
        let code: Int32

        init(_ command: String, after before: [String] = [], exits code: Int32 = 0) {
            self.command = command.components(separatedBy: " ")
            self.before = before.map { $0.components(separatedBy: " ") }
            self.code = code
        }

        var testDescription: String { command.joined(separator: " ") }

        func arguments(_ words: [String], at site: Site) -> [String] {
            words.map { $0 == "URL" ? site.origin.url("/a.mp4") : $0 == "OTHER" ? site.origin.url("/b.mp4") : $0 }
        }
    }

    private static let stored = ["fetch URL", "fetch OTHER"]

    static let cases = [
        Case("remove URL", after: stored), Case("remove URL OTHER", after: stored + ["pin URL"]),
        Case("remove URL", after: ["pin URL"]), Case("remove --all", after: stored),
        Case("remove https://nowhere.example/x", after: stored, exits: 66),
        Case("remove --drop-query-item x OTHER", after: stored),
        Case("pin URL", after: stored), Case("pin URL OTHER"), Case("pin URL", after: ["pin --download URL"]),
        Case("pin --for 30d URL", after: ["pin --download URL"]), Case("pin file:///x URL", exits: 64),
        Case("unpin URL OTHER", after: ["pin URL", "pin OTHER"]), Case("unpin URL", after: stored, exits: 66),
        Case("unpin x", exits: 64),
        Case("prune --to 0", after: stored), Case("prune --to 0", after: stored + ["pin OTHER"]),
        Case("prune --older-than 1h", after: stored),
        Case("prune --tag news --to 0", after: stored + ["title URL --tag news"]),
        Case("title URL --name Film --tag news", after: stored), Case("title URL --name Film"),
        Case("title URL --clear", after: ["title URL --name Film"]), Case("title x --clear", exits: 64),
        Case("limit news 60kB", after: stored + ["title URL --tag news"]), Case("limit news none"),
        Case("downloads", after: ["pin --download URL", "pin --download OTHER"]), Case("downloads"),
        Case("downloads --json", after: ["pin --download URL"]),
        Case("downloads --first OTHER", after: ["pin --download URL", "pin --download OTHER"]),
        Case("downloads --pause URL", after: stored, exits: 66),
        Case("verify", after: stored), Case("verify --json", after: stored), Case("verify"),
        Case("list", after: stored), Case("list --json", after: stored + ["pin URL"]), Case("show URL", after: stored),
        Case("show URL", exits: 66), Case("stats", after: stored),
        Case("export URL -o -", after: ["fetch OTHER"], exits: 66),
    ]

    /// `text` without what differs between two caches, and when an index is open: its log is a part of its size.
    private static func comparable(_ text: String, _ directory: TemporaryDirectory) -> String {
        text.replacingOccurrences(of: directory.path, with: "DIRECTORY")
            .replacing(/"lastUsed":[0-9.]+/, with: "\"lastUsed\":TIME")
            .replacing(/index: [0-9.]+ kB/, with: "index: SIZE")
            // A minute may begin between two runs.
            .replacing(/until \d+-\d+-\d+ \d+:\d+/, with: "until TIME")
    }

    @Test("The same output, errors and exit code with a server as without one", arguments: cases)
    func sameWithAServer(_ example: Case) async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 100_000)
            site.publish("/b.mp4", length: 50_000)
            let other = try TemporaryDirectory()
            defer { other.remove() }
            for directory in [site.directory, other] {
                for words in example.before {
                    let arguments = example.arguments(Array(words.dropFirst()), at: site)
                    let outcome = try await Command.run(words[0], directory, arguments)
                    #expect(outcome.exit == .status(0), "\(outcome)")
                }
            }
            let arguments = example.arguments(Array(example.command.dropFirst()), at: site)
            let alone = try await Command.run(example.command[0], site.directory, arguments)
            let serving = try await Serving.run(other) { _ async throws in
                let beside = try await Command.run(example.command[0], other, arguments)
                #expect(beside.exit == alone.exit)
                #expect(Self.comparable(beside.output, other) == Self.comparable(alone.output, site.directory))
                #expect(Self.comparable(beside.errors, other) == Self.comparable(alone.errors, site.directory))
            }
            #expect(alone.exit == .status(example.code), "\(alone)")
            #expect(serving.exit == .status(0), "\(serving)")
            // What was done is the same, too.
            let lists = try await [
                Command.run("list", site.directory, ["--json"]), Command.run("list", other, ["--json"]),
            ].map { try Command.json(Entry.self, $0) }
            func facts(_ list: [Entry]) -> [String] {
                list.map { "\($0.url) \($0.storedBytes) \($0.kept ?? "")" }.sorted()
            }
            #expect(facts(lists[0]) == facts(lists[1]))
        }
    }

    @Test func theNewestBytesAreShown() async throws {
        try await Site.run { site async throws in
            try await Serving.run(site.directory) { serving async throws in
                for number in 0..<5 {
                    site.publish("/\(number).mp4", length: 100_000)
                    #expect(try await serving.get(site.target("/\(number).mp4")).body.count == 100_000)
                    let show = try await Command.run(
                        "show", site.directory, ["--json", site.origin.url("/\(number).mp4")])
                    #expect(show.exit == .status(0), "\(show)")
                    #expect(try Command.json(Entry.self, show).map(\.storedBytes) == [100_000])
                }
            }
        }
    }

    @Test func aServersOwnSettingsAreNotChanged() async throws {
        try await Site.run { site async throws in
            try await Serving.run(site.directory) { _ async throws in
                let pin = try await Command.run(
                    "pin", site.directory, ["--limit", "5MB", "https://a.example/film.mp4"])
                #expect(pin.exit == .status(64) && pin.errors.contains("leave --limit out"), "\(pin)")
            }
        }
    }

    @Test("Another key than the server's is refused, as without a server") func keys() async throws {
        func key(_ digits: String) -> [String: String] {
            ["REPRISE_ENCRYPT_KEY": String(repeating: digits, count: 32)]
        }
        try await Site.run { site async throws in
            try await Serving.run(site.directory, environment: key("7f")) { _ async throws in
                for (digits, code) in [("7f", 0), ("11", 78), ("7f", 0)] as [(String, Int32)] {
                    for command in [["pin", "https://a.example/film.mp4"], ["verify"], ["limit", "news", "1GB"]] {
                        let outcome = try await Command.run(
                            command[0], site.directory, Array(command.dropFirst()), environment: key(digits))
                        #expect(outcome.exit == .status(code), "\(outcome)")
                    }
                }
            }
        }
    }

    @Test("A server whose socket is gone, or leads elsewhere, is 75 and named", arguments: [true, false])
    func aSocketThatIsNone(leadsElsewhere: Bool) async throws {
        try await Site.run { site async throws in
            try await Serving.run(site.directory) { serving async throws in
                let socket = site.directory.path(of: "control.sock")
                try FileManager.default.removeItem(atPath: socket)
                if leadsElsewhere {
                    try FileManager.default.createSymbolicLink(atPath: socket, withDestinationPath: "/dev/null")
                }
                let second = try await Command.run(
                    "remove", site.directory, ["--all"], environment: ["XDG_RUNTIME_DIR": ""])
                #expect(second.exit == .status(75), "\(second)")
                #expect(second.errors.contains("process \(serving.child.identifier)"), "\(second)")
            }
        }
    }
}
