import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@Suite(.limit(minutes: 2)) struct EndlessTests {
    @Test func aClientThatLeavesAnEndlessBodyEndsIt() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/live", length: 1000) { $0.isEndless = true }
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/live"), [])
            #expect(try await client.head().status == 200)
            #expect(try await client.skip(Self.wanted) == Self.wanted)
            client.disconnect()
            await proxy.becomeIdle()
            let sent = await proxy.bench.origin.waitUntil { $0.responsesUnderWay == 0 }
            #expect(sent.requestCount == 1)
            #expect(sent.bodyBytesSent >= Int64(Self.wanted))
        }
    }

    private static let wanted = 5_000_000
}
