import HTTPTypes
import NIOCore
import NIOSSL
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseHTTPClient

/// Origins behind a proxy, with real sockets.
///
/// `media.test` exists only for the proxy.
@Suite(.limit(minutes: 1)) struct ProxyTests {
    private static let kinds = ["http", "socks5h"]

    private func withOrigin(_ body: (TestOrigin) async throws -> Void) async throws {
        let origin = try await TestOrigin.start()
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin)) } catch { result = .failure(error) }
        await origin.stop()
        try result.get()
    }

    private func withClient(
        of proxy: TestProxy, _ kind: String = "http", login: String? = nil, _ exceptions: String = "",
        configure: (inout NIOOrigin.Configuration) -> Void = { _ in }, _ body: (NIOOrigin) async throws -> Void
    ) async throws {
        let text = "\(kind)://\(login.map { "\($0)@" } ?? "")127.0.0.1:\(proxy.port)"
        let proxies = OutgoingProxies(try OutgoingProxy(text), exceptions: exceptions)
        try await RepriseHTTPClientTests.withClient { configuration in
            configuration.proxies = proxies
            configure(&configuration)
        } _: {
            try await body($0)
        }
    }

    private func failure(_ body: () async throws -> Void) async -> RepriseError? {
        do {
            try await body()
            return nil
        } catch { return error as? RepriseError }
    }

    private func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

    private static let basic = "Basic dTpwQHNz"  // u:p@ss

    @Test("http goes to an HTTP proxy in absolute form, on one connection (RFC 9112 §3.2.2)")
    func absoluteForm() async throws {
        try await withOrigin { origin async throws in
            origin.set(.init(.pattern(seed: 1, length: 3_000_000)), at: "/a")
            try await TestProxy.run(login: Self.basic) { proxy async throws in
                try await withClient(of: proxy, login: "u:p%40ss") { client async throws in
                    let url = "http://media.test:\(origin.port)/a"
                    #expect(try await client.get(url).body.bytes() == pattern(0..<3_000_000))
                    let part = try await client.get(url, [.range: "bytes=1000-1999"])
                    #expect(part.head.status == .partialContent)
                    #expect(try await part.body.bytes() == pattern(1_000..<2_000))
                    let head = try await client.get(url, method: .head)
                    #expect(head.head.headerFields[.contentLength] == "3000000")
                    #expect(try await head.body.next() == nil)
                    #expect(proxy.asked == ["GET \(url)", "GET \(url)", "HEAD \(url)"])
                    #expect(proxy.logins == [Self.basic, Self.basic, Self.basic])
                    #expect(proxy.connections == 1)
                    let requests = origin.snapshot.requests
                    #expect(requests.allSatisfy { $0.fields[.proxyAuthorization] == nil })
                    let host = try #require(HTTPField.Name("Host"))
                    #expect(requests.map { $0.fields[host] } == Array(repeating: "media.test:\(origin.port)", count: 3))
                }
            }
        }
    }

    @Test("A SOCKS proxy gets the name or the address, and the log-in that it wants", arguments: [nil, "u:p@ss"])
    func socks(login: String?) async throws {
        try await withOrigin { origin async throws in
            origin.set(.init(.pattern(seed: 1, length: 3_000_000)), at: "/a")
            try await TestProxy.run(login: login) { proxy async throws in
                for (kind, host, asked) in [
                    ("socks5h", "media.test", "name media.test"), ("socks5h", "192.0.2.7", "address 192.0.2.7"),
                    ("socks5", "192.0.2.8", "address 192.0.2.8"),
                ] {
                    try await withClient(of: proxy, kind, login: login == nil ? nil : "u:p%40ss") {
                        client async throws in
                        for _ in 0..<2 {
                            let body = try await client.get("http://\(host):\(origin.port)/a").body
                            #expect(try await body.bytes() == pattern(0..<3_000_000))
                        }
                    }
                    #expect(proxy.asked.last == "SOCKS \(asked):\(origin.port)")
                }
                #expect(proxy.connections == 3)
                #expect(proxy.logins == [login, login, login])
            }
        }
    }

    @Test("Without the proxy's resolution a name is looked up here (socks5)") func names() async throws {
        try await TestProxy.run { proxy async throws in
            try await withClient(of: proxy, "socks5") { client async throws in
                #expect(await failureCode { try await client.get("http://media.invalid/a") } == .originNotFound)
                #expect(proxy.connections == 0)
            }
        }
    }

    @Test(
        "https goes through a tunnel, in which TLS is verified", .enabled(if: TestCertificates.shared != nil),
        arguments: kinds)
    func tunnel(kind: String) async throws {
        let certificates = try #require(TestCertificates.shared)
        let bytes = ByteBuffer(bytes: TestPattern.bytes(in: 0..<1_500_000, seed: 4))
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1500000\r\n\r\n"
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(head), .sendBytes(bytes)] }) {
            server in
            try await TestProxy.run(login: kind == "http" ? Self.basic : "u:p@ss") { proxy async throws in
                try await withClient(of: proxy, kind, login: "u:p%40ss") {
                    $0.additionalTrustRoots = [certificates.root]
                } _: { client async throws in
                    for _ in 0..<2 {
                        let body = try await client.get("https://media.test:\(server.port)/").body
                        #expect(try await body.bytes() == Array(buffer: bytes))
                    }
                    let target = kind == "http" ? "CONNECT" : "SOCKS name"
                    #expect(proxy.asked == ["\(target) media.test:\(server.port)"])
                    #expect(server.requests.allSatisfy { $0.hasPrefix("GET / ") && !$0.contains("roxy") })
                    let other = await failure { _ = try await client.get("https://other.test:\(server.port)/") }
                    #expect(other?.code == .originNotTrusted)
                }
            }
        }
    }

    @Test(
        "The certificate of an address is compared with that address, not with the proxy's (RFC 9110 §4.3.5)",
        .enabled(if: TestCertificates.shared != nil), arguments: kinds)
    func addressBehindTunnel(kind: String) async throws {
        let certificates = try #require(TestCertificates.shared)
        let steps: [ScriptedServer.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        for (context, address, isTrusted) in [
            (certificates.addressContext, "192.0.2.7", true), (certificates.addressContext, "192.0.2.8", false),
            (certificates.serverContext, "192.0.2.7", false), (certificates.namelessContext, "192.0.2.9", false),
        ] {
            try await ScriptedServer.run(tls: context, { _, _ in steps }) { server in
                try await TestProxy.run { proxy async throws in
                    try await withClient(of: proxy, kind) {
                        $0.additionalTrustRoots = [certificates.root]
                    } _: { client async throws in
                        let url = "https://\(address):\(server.port)/"
                        let error = await failure { _ = try await client.get(url).body.text() }
                        #expect(error?.code == (isTrusted ? nil : .originNotTrusted), "\(address)")
                        #expect(server.requests.isEmpty != isTrusted)
                    }
                }
            }
        }
    }

    @Test("A proxy may speak TLS itself", .enabled(if: TestCertificates.shared != nil)) func proxyWithTLS() async throws
    {
        let certificates = try #require(TestCertificates.shared)
        let context = certificates.serverContext
        let steps: [ScriptedServer.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        try await withOrigin { origin async throws in
            origin.set(.init(.pattern(seed: 1, length: 2_000_000)), at: "/a")
            try await ScriptedServer.run(tls: context, { _, _ in steps }) { server in
                try await TestProxy.run(
                    prepare: { try $0.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context)) }
                ) { proxy async throws in
                    try await withClient(of: proxy, "https") {
                        $0.additionalTrustRoots = [certificates.root]
                    } _: { client async throws in
                        let plain = try await client.get("http://media.test:\(origin.port)/a").body
                        #expect(try await plain.bytes() == pattern(0..<2_000_000))
                        #expect(try await client.get("https://media.test:\(server.port)/").body.text() == "ok")
                        #expect(proxy.asked.count == 2)
                    }
                    try await withClient(of: proxy, "https") { client async throws in
                        let error = await failure { _ = try await client.get("http://media.test:\(origin.port)/a") }
                        #expect(error?.code == .originNotTrusted)
                        #expect(error?.message.contains("the proxy https://127.0.0.1:\(proxy.port)") == true)
                    }
                }
            }
        }
    }

    @Test("A redirect from http to https goes on through the proxy", .enabled(if: TestCertificates.shared != nil))
    func redirect() async throws {
        let certificates = try #require(TestCertificates.shared)
        let steps: [ScriptedServer.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        try await withOrigin { origin async throws in
            try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in steps }) { server in
                let personality = TestOrigin.Personality { $0.redirect = "https://media.test:\(server.port)/b" }
                origin.set(.init(.pattern(seed: 1, length: 0), personality: personality), at: "/a")
                try await TestProxy.run { proxy async throws in
                    try await withClient(of: proxy) {
                        $0.additionalTrustRoots = [certificates.root]
                    } _: { client async throws in
                        let start = "http://media.test:\(origin.port)/a"
                        #expect(try await client.get(start).body.text() == "ok")
                        #expect(proxy.asked == ["GET \(start)", "CONNECT media.test:\(server.port)"])
                    }
                }
            }
        }
    }

    @Test("A body that breaks off is known, and its rest comes through the proxy", arguments: kinds)
    func brokenBody(kind: String) async throws {
        try await withOrigin { origin async throws in
            let personality = TestOrigin.Personality { $0.truncateAfter = 40_000 }
            origin.set(.init(.pattern(seed: 1, length: 100_000), personality: personality), at: "/a")
            try await TestProxy.run { proxy async throws in
                try await withClient(of: proxy, kind) { client async throws in
                    let url = "http://media.test:\(origin.port)/a"
                    let code = await failureCode { try await client.get(url).body.bytes() }
                    #expect(code == .originBodyTruncated)
                    origin.set(.init(.pattern(seed: 1, length: 100_000)), at: "/a")
                    let rest = try await client.get(url, [.range: "bytes=40000-"])
                    #expect(try await rest.body.bytes() == pattern(40_000..<100_000))
                }
            }
        }
    }

    @Test(
        "A refused log-in is told with the proxy's name and without the password",
        arguments: [
            ("http", "http"), ("http", "https"), ("socks5h", "http"),
        ])
    func refusedLogin(kind: String, scheme: String) async throws {
        try await TestProxy.run(login: "u:right") { proxy async throws in
            for login in [nil, "u:wrongword"] {
                try await withClient(of: proxy, kind, login: login) { client async throws in
                    let error = await failure { _ = try await client.get("\(scheme)://media.test:1/") }
                    #expect(error?.code == .originForbidden)
                    #expect(error?.message.contains("\(kind)://127.0.0.1:\(proxy.port)") == true)
                    #expect(error?.message.contains(login == nil ? "wants a log-in" : "refuses the user name") == true)
                    #expect(error?.description.contains("wrongword") == false)
                }
            }
        }
    }

    @Test("A proxy that closes, is silent or speaks otherwise is told apart from the origin", arguments: kinds)
    func badProxies(kind: String) async throws {
        let conducts: [(TestProxy.Conduct, RepriseError.Code)] = [
            (.closes, .originUnreachable), (.silent, .originTimedOut),
            (.says("hello, world\r\n\r\n"), .originMisbehaved),
        ]
        for (conduct, code) in conducts {
            try await TestProxy.run(conduct: conduct) { proxy async throws in
                try await withClient(of: proxy, kind) {
                    if code == .originTimedOut { $0.connectTimeout = .milliseconds(200) }
                } _: { client async throws in
                    let error = await failure { _ = try await client.get("https://media.test:1/") }
                    #expect(error?.code == code)
                    #expect(error?.message.contains("roxy \(kind)://127.0.0.1:\(proxy.port)") == true)
                }
            }
        }
    }

    @Test("An origin that the proxy does not reach, and a proxy that is not there", arguments: kinds)
    func unreachable(kind: String) async throws {
        try await TestProxy.run { proxy async throws in
            try await withClient(of: proxy, kind) { client async throws in
                // A port of loopback on which nothing listens.
                let error = await failure { _ = try await client.get("https://media.test:1/") }
                #expect(error?.code == .originUnreachable)
                #expect(error?.message.contains("could not connect to media.test:1") == true)
            }
        }
        let missing = OutgoingProxies(try OutgoingProxy("\(kind)://127.0.0.1:1"))
        try await RepriseHTTPClientTests.withClient {
            $0.proxies = missing
        } _: { client async throws in
            let error = await failure { _ = try await client.get("http://media.test/") }
            #expect(error?.code == .originUnreachable)
            #expect(error?.message.contains("The proxy \(kind)://127.0.0.1:1 cannot be reached") == true)
        }
    }

    @Test("Hosts of NO_PROXY are asked directly") func exceptions() async throws {
        try await TestProxy.run { proxy async throws in
            try await withClient(of: proxy, "http", "media.invalid") { client async throws in
                #expect(await failureCode { try await client.get("http://media.invalid/") } == .originNotFound)
                #expect(proxy.connections == 0)
            }
        }
    }

    @Test(
        "The origin's address is judged, however it is written, and not the proxy's",
        arguments: ["http", "socks5", "socks5h"])
    func privateAddresses(kind: String) async throws {
        try await withOrigin { origin async throws in
            origin.set(.init(.pattern(seed: 1, length: 10)), at: "/a")
            try await TestProxy.run { proxy async throws in
                try await withClient(of: proxy, kind) {
                    $0.forbidsPrivateAddresses = true
                } _: { client async throws in
                    for host in [
                        "10.0.0.1", "[fd00::1]", "0xa000001", "167772161", "169.254.169.254", "[::ffff:10.0.0.1]",
                    ] {
                        let url = "http://\(host):\(origin.port)/a"
                        #expect(await failureCode { try await client.get(url) } == .originForbidden, "\(host)")
                    }
                    // This machine is asked directly, and judged as ever.
                    let own = await failureCode { try await client.get(origin.url("/a")) }
                    #expect(own == .originForbidden)
                    #expect(proxy.connections == 0)
                    let open = kind == "socks5" ? "8.8.8.8" : "media.test"
                    #expect(try await client.get("http://\(open):\(origin.port)/a").body.bytes().count == 10)
                }
            }
        }
    }
}
