import ByteRanges
import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct GateTests {
    @Test("A body stops exactly before the offset that is held, and goes on when released")
    func hold() async throws {
        try await withClient { origin, client in
            origin.hold("/a", at: 333)
            try await client.request("/a")
            await origin.waitUntil { $0["/a"].bodyBytesSent == 333 }
            #expect(await origin.settledSnapshot()["/a"].distinctBytesSent == .init(0..<333))
            origin.release("/a")
            #expect(try await client.response().body == expected(0..<1000))
        }
    }

    @Test("The offset is the representation's: a range that begins there sends nothing, one beyond it everything")
    func holdIsInTheRepresentation() async throws {
        try await withClient { origin, client in
            origin.hold("/a", at: 500)
            #expect(try await client.fetch("/a", ["Range: bytes=501-600"]).body == expected(501..<601))
            #expect(try await client.fetch("/a", ["Range: bytes=400-499"]).body == expected(400..<500))
            try await client.request("/a", ["Range: bytes=500-509"])
            await origin.waitUntil { $0.requests.last?.status == 206 && $0.requestCount >= 3 }
            #expect(await origin.settledSnapshot()["/a"].requests[2].bodyBytesSent == 0)
            origin.release("/a")
            #expect(try await client.response().body == expected(500..<510))
        }
    }

    @Test("Bodies stop when they have sent what is allowed, and go on when more is")
    func allowance() async throws {
        try await withClient { origin, client in
            origin.allow(333)
            try await client.request("/a")
            await origin.waitUntil { $0.bodyBytesSent == 333 }
            #expect(await origin.settledSnapshot()["/a"].distinctBytesSent == .init(0..<333))
            origin.allow(300)
            await origin.waitUntil { $0.bodyBytesSent == 633 }
            #expect(await origin.settledSnapshot()["/a"].distinctBytesSent == .init(0..<633))
            origin.allow(nil)
            #expect(try await client.response().body == expected(0..<1000))
        }
    }

    @Test("Several offsets are released one by one")
    func severalOffsets() async throws {
        try await withClient { origin, client in
            for offset in [200, 400, 600] as [Int64] { origin.hold("/a", at: offset) }
            try await client.request("/a")
            for offset in [200, 400, 600] as [Int64] {
                await origin.waitUntil { $0.bodyBytesSent == offset }
                #expect(await origin.settledSnapshot().bodyBytesSent == offset)
                origin.release("/a", at: offset)
            }
            #expect(try await client.response().isComplete)
        }
    }

    @Test("Heads are kept back while everything else is under way")
    func holdHeads() async throws {
        try await withOrigin { origin in
            origin.holdHeads("/a")
            let clients = [try await TestClient.connect(to: origin), try await TestClient.connect(to: origin)]
            for client in clients { try await client.request("/a") }
            await origin.waitUntil { $0.requestCount >= 2 }
            #expect(await origin.settledSnapshot().requests.allSatisfy { $0.status == nil })
            origin.release("/a")
            for client in clients { #expect(try await client.response().body == expected(0..<1000)) }
        }
    }

    @Test("A gate holds its own path only")
    func otherPaths() async throws {
        try await withClient { origin, client async throws in
            origin.set(.init(.bytes([9])), at: "/b")
            origin.holdHeads("/a")
            origin.hold("/a", at: 0)
            #expect(try await client.fetch("/b").body == [9])
        }
    }

    @Test("A client that leaves during a hold is counted with the bytes it received")
    func abortWhileHeld() async throws {
        try await withClient { origin, client in
            origin.hold("/a", at: 100)
            try await client.request("/a")
            await origin.waitUntil { $0.bodyBytesSent == 100 }
            await client.close()
            let snapshot = await origin.waitUntil { $0.openConnections == 0 }
            #expect(snapshot.requests.first?.outcome == .aborted)
            #expect(snapshot.bodyBytesSent == 100)
            origin.release("/a")
        }
    }
}
