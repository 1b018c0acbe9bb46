import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// What a configuration says of single hosts: who gets fields that log in, which may be private, how many connections.
@Suite(.limit(minutes: 1)) struct HostSettingsTests {
    private func run(
        _ configure: (inout NIOOrigin.Configuration) -> Void, _ body: (TestOrigin, NIOOrigin) async throws -> Void
    ) async throws {
        let origin = try await TestOrigin.start()
        origin.set(.init(.pattern(seed: 1, length: 10)), at: "/a")
        try await withClient(configure) { client in try await body(origin, client) }
        await origin.stop()
    }

    /// Fields for 127.0.0.1 only.
    @Sendable private static func credentials(_ url: ResourceURL) -> HTTPFields {
        url.host == "127.0.0.1" ? [.authorization: "Bearer s3cret"] : [:]
    }

    @Test("Fields that log in replace those of a client, and only reads get them") func readsOnly() async throws {
        try await run({ $0.credentials = Self.credentials }) { origin, client async throws in
            for method: HTTPRequest.Method in [.get, .head, .post, .delete] {
                var request = OriginRequest(url: try ResourceURL(origin.url("/a")))
                request.method = method
                request.fields = [.authorization: "Basic own", .referer: "x"]
                _ = try await client.send(request).body.bytes()
            }
            let requests = origin.snapshot.requests
            #expect(requests.map(\.method) == ["GET", "HEAD", "POST", "DELETE"])
            let fields = requests.map { $0.fields[values: .authorization] }
            #expect(fields == [["Bearer s3cret"], ["Bearer s3cret"], ["Basic own"], ["Basic own"]])
            #expect(requests.allSatisfy { $0.fields[.referer] == "x" })
        }
    }

    @Test("No redirect takes fields that log in to another host, and one to their host gets them")
    func redirects() async throws {
        try await run({ $0.credentials = Self.credentials }) { origin, client async throws in
            let port = origin.port
            for (path, host) in [("/away", "localhost"), ("/home", "127.0.0.1")] {
                let personality = TestOrigin.Personality { $0.redirect = "http://\(host):\(port)/a" }
                origin.set(.init(.pattern(seed: 1, length: 0), personality: personality), at: path)
            }
            _ = try await client.get(origin.url("/away")).body.bytes()
            _ = try await client.get("http://localhost:\(port)/home").body.bytes()
            let fields = origin.snapshot.requests.map { $0.fields[.authorization] }
            #expect(fields == ["Bearer s3cret", nil, nil, "Bearer s3cret"])
        }
    }

    @Test("Only the hosts that are named may be private") func privateHosts() async throws {
        try await run({
            $0.forbidsPrivateAddresses = true
            $0.allowsPrivateAddresses = { $0 == "127.0.0.1" }
        }) { origin, client async throws in
            #expect(try await client.get(origin.url("/a")).body.bytes().count == 10)
            let other = "http://localhost:\(origin.port)/a"
            #expect(await failureCode { try await client.get(other) } == .originForbidden)
            #expect(origin.snapshot.requestCount == 1)
        }
    }

    @Test("The address that is connected to is judged, of a name and after a redirect, too")
    func privateRanges() async throws {
        try await run({
            $0.forbidsPrivateAddresses = true
            $0.privateAddresses = [AddressRange("127.0.0.1"), AddressRange("::1")].compactMap { $0 }
        }) { origin, client async throws in
            let port = origin.port
            for host in ["127.0.0.1", "localhost"] {
                #expect(try await client.get("http://\(host):\(port)/a").body.bytes().count == 10)
            }
            let personality = TestOrigin.Personality { $0.redirect = "http://127.0.0.2:\(port)/a" }
            origin.set(.init(.pattern(seed: 1, length: 0), personality: personality), at: "/away")
            let before = origin.snapshot.requestCount
            #expect(await failureCode { try await client.get(origin.url("/away")) } == .originForbidden)
            #expect(await failureCode { try await client.get("http://127.0.0.2:\(port)/a") } == .originForbidden)
            #expect(origin.snapshot.requestCount == before + 1)
        }
    }

    @Test("A host has its own number of connections") func connections() async throws {
        try await run({
            $0.maximumConnectionsPerHost = 1
            $0.connectionsToHost = { $0 == "127.0.0.1" ? 2 : nil }
        }) { origin, client async throws in
            for path in ["/b", "/c", "/d"] { origin.set(.init(.pattern(seed: 1, length: 10)), at: path) }
            for path in ["/a", "/b", "/c", "/d"] { origin.holdHeads(path) }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for path in ["/a", "/b", "/c"] {
                    group.addTask { try await client.get(origin.url(path)).body.bytes().count }
                }
                let other = "http://localhost:\(origin.port)/d"
                group.addTask { try await client.get(other).body.bytes().count }
                // Two of one host, and one of the other; the third waits.
                await origin.waitUntil { $0.requestCount >= 3 }
                await eventually { client.queuedRequests == 1 }
                for path in ["/a", "/b", "/c", "/d"] { origin.release(path) }
                for try await count in group { #expect(count == 10) }
            }
        }
    }

    @Test("The number of connections of a host is never exceeded: a body that is not read gives way, and ends")
    func strictConnections() async throws {
        try await run({
            $0.connectionsToHost = { _ in 1 }
            $0.parkingTime = .milliseconds(50)
        }) { origin, client async throws in
            origin.set(.init(.pattern(seed: 1, length: 100_000_000)), at: "/film")
            let film = try await client.get(origin.url("/film"), [.range: "bytes=0-"])
            #expect(film.head.status == .partialContent)
            let other = try await client.get(origin.url("/film"), [.range: "bytes=90000000-90000009"])
            #expect(try await other.body.bytes().count == 10)
            #expect(await failureCode { try await film.body.bytes() } == .originBodyTruncated)
        }
    }

    @Test("A host has its own patience") func patience() async throws {
        try await run({
            $0.timeoutsOfHost = { host in (response: host == "127.0.0.1" ? .milliseconds(20) : nil, idle: nil) }
        }) { origin, client async throws in
            origin.holdHeads("/a")
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .originTimedOut)
            origin.release("/a")
            #expect(try await client.get("http://localhost:\(origin.port)/a").body.bytes().count == 10)
        }
    }

    @Test(
        "A log-in in the target of a redirect is used for other files of that host, after a 401",
        arguments: [true, false])
    func logins(isRemembered: Bool) async throws {
        try await run({ $0.remembersLogins = isRemembered }) { origin, client async throws in
            for path in ["/list", "/segment"] {
                origin.set(
                    TestOrigin.Resource(
                        .bytes([1]),
                        personality: TestOrigin.Personality { $0.demandedAuthorization = "Basic bWU6cHc=" }), at: path)
            }
            let target = "http://me:pw@127.0.0.1:\(origin.port)/list"
            origin.set(
                TestOrigin.Resource(.bytes([]), personality: TestOrigin.Personality { $0.redirect = target }), at: "/go"
            )
            func status(_ path: String) async throws -> HTTPResponse.Status {
                try await client.get(origin.url(path)).head.status
            }
            #expect(try await status("/segment") == .unauthorized)
            #expect(try await status("/go") == .ok)
            #expect(try await status("/segment") == (isRemembered ? .ok : .unauthorized))
            let other = try await client.get("http://localhost:\(origin.port)/segment").head.status
            #expect(other == .unauthorized, "another host")
        }
    }

    @Test("A log-in is accepted by a 304, too") func loginAnsweredNotModified() async throws {
        try await run({ $0.remembersLogins = true }) { origin, client async throws in
            for path in ["/list", "/segment"] {
                origin.set(
                    TestOrigin.Resource(
                        .bytes([1]), etag: "\"v1\"",
                        personality: TestOrigin.Personality { $0.demandedAuthorization = "Basic bWU6cHc=" }), at: path)
            }
            let target = "http://me:pw@127.0.0.1:\(origin.port)/list"
            origin.set(
                TestOrigin.Resource(.bytes([]), personality: TestOrigin.Personality { $0.redirect = target }), at: "/go"
            )
            let request = OriginRequest(
                url: try ResourceURL(origin.url("/go")), fields: [.ifNoneMatch: "\"v1\""])
            #expect(try await client.send(request).head.status == .notModified)
            #expect(try await client.get(origin.url("/segment")).head.status == .ok)
        }
    }

    @Test("A log-in for https is not sent over http, nor instead of another one") func loginsForOthers() throws {
        let logins = RedirectLogins()
        try logins.note("Basic bWU6cHc=", at: ResourceURL("https://a.example/list"))
        func value(_ url: String, _ fields: HTTPFields = [:]) throws -> String? {
            try logins.adding(to: OriginRequest(url: ResourceURL(url), fields: fields))?.fields[.authorization]
        }
        #expect(try value("https://a.example/segment") == "Basic bWU6cHc=")
        #expect(try value("https://a.example:443/segment") == "Basic bWU6cHc=")
        #expect(try value("https://a.example/segment", [.authorization: "Bearer 1"]) == nil)
        #expect(try value("http://a.example/segment") == nil)
        #expect(try value("https://a.example:8443/segment") == nil)
        #expect(try value("https://b.example/segment") == nil)
    }

    @Test("A cookie that a redirect sets is sent with the next request (RFC 6265 §5.4)") func cookies() async throws {
        let head =
            "HTTP/1.1 302 Found\r\nLocation: /film?again=1\r\nSet-Cookie: s=1; Path=/\r\nContent-Length: 0\r\n\r\n"
        try await ScriptedServer.run({ _, request in
            [.send(request % 2 == 0 ? head : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        }) { server in
            try await withClient { client async throws in
                for _ in 0..<2 { #expect(try await client.get(server.url("/film")).body.text() == "ok") }
                #expect(server.requests.map { $0.contains("Cookie: s=1") } == [false, true, false, true])
            }
        }
    }
}
