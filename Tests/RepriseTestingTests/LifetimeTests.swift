import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct LifetimeTests {
    @Test("A stop closes every connection and may be repeated")
    func stop() async throws {
        let origin = try await TestOrigin.start()
        origin.set(.init(.pattern(seed: seed, length: length)), at: "/a")
        origin.hold("/a", at: 10)
        let client = try await TestClient.connect(to: origin)
        try await client.request("/a")
        await origin.waitUntil { $0.bodyBytesSent == 10 }
        await origin.stop()
        #expect(await client.waitForEnd().connection != .open)
        #expect(origin.snapshot.openConnections == 0)
        #expect(origin.snapshot.requests.first?.outcome == .aborted)
        await origin.stop()
        #if os(Linux)
            // Elsewhere another test may listen there by now.
            await #expect(throws: (any Error).self) { try await TestClient.connect(to: origin) }
        #endif
    }

    @Test("Origins do not share ports, paths or counters")
    func severalOrigins() async throws {
        try await withClient { origin, client in
            try await withOrigin { other in
                #expect(other.port != origin.port)
                #expect(other.url("/a") == "http://127.0.0.1:\(other.port)/a")
                _ = try await client.fetch("/a")
                #expect(other.snapshot.requestCount == 0)
            }
        }
    }

    @Test("A temporary directory is empty, its own, and removed when it is released")
    func temporaryDirectory() throws {
        var first: TemporaryDirectory? = try TemporaryDirectory()
        let second = try TemporaryDirectory()
        let path = try #require(first?.path)
        #expect(path != second.path)
        let file = try first?.write([1, 2, 3], to: "a")
        #expect(TestOrigin.Content.file(path: try #require(file)).length == 3)
        first = nil
        #expect(TestOrigin.Content.file(path: path + "/a").length == nil)
        second.remove()
        second.remove()
    }
}
