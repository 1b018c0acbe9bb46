import HTTPTypes
import NIOCore
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Two users of one cache whose origin tells each of them something else under the same URL.
@Suite("What one user was told is not used for another (RFC 9111 §3)", .limit(minutes: 1)) struct RequesterTests {
    private typealias Site = StreamSite

    /// What tells the users apart: a request field, and what a response says of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let field: String
        let control: String
        var vary: String?
        var testDescription: String { "\(field), \(control), \(vary ?? "no Vary")" }
    }

    private static let cases = [
        Case(field: "Authorization: Bearer ", control: "max-age=600"),
        Case(field: "Authorization: Bearer ", control: "no-store"),
        Case(field: "Authorization: Bearer ", control: "public, max-age=600", vary: "Authorization"),
        Case(field: "Cookie: user=", control: "private, max-age=600"),
        Case(field: "Cookie: user=", control: "no-store"),
        Case(field: "Cookie: user=", control: "max-age=600", vary: "Cookie"),
        Case(field: "X-User: ", control: "max-age=600"),
        Case(field: "X-User: ", control: "max-age=600", vary: "X-User"),
    ]

    /// Puts at `path` what `text` returns for each of the users `anna` and `berta`.
    private static func publish(
        _ site: Site, _ path: String, _ user: Case, _ text: @escaping @Sendable (String) -> String
    ) {
        var fields: HTTPFields = [.cacheControl: user.control]
        fields[.vary] = user.vary
        site.origin.set(
            TestOrigin.Resource(.bytes([]), mediaType: Site.hls, etag: nil, lastModified: nil, fields: fields) {
                request, _ in
                let name = request.fields.contains { $0.value.contains("berta") } ? "berta" : "anna"
                return TestOrigin.Personality {
                    $0.representation = .init(content: .bytes(Array(text(name).utf8)), etag: "\"\(name)\"")
                }
            }, at: path)
    }

    @Test("variables of a playlist", arguments: cases) func variables(user: Case) async throws {
        try await Site.run(isShared: true) { site async throws in
            let host = "http://127.0.0.1:\(site.origin.port)"
            Self.publish(site, "/main.m3u8", user) {
                "#EXTM3U\n#EXT-X-DEFINE:NAME=\"s\",VALUE=\"of-\($0)\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\n/v.m3u8\n"
            }
            // The list that imports them may be for everyone.
            site.publish(
                Site.list(["\(host)/{$s}/1.ts"], type: "VOD", ended: true, more: "#EXT-X-DEFINE:IMPORT=\"s\"\n"),
                at: "/v.m3u8", control: "max-age=600")
            func links(_ name: String) async throws -> String {
                try await site.get("/v.m3u8", [user.field + name]).text
            }
            _ = try await site.get("/main.m3u8", [user.field + "anna"])
            #expect(try await links("anna").contains("/of-anna/1.ts"))
            #expect(try await !links("berta").contains("of-anna"))
            _ = try await site.get("/main.m3u8", [user.field + "berta"])
            for name in ["berta", "anna", "berta"] {
                #expect(try await links(name).contains("\(site.proxy.target("/"))of-\(name)/1.ts"), "\(name)")
            }
        }
    }

    @Test("roles of listed files", arguments: cases) func roles(user: Case) async throws {
        try await Site.run(isShared: true) { site async throws in
            Self.publish(site, "/list.m3u8", user) { name in
                Site.list(["/\(name).ts"], type: "VOD", ended: true)
            }
            site.publishSegment("/anna.ts", control: "public") {
                $0.fields[.vary] = user.field.hasPrefix("X") ? "X-User" : nil
            }
            _ = try await site.get("/list.m3u8", [user.field + "anna"])
            // Anna may have asked first.
            for name in ["anna", "berta"] { _ = try await site.get("/anna.ts", [user.field + name]) }
            site.clock.shift(by: .seconds(86_400 * 300))
            let before = site.requests("/anna.ts")
            _ = try await site.get("/anna.ts", [user.field + "berta"])
            #expect(site.requests("/anna.ts") == before + 1, "nothing says that it never changes")
        }
    }

    @Test("which files are keys", arguments: cases) func keys(user: Case) async throws {
        try await Site.run(isShared: true) { site async throws in
            Self.publish(site, "/list.m3u8", user) { name in
                Site.list(["/1.ts"], more: "#EXT-X-KEY:METHOD=AES-128,URI=\"/\(name).bin\"\n")
            }
            site.proxy.bench.publish("/anna.bin", length: 16) {
                $0.fields[.cacheControl] = "public, max-age=600"
                $0.fields[.vary] = user.field.hasPrefix("X") ? "X-User" : nil
            }
            _ = try await site.get("/list.m3u8", [user.field + "anna"])
            #expect(try await site.get("/anna.bin", [user.field + "berta"]).cache.contains("stored"))
            #expect(try await !site.get("/anna.bin", [user.field + "anna"]).cache.contains("stored"))
        }
    }

    @Test("the live edge", arguments: cases) func liveEdge(user: Case) async throws {
        try await Site.run(isShared: true) { site async throws in
            Self.publish(site, "/live.m3u8", user) { name in
                Site.list(
                    ["/1.ts"],
                    more: "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3\n#EXT-X-PART-INF:PART-TARGET=1\n"
                )
                    + "#EXT-X-PART:DURATION=1,URI=\"/\(name)-2.1.ts\"\n"
            }
            site.publishSegment("/anna-2.1.ts", control: "public, max-age=600") {
                $0.fields[.vary] = user.field.hasPrefix("X") ? "X-User" : nil
            }
            _ = try await site.get("/live.m3u8", [user.field + "anna"])
            #expect(try await site.get("/anna-2.1.ts", [user.field + "berta"]).cache.contains("stored"))
        }
    }

    @Test("what a response for everyone says counts for everyone") func everyone() async throws {
        try await Site.run(isShared: true) { site async throws in
            site.publish(Site.list(["/1.ts"], type: "VOD", ended: true), at: "/list.m3u8", control: "max-age=600")
            site.publishSegment("/1.ts")
            _ = try await site.get("/list.m3u8", ["Cookie: user=anna"])
            _ = try await site.get("/1.ts", ["Cookie: user=berta"])
            site.clock.shift(by: .seconds(86_400 * 300))
            _ = try await site.get("/1.ts")
            #expect(site.requests("/1.ts") == 1, "an ended list's segment never changes")
        }
    }

    @Test("requests on one connection count for their own senders") func oneConnection() async throws {
        try await Site.run(isShared: true) { site async throws in
            let user = Case(field: "Cookie: user=", control: "private")
            Self.publish(site, "/list.m3u8", user) { name in
                Site.list(["/1.ts"], more: name == "anna" ? "#EXT-X-KEY:METHOD=AES-128,URI=\"/key.bin\"\n" : "")
            }
            site.proxy.bench.publish("/key.bin", length: 16) { $0.fields[.cacheControl] = "max-age=600" }
            let client = try RawClient(port: site.proxy.server.port)
            func cache(_ path: String, _ name: String) async throws -> String? {
                try await client.get(site.proxy.target(path), ["Cookie: user=\(name)"])
                let head = try await client.head()
                _ = try await client.body(try #require(head.length))
                return head.fields["cache-status"]
            }
            _ = try await cache("/list.m3u8", "anna")
            #expect(try await cache("/key.bin", "anna")?.contains("fwd=bypass") == true)
            #expect(try await cache("/key.bin", "berta")?.contains("stored") == true)
        }
    }

    @Test("only so many requesters are remembered") func bounds() throws {
        let streams = StreamKnowledge(isShared: true, clock: .system)
        let requesters = try (0..<100).map { Requester(try Self.head(["Cookie: \($0)"])) }
        let first = streams.part(for: requesters[0])
        #expect(streams.part(for: requesters[0]) === first)
        for requester in requesters.dropFirst() { _ = streams.part(for: requester) }
        #expect(streams.part(for: requesters[0]) !== first)
    }

    @Test(
        "who a requester is",
        arguments: [
            (["Cookie: a"], ["Cookie: a", "Range: bytes=0-1"], true), (["Cookie: a"], ["Cookie: b"], false),
            (["Cookie: a"], [], false), (["Authorization: a"], ["Authorization: b"], false),
            (["X-User: a"], ["X-User: b"], false), (["User-Agent: a"], ["User-Agent: b"], false),
            (["X-Playback-Session-Id: a"], ["X-Playback-Session-Id: b"], true), (["Accept: a"], ["Accept: b"], true),
        ]) func requesters(first: [String], second: [String], isSame: Bool) throws
    {
        #expect((Requester(try Self.head(first)) == Requester(try Self.head(second))) == isSame)
    }

    private static func head(_ fields: [String]) throws -> ClientHead {
        var parser = RequestParser()
        let lines = ["GET /http/a/b HTTP/1.1", "Host: localhost"] + fields
        parser.append(.init(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        return try #require(try parser.next())
    }
}
