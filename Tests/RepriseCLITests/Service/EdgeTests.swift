import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Servers that ask others in place of origins (`serve --parent`), as real processes.
@Suite(.limit(minutes: 3)) struct EdgeTests {
    /// Runs `body` with an edge whose only parent is another server; both have caches of their own.
    private static func run(
        _ options: [String] = [], parent parentOptions: [String] = [], path: String = "",
        _ body: (Site, _ node: Serving, _ edge: Serving) async throws -> Void
    ) async throws {
        try await Site.run { site async throws in
            let own = try TemporaryDirectory()
            defer { own.remove() }
            try await Serving.run(site.directory, ["--name", "node"] + parentOptions) { node async throws in
                let parent = ["--name", "edge", "--parent", "http://127.0.0.1:\(node.port)\(path)"]
                try await Serving.run(own, parent + options) { try await body(site, node, $0) }
            }
        }
    }

    /// The servers that a request to the origin passed.
    private static func via(of request: HTTPRequestSummary) -> String {
        HTTPField.Name("Via").flatMap { request.fields[$0] } ?? ""
    }

    /// What a server counts of its parents: the values by series, without `reprise_parent_`; zeros are left out.
    private static func parentMetrics(of serving: Serving) async throws -> [String: Int] {
        let text = String(decoding: try await serving.get("/metrics").body, as: UTF8.self)
        var values: [String: Int] = [:]
        for match in text.matches(of: /(?m)^reprise_parent_(\S+) (\d+)$/) where match.2 != "0" {
            values[String(match.1)] = Int(match.2)
        }
        return values
    }

    @Test("each byte is fetched once, stored at both, and both say what they did") func stored() async throws {
        try await Self.run { site, node, edge async throws in
            site.publish("/a.mp4", length: 300_000)
            let first = try await edge.get(site.target("/a.mp4"))
            #expect(first.body == TestPattern.bytes(in: 0..<300_000, seed: 1))
            let miss = "fwd=uri-miss; fwd-status=200; stored"
            #expect(first.head.fields["cache-status"] == "node; \(miss), edge; \(miss)")
            #expect(first.head.fields["via"] == "1.1 node, 1.1 edge")
            let again = try await edge.get(site.target("/a.mp4"))
            #expect(again.head.fields["cache-status"] == "node; \(miss), edge; hit")
            let part = try await node.get(site.target("/a.mp4"), ["Range: bytes=10-19"])
            #expect(part.head.fields["cache-status"]?.hasPrefix("node; hit") == true)
            #expect(part.body == TestPattern.bytes(in: 10..<20, seed: 1))
            #expect(site.origin.snapshot.requestCount == 1)
            // What guards a browser is each server's own, and is not stored as the origin's.
            #expect(first.head.fields["content-security-policy"]?.contains(",") == false)
        }
    }

    @Test("playlists are edited by the edge alone, also behind a redirect, and links lead to the edge")
    func playlists() async throws {
        try await Self.run { site, node, edge async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nseg.ts\n#EXT-X-ENDLIST\n"
            for (path, control) in [("/deep/kept.m3u8", "max-age=60"), ("/deep/passed.m3u8", "no-store")] {
                site.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl",
                        fields: [.cacheControl: control]), at: path)
            }
            site.publish("/deep/seg.ts", length: 1000)
            for name in ["kept", "passed"] {
                let moved = "/\(name)-moved.m3u8"
                site.origin.set(
                    TestOrigin.Resource(
                        .bytes([]), mediaType: "text/plain",
                        personality: TestOrigin.Personality { $0.redirect = "/deep/\(name).m3u8" }), at: moved)
                for target in [site.target("/deep/\(name).m3u8"), site.target(moved)] {
                    let reply = try await edge.get(target)
                    let text = String(decoding: reply.body, as: UTF8.self)
                    let link = try #require(text.split(separator: "\n").first { $0.hasSuffix("seg.ts") }, "\(text)")
                    #expect(!text.contains(":\(node.port)"), "\(text)")
                    let base = try #require(URL(string: "http://127.0.0.1:\(edge.port)\(target)"))
                    let url = try #require(URL(string: String(link), relativeTo: base)?.absoluteURL)
                    #expect(url.port == edge.port && url.path == site.target("/deep/seg.ts"), "\(link) of \(target)")
                    #expect(reply.head.fields["reprise-final-url"] == nil)
                }
            }
            // The node knows the stream's files all the same.
            let titles = try await Command.run("list", site.directory, ["--json"])
            #expect(titles.output.contains("kept.m3u8"), "\(titles)")
        }
    }

    @Test("a parent that is killed in the middle of a body is not noticed: the rest comes from another, or the origin")
    func killed() async throws {
        try await Site.run { site async throws in
            let length: Int64 = 3_000_000
            site.publish("/film.mp4", length: length)
            site.origin.hold("/film.mp4", at: 1_000_000)
            let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
            defer { for directory in directories { directory.remove() } }
            try await Serving.run(directories[0], ["--name", "n1"]) { first async throws in
                try await Serving.run(directories[1], ["--name", "n2"]) { second async throws in
                    let parents = [first, second].flatMap { ["--parent", "http://127.0.0.1:\($0.port)"] }
                    try await Serving.run(site.directory, parents + ["--parent-fallback", "none"]) {
                        edge async throws in
                        let client = try RawClient(port: edge.port)
                        try await client.get(site.target("/film.mp4"))
                        #expect(try await client.head().status == 200)
                        #expect(try await client.skip(1_000_000) == 1_000_000)
                        let via = Self.via(of: site.origin.snapshot["/film.mp4"].requests[0])
                        let owner = via.contains("n1-") ? first : second
                        owner.child.send(SIGKILL)
                        _ = await owner.child.outcome()
                        site.origin.release("/film.mp4")
                        let rest = try await client.body(Int(length) - 1_000_000)
                        #expect(rest == TestPattern.bytes(in: 1_000_000..<length, seed: 1))
                        // What the killed one had sent is not asked for again.
                        let requests = await site.origin.settledSnapshot()["/film.mp4"].requests
                        #expect(requests.count == 2 && requests.last?.fields[.range]?.hasPrefix("bytes=") == true)

                        let dead = "parent=\"127.0.0.1:\(owner.port)\""
                        let other = owner.port == first.port ? second : first
                        let alive = "parent=\"127.0.0.1:\(other.port)\""
                        let counts = try await Self.parentMetrics(of: edge)
                        #expect(counts["requests_total{\(dead),outcome=\"answered\"}"] == 1, "\(counts)")
                        #expect(counts["requests_total{\(dead),outcome=\"failed\"}"] == 1)
                        #expect(counts["bodies_broken_total{\(dead)}"] == 1)
                        #expect(counts["requests_total{\(alive),outcome=\"answered\"}"] == 1)
                        #expect(counts["bodies_broken_total{\(alive)}"] == nil)
                        #expect(counts["switches_total{to=\"parent\"}"] == 1)
                        let bytes = [dead, alive].compactMap { counts["bytes_total{\($0)}"] }
                        #expect(bytes.count == 2 && bytes.reduce(0, +) == Int(length), "nothing is fetched twice")
                    }
                }
            }
        }
    }

    @Test("without a parent that answers, the origin is asked, or the request fails; --parent-fallback says which")
    func fallback() async throws {
        for (fallback, status) in [("direct", 200), ("none", 502)] {
            try await Site.run { site async throws in
                site.publish("/a.mp4", length: 1000)
                // No server of Reprise, and one that is not there.
                for (authority, outcome) in [
                    ("127.0.0.1:\(site.origin.port)", "declined"), ("127.0.0.1:9", "failed"),
                ] {
                    let parent = "http://" + authority
                    let directory = try TemporaryDirectory()
                    defer { directory.remove() }
                    let options = ["--parent", parent, "--parent-fallback", fallback]
                    try await Serving.run(directory, options) { edge async throws in
                        let reply = try await edge.get(site.target("/a.mp4"))
                        #expect(reply.head.status == status, "\(parent) \(fallback)")
                        #expect((reply.body == TestPattern.bytes(in: 0..<1000, seed: 1)) == (status == 200))
                        let place = fallback == "direct" ? "origin" : "nowhere"
                        let expected = [
                            "requests_total{parent=\"\(authority)\",outcome=\"\(outcome)\"}": 1,
                            "switches_total{to=\"\(place)\"}": 1,
                        ]
                        let counts = try await Self.parentMetrics(of: edge)
                        // A request that failed is repeated some times.
                        let isAsExpected = fallback == "direct" ? counts == expected : counts.keys == expected.keys
                        #expect(isAsExpected, "\(authority) \(fallback): \(counts)")
                    }
                }
            }
        }
    }

    @Test("what the origin says is no failure of a parent: it is not asked again") func originsOwnErrors() async throws
    {
        try await Self.run { site, _, edge async throws in
            for status in [404, 503] {
                let path = "/\(status).mp4"
                site.origin.set(
                    TestOrigin.Resource(
                        .bytes([]), mediaType: "text/plain",
                        personality: TestOrigin.Personality { $0.status = status }), at: path)
                let reply = try await edge.get(site.target(path))
                #expect(reply.head.status == status)
                let ways = site.origin.snapshot[path].requests.map(Self.via)
                #expect(ways.allSatisfy { $0.contains("node-") }, "\(ways)")
            }
        }
    }

    @Test(
        "a server that is its own parent asks the origin, or fails, and nothing goes around", arguments: [true, false])
    func loop(isDirect: Bool) async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let socket = try PassedSocketTests.bound()
            defer { close(socket) }
            try #require(listen(socket, 16) == 0)
            let port = try PassedSocket(listening: socket).port
            let options = [
                "--cache-dir", site.directory.path, "--parent", "http://127.0.0.1:\(port)", "--parent-fallback",
                isDirect ? "direct" : "none",
            ]
            try await Serving.run(options, environment: ["LISTEN_FDS": "1"], passing: socket) { serving async throws in
                let reply = try await serving.get(site.target("/a.mp4"))
                #expect(reply.head.status == (isDirect ? 200 : 502))
                #expect(site.origin.snapshot.requestCount == (isDirect ? 1 : 0))
                let line = "go around in a loop"
                #expect(await serving.child.errors.wait { $0.contains(line) }.contains(line))
            }
        }
    }

    @Test("a parent's token is in no log, error or configuration, and what a server may ask, its edges may, too")
    func tokenAndRules() async throws {
        let token = "t0ken-of-the-node"
        let node = ["--token", token]
        try await Self.run(["--log-level", "trace", "--allow-host", "127.0.0.1"], parent: node, path: "/\(token)") {
            site, _, edge async throws in
            site.publish("/a.mp4", length: 1000)
            let reply = try await edge.get(site.target("/a.mp4"))
            #expect(reply.head.status == 200)
            #expect(try await edge.get("/http/other.example/a.mp4").head.status == 403)
            // The parent may ask any host, and follows redirects there.
            for (path, type) in [("/b.m3u8", "application/vnd.apple.mpegurl"), ("/b.mp4", "video/mp4")] {
                site.origin.set(
                    TestOrigin.Resource(.bytes(Array("#EXTM3U\n".utf8)), mediaType: type), at: "/there" + path)
                site.origin.set(
                    TestOrigin.Resource(
                        .bytes([]), mediaType: type,
                        personality: TestOrigin.Personality {
                            $0.redirect = "http://localhost:\(site.origin.port)/there\(path)"
                        }), at: path)
                for _ in 0..<2 { #expect(try await edge.get(site.target(path)).head.status == 403, "\(path)") }
            }
            let page = String(decoding: try await edge.get("/-/status.json").body, as: UTF8.self)
            let texts = [edge.child.errors.text, edge.child.output.text, page, "\(reply.head)"]
            for text in texts { #expect(!text.contains(token), "\(text)") }
        }
        let shown = try await Command.run(["config", "--parent", "http://a.example/\(token)"])
        let asFile = try await Command.run(["config"], environment: ["REPRISE_PARENT": "http://a.example/\(token)"])
        #expect(!(shown.output + shown.errors).contains(token) || shown.exit != .status(0))
        #expect(asFile.output.contains("parent = http://a.example/<hidden>"), "\(asFile)")
        #expect(!(asFile.output + asFile.errors).contains(token))
    }
}
