import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `serve --peers`: what a server says of others, with real ones.
@Suite(.limit(minutes: 2)) struct PeersTests {
    private struct Status: Decodable {
        struct Counts: Decodable { let servedBytes, fetchedBytes, savedBytes: Int64 }
        struct Server: Decodable {
            let address, name: String?
            let state: String
            let sinceStart: Counts?
            let usedBytes: Int64?
        }
        struct Peers: Decodable {
            let servers: [Server]
            let counted: Int
            let sinceStart: Counts
        }
        let peers: Peers?
    }

    private func peers(_ serving: Serving, token: String = "") async throws -> Status.Peers? {
        let reply = try await serving.get(token + "/-/status.json")
        try #require(reply.head.status == 200)
        return try JSONDecoder().decode(Status.self, from: Data(reply.body)).peers
    }

    private func status(_ serving: Serving) async throws -> String {
        String(decoding: try await serving.get("/-/status.json").body, as: UTF8.self)
    }

    @Test("the status has the others with their health, and what all have done; none of their tokens") func sums()
        async throws
    {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 300_000)
            let other = try TemporaryDirectory()
            defer { other.remove() }
            try await Serving.run(other, ["--name", "n2", "--token", "secret-text"]) { second async throws in
                for _ in 0..<3 {
                    let reply = try await second.get("/secret-text" + site.target("/a.mp4"))
                    #expect(reply.body.count == 300_000)
                }
                let address = "http://127.0.0.1:\(second.port)"
                // The last two are not there, and something else.
                let options = [
                    "--name", "n1", "--peers", address + "/secret-text", "--peers", "http://127.0.0.1:9", "--peers",
                    site.origin.url("/"),
                ]
                try await Serving.run(site.directory, options) { first async throws in
                    let report = try #require(try await peers(first))
                    #expect(report.servers.map(\.name) == ["n1", "n2", nil, nil])
                    #expect(report.servers.map(\.state) == ["ready", "ready", "unreachable", "foreign"])
                    #expect(report.servers[1].address == address)
                    #expect(report.servers[1].sinceStart?.savedBytes == 600_000)
                    #expect(report.counted == 2 && report.sinceStart.servedBytes == 900_000)
                    #expect(report.sinceStart.fetchedBytes == 300_000)
                    #expect(site.origin.snapshot.requests.map(\.target).filter { $0 != "/a.mp4" } == ["/-/ready"])

                    #expect(try await !status(first).contains("secret-text"))
                    #expect(try await peers(second, token: "/secret-text") == nil, "it was told of none")
                }
            }
        }
    }

    @Test("a server that hangs delays the first question only, and one that redirects is not followed") func hostile()
        async throws
    {
        try await Site.run { site async throws in
            let elsewhere = TestOrigin.Personality { $0.redirect = "/elsewhere" }
            site.origin.set(TestOrigin.Resource(.bytes([]), personality: elsewhere), at: "/-/ready")
            let silent = try await TestOrigin.start()
            silent.set(TestOrigin.Resource(.bytes(Array("ready\n".utf8))), at: "/-/ready")
            silent.holdHeads("/-/ready")
            let options = ["--peers", site.origin.url("/"), "--peers", silent.url("/")]
            try await Serving.run(site.directory, options) { serving async throws in
                // Known before any of them has answered: it is not in the page.
                #expect(try await serving.get("/", ["Accept: text/html"]).head.status == 200)
                #expect(silent.snapshot.requests.isEmpty)
                let report = try #require(try await peers(serving), "which waits for the answers, for two seconds")
                #expect(report.servers.dropFirst().map(\.state) == ["foreign", "unreachable"])
                #expect(try await peers(serving)?.servers.last?.state == "unreachable", "known, and asked again")
            }
            #expect(site.origin.snapshot.requests.allSatisfy { $0.path != "/elsewhere" })
            await silent.stop()
        }
    }

    @Test("servers that name each other are asked for themselves only, and not before someone looks")
    func each() async throws {
        let directories = try (0..<2).map { _ in try TemporaryDirectory() }
        defer { for directory in directories { directory.remove() } }
        let socket = try PassedSocketTests.bound()
        try #require(listen(socket, 16) == 0)
        let port = try PassedSocket(listening: socket).port
        let log = directories[1].path + ".log"
        defer { try? FileManager.default.removeItem(atPath: log) }
        try await Serving.run(directories[0], ["--name", "n1", "--peers", "http://127.0.0.1:\(port)"]) {
            first async throws in
            let options = [
                "--cache-dir", directories[1].path, "--name", "n2", "--peers", "http://127.0.0.1:\(first.port)",
                "--access-log", log,
            ]
            try await Serving.run(options, environment: ["LISTEN_FDS": "1"], passing: socket) { second async throws in
                #expect(try await peers(first)?.servers.map(\.name) == ["n1", "n2"])
                #expect(try await peers(second)?.servers.map(\.name) == ["n2", "n1"])
            }
        }
        close(socket)
        let asked = try String(contentsOfFile: log, encoding: .utf8)
        // The questions of the first one, and ours.
        let paths = asked.matches(of: /"url":"([^"]*)"/).map { String($0.1) }
        #expect(paths == ["/-/sums.json", "/-/status.json"], "\(asked)")
    }
}
