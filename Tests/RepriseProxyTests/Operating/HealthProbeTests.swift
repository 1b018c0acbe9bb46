import Logging
import NIOCore
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// What supervisors and balancers are told.
@Suite(.limit(minutes: 1)) struct HealthProbeTests {
    @Test(
        arguments: [
            ("/-/live", HealthProbe.live), ("/-/ready", .ready), ("/-/LIVE", nil), ("/-/live/", nil), ("/-/live?", nil),
            ("/-/readyz", nil), ("/live", nil), ("/-/lives", nil),
        ] as [(String, HealthProbe?)])
    func onlyTheTwoPathsAreProbes(target: String, expected: HealthProbe?) throws {
        var parser = RequestParser()
        parser.append(.init(string: "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        let head = try #require(try parser.next())
        #expect(HealthProbe(head) == expected)
    }

    @Test(arguments: ["/-/live", "/-/ready"])
    func anyHostAndNoTokenWillDo(target: String) async throws {
        let setUp: (inout ProxyConfiguration) -> Void = { $0.token = "secret" }
        try await ProxyBench.run(configureProxy: setUp) { proxy async throws in
            let client = try RawClient(port: proxy.server.port)
            try await client.send("GET \(target) HTTP/1.1\r\nHost: balancer.example\r\n\r\n")
            let head = try await client.head()
            #expect(head.status == 200)
            #expect(head.fields["cache-control"] == "no-store")
            let text = try await client.body(try #require(head.length))
            #expect(String(decoding: text, as: UTF8.self) == (target == "/-/live" ? "ok\n" : "ready\n"))
            // The connection goes on, and everything else still needs the token.
            try await client.send(
                "HEAD \(target) HTTP/1.1\r\nHost: x\r\n\r\nPOST \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await client.head().status == 200)
            #expect(try await client.head().status == 401)
        }
    }

    @Test func aStoreThatCannotBeUsedIsReadyAndSaysSo() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        // No user can make a directory below a file, not even root.
        let place = try directory.write([], to: "file") + "/cache"
        let cache = MediaCache.withoutStore(
            origin: CannotConnect(), configuration: .init(),
            because: RepriseError(.storageUnavailable, "\(place) is no directory."))
        var configuration = ProxyConfiguration()
        configuration.logger.logLevel = .critical
        let server = try await ProxyServer.start(cache, configuration: configuration)
        let answer = try await RawClient.exchange(port: server.port, "/-/ready")
        #expect(answer.head.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == "degraded\n")
        await cache.close()
        let closed = try await RawClient.exchange(port: server.port, "/-/ready")
        #expect(closed.head.status == 503)
        #expect(try await RawClient.exchange(port: server.port, "/-/live").head.status == 200)
        await server.stop()
    }

    @Test func tooManyConnectionsAreNoReasonToCallTheServerDead() async throws {
        try await ProxyBench.run(configureProxy: { $0.maximumConnections = 1 }) { proxy async throws in
            let first = try RawClient(port: proxy.server.port)
            try await first.get("/-/live")
            #expect(try await first.head().status == 200)
            let surplus = try RawClient(port: proxy.server.port)
            try await surplus.get("/-/live")
            let head = try await surplus.head()
            #expect(head.status == 200)
            #expect(head.fields["connection"] == "close")
            let refused = try await RawClient.exchange(port: proxy.server.port, proxy.target("/film")).head
            #expect(refused.status == 503)
            #expect(refused.fields["retry-after"] != nil)
        }
    }

    private struct CannotConnect: Origin {
        func send(_ request: OriginRequest) async throws -> OriginResponse {
            throw RepriseError(.originUnreachable, "There is no network.")
        }
    }
}
