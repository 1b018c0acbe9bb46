import Foundation
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Addresses of this user's own server in place of the URLs behind them.
@Suite(.limit(minutes: 3)) struct OwnAddressTests {
    /// A server that wants the token `secret`, or none.
    private static func server(withToken: Bool) throws -> ServerReport {
        let digest = withToken ? "\"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\"" : ""
        let text =
            #"{"directory":"/c","address":"https://media.lan:18150","needsToken":\#(withToken),"tokens":[\#(digest)],"#
            + #""operations":[]}"#
        return try JSONDecoder().decode(ServerReport.self, from: Data(text.utf8))
    }

    @Test(
        "an address of the running server stands for the URL behind it, under every name if it has the token",
        arguments: [
            ("http://127.0.0.1:18150/https/a.example/film.mp4?x=%20", "https://a.example/film.mp4?x=%20", nil),
            ("https://media.lan:18150/http/a.example:81/f", "http://a.example:81/f", nil),
            ("http://localhost:18150/https://a.example/f", "https://a.example/f", nil),
            ("http://[::1]:18150/https/a.example/", "https://a.example/", nil),
            ("http://127.0.0.1:18150/secret/https/a.example/f", nil, "https://a.example/f"),
            ("http://127.0.0.1:18150/other/https/a.example/f", nil, nil),
            ("https://elsewhere.example/secret/http/a.example/f", nil, "http://a.example/f"),
            ("https://elsewhere.example/other/http/a.example/f", nil, nil),
            ("https://elsewhere.example/http/a.example/f", nil, nil),
            ("http://127.0.0.1:18151/https/a.example/f", nil, nil),
            ("http://127.0.0.1:18150/film.mp4", nil, nil), ("http://127.0.0.1:18150/secret/", nil, nil),
            ("http://127.0.0.1:18150/secret/https/", nil, nil), ("a key", nil, nil), ("", nil, nil),
        ] as [(String, String?, String?)])
    func running(text: String, open: String?, closed: String?) throws {
        let free = OwnAddress(server: try Self.server(withToken: false), port: 8090)
        #expect(free.url(behind: text) == open)
        let guarded = OwnAddress(server: try Self.server(withToken: true), port: 8090)
        // A token that is wrong, or left out, makes the address no other server's.
        let isHere = text.contains("127.0.0.1:18150/other/")
        #expect(guarded.url(behind: text) == (closed ?? (isHere ? "https://a.example/f" : open)))
    }

    @Test("without a server, this machine's port that is configured is known")
    func stopped() {
        let own = OwnAddress(server: nil, port: 8090)
        #expect(own.url(behind: "http://127.0.0.1:8090/https/a.example/f") == "https://a.example/f")
        #expect(own.url(behind: "http://localhost:8090/secret/http/a.example/f") == "http://a.example/f")
        #expect(own.url(behind: "http://127.0.0.1:8091/https/a.example/f") == nil)
        #expect(own.url(behind: "http://a.example:8090/https/a.example/f") == nil)
    }

    @Test("no command stores such an address, or shows its token") func commands() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let url = site.origin.url("/a.mp4")
            try await Serving.run(site.directory, ["--token", "s3cr3t-token"]) { serving async throws in
                let path = "/s3cr3t-token" + site.target("/a.mp4")
                let (own, other) = ("http://127.0.0.1:\(serving.port)\(path)", "http://cache.example\(path)")
                let list = try site.directory.write(Array("\(own)\n".utf8), to: "list")
                let output = site.directory.path(of: "a.mp4")
                let note = "reprise: That is an address of this cache's own server. Taken: \(url)\n"
                for command in [
                    ["fetch", own], ["fetch", "--from", list], ["fetch", "--json", other], ["pin", own],
                    ["unpin", other], ["download", own], ["downloads", "--first", own],
                    ["title", "--name", "Film", own], ["show", own], ["export", own, "-o", output],
                ] {
                    let outcome = try await Command.run(command[0], site.directory, Array(command.dropFirst()))
                    #expect(outcome.exit == .status(0), "\(command): \(outcome)")
                    #expect(outcome.errors.contains(note), "\(command): \(outcome)")
                    #expect(!(outcome.output + outcome.errors).contains("s3cr3t"), "\(command): \(outcome)")
                }
                let files = try await Command.run("list", site.directory, ["--files", "--json"])
                #expect(try Command.json(Entry.self, files).map(\.url) == [url])
                let removed = try await Command.run("remove", site.directory, [own])
                #expect(removed.exit == .status(0) && removed.output.contains("1 file"), "\(removed)")
            }
            let port = ["REPRISE_PORT": "18151"]
            let stopped = try await Command.run(
                "fetch", site.directory, ["http://localhost:18151" + site.target("/a.mp4")], environment: port)
            #expect(stopped.exit == .status(0) && stopped.errors.contains("Taken: \(url)\n"), "\(stopped)")
            let files = try await Command.run("list", site.directory, ["--json"])
            #expect(try Command.json(Entry.self, files).map(\.url) == [url])
        }
    }
}
