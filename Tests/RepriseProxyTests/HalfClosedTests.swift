import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Clients that close their side, or leave (RFC 9112 §9.6).
@Suite(.limit(minutes: 1)) struct HalfClosedTests {
    /// The final head: interim ones are skipped (RFC 9110 §15.2).
    private static func finalHead(_ client: RawClient) async throws -> RawClient.Head {
        var head = try await client.head()
        while head.status < 200 { head = try await client.head() }
        return head
    }

    @Test("a client that closes its side after its request gets its answer", arguments: [true, false])
    func answered(isStored: Bool) async throws {
        try await ProxyBench.run { proxy async throws in
            let length: Int64 = 9 << 20
            proxy.bench.publish("/a", length: length)
            if isStored { _ = try await proxy.bench.bytes("/a") }
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/a"))
            client.finishSending()
            #expect(try await Self.finalHead(client).length == Int(length))
            let isRight = try await client.body(Int(length)) == TestPattern.bytes(in: 0..<length, seed: 1)
            #expect(isRight)
            #expect(try await client.upTo(1).isEmpty, "then the connection ends")
        }
    }

    @Test("so does a client that waits for an origin")
    func answeredAfterAWait() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            proxy.bench.origin.holdHeads("/a")
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/a"))
            client.finishSending()
            // Every client has to ignore it, and only the kernel of a client that has left rejects it.
            #expect(try await client.head().status == 100)
            proxy.bench.origin.release("/a")
            #expect(try await client.head().status == 200)
            #expect(try await client.body(1000) == TestPattern.bytes(in: 0..<1000, seed: 1))
        }
    }

    @Test("pipelined requests of a client that closed its side are all answered")
    func pipelined() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 100_000)
            let client = try RawClient(port: proxy.server.port)
            for _ in 0..<20 { try await client.get(proxy.target("/a"), ["Range: bytes=10-19"]) }
            client.finishSending()
            for _ in 0..<20 {
                #expect(try await Self.finalHead(client).status == 206)
                #expect(try await client.body(10) == TestPattern.bytes(in: 10..<20, seed: 1))
            }
            #expect(try await client.upTo(1).isEmpty)
        }
    }

    @Test("a client that leaves while the proxy waits for the origin is noticed before the origin answers")
    func left() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            proxy.bench.origin.holdHeads("/a")
            var client: RawClient? = try RawClient(port: proxy.server.port)
            try await client?.get(proxy.target("/a"))
            await eventually { proxy.server.answersUnderWay > 0 }
            client = nil
            await eventually { proxy.server.connections == 0 }
            proxy.bench.origin.release("/a")
            await proxy.becomeIdle()
        }
    }
}
