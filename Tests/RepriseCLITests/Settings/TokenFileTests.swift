import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI
@testable import RepriseProxy

/// Files of tokens: what they say, what is wrong with them, and what a server does when they change.
@Suite(.limit(minutes: 3)) struct TokenFileTests {
    @Test func linesAreNamesTokensAndRights() throws {
        let text =
            "# The household.\n\nanna\tannas-token\n  berta  bertas-token connections=2 control rate=8Mbit\r\n"
            + "c.d ~~~~~~~~ control\ntv tvs-token browse\n"
        let tokens = try TokenFile.tokens(in: Array(text.utf8), of: "f")
        #expect(tokens.map(\.name) == ["anna", "berta", "c.d", "tv"])
        #expect(tokens.map(\.text) == ["annas-token", "bertas-token", "~~~~~~~~", "tvs-token"])
        #expect(tokens.map(\.mayControl) == [false, true, true, false])
        #expect(tokens.map(\.mayBrowse) == [false, false, false, true])
        #expect(tokens.map(\.mostAnswers) == [nil, 2, nil, nil])
        #expect(tokens.map(\.rate) == [nil, 1_000_000, nil, nil])
    }

    @Test(
        "what is wrong is told with its line, and without anything of it",
        arguments: [
            ("\nsekret-1", "f:2: A line is"), ("a/sekret-1 sekret-2", "f:1: A name"),
            ("anna sekret", "f:1: A token"), ("anna sekret-1/", "f:1: A token"), ("anna sekret-ä", "f:1: A token"),
            ("anna sekret-1\n\nanna sekret-2", "f:3: The name stands in line 1"),
            ("anna sekret-1\nberta sekret-1", "f:2: The token stands in line 1"),
            ("anna sekret-0", "f:1: This token is the one of --token"),
            ("anna sekret-1 sekret-2", "f:1: Behind"), ("anna sekret-1 control control", "f:1: Behind"),
            ("anna sekret-1 browse browse", "f:1: Behind"),
            ("anna sekret-1 connections=0", "f:1: Behind"),
            ("anna sekret-1 connections=1 connections=2", "f:1: Behind"),
            ("anna sekret-1 rate=1", "f:1: Behind"), ("anna sekret-1 rate=1MB rate=1MB", "f:1: Behind"),
            ("anna sekret-1 connections=x", "f:1: Behind"), ("# sekret-1", "f has no token"), ("", "f has no token"),
            ((0..<257).map { "n\($0) sekret-\($0)x" }.joined(separator: "\n"), "f has more than 256"),
            ("anna sekret-1 control # sekret-3", "f:1: Behind"),
        ]) func objections(text: String, message: String) throws
    {
        let error = #expect(throws: Failure.Reason.self) {
            try TokenFile.tokens(in: Array(text.utf8), of: "f", besides: "sekret-0")
        }
        let told = try #require(error).message
        #expect(told.hasPrefix(message) && !told.contains("sekret"), "\(told)")
    }

    private static func write(_ text: String, mode: mode_t = 0o600, in site: Site) throws -> String {
        let path = try site.directory.write(Array(text.utf8), to: "tokens")
        #expect(chmod(path, mode) == 0)
        return path
    }

    @Test func aFileThatOthersMayReadIsRefused() async throws {
        try await Site.run { site async throws in
            let path = try Self.write("anna annas-token", mode: 0o644, in: site)
            let outcome = try await Command.run("serve", site.directory, ["--port", "0", "--token-file", path])
            #expect(outcome.exit == .status(64) && outcome.errors.contains("chmod 600"), "\(outcome)")
            let missing = try await Command.run("serve", site.directory, ["--port", "0", "--token-file", path + "x"])
            #expect(missing.exit == .status(64) && missing.errors.contains("token-file: Cannot read"), "\(missing)")
        }
    }

    @Test("a hang-up exchanges the tokens; a wrong file leaves them as they are, and says so") func hangUp()
        async throws
    {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let path = try Self.write("anna annas-token\nberta bertas-token control", in: site)
            let outcome = try await Serving.run(site.directory, ["--token-file", path]) { serving async throws in
                func statuses() async throws -> [Int] {
                    var statuses: [Int] = []
                    for token in ["annas-token", "bertas-token", "claras-token"] {
                        let target = site.target("/a.mp4")
                        statuses.append(try await serving.get("/\(token)\(target)").head.status)
                        statuses.append(try await serving.get(target, ["Authorization: Bearer \(token)"]).head.status)
                    }
                    return statuses
                }
                let before = try await statuses()
                #expect(before == [200, 200, 200, 200, 401, 401])
                _ = try Self.write("anna annas-token\nclara claras-token controll", in: site)
                serving.child.send(SIGHUP)
                _ = await serving.child.errors.wait { $0.contains("read before stays") }
                let between = try await statuses()
                #expect(between == before)
                _ = try Self.write("anna annas-token\nclara claras-token", in: site)
                serving.child.send(SIGHUP)
                _ = await serving.child.errors.wait { $0.contains("hang-up: read again") }
                let after = try await statuses()
                #expect(after == [200, 200, 401, 401, 200, 200])
            }
            #expect(outcome.errors.contains("tokens:2: Behind"), "\(outcome)")
            #expect(outcome.output.contains("/TOKEN/https/example.com/film.mp4"), "\(outcome)")
            let isTold = (outcome.errors + outcome.output).contains("s-token")
            #expect(!isTold)
        }
    }
}
