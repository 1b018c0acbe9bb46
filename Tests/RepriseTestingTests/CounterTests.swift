import ByteRanges
import HTTPTypes
import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct CounterTests {
    @Test("Bytes that are sent twice are told from distinct ones")
    func distinctBytes() async throws {
        try await withClient { origin, client in
            for range in ["0-99", "50-149", "900-999", "50-149"] {
                _ = try await client.fetch("/a", ["Range: bytes=\(range)"])
            }
            let counters = await origin.settledSnapshot()["/a"]
            #expect(counters.requestCount == 4)
            #expect(counters.bodyBytesSent == 400)
            #expect(counters.distinctBytesSent == ByteRangeSet([0..<150, 900..<1000]))
            #expect(counters.bytesSentMoreThanOnce == 150)
        }
    }

    @Test("A new representation begins with no byte sent; another personality of the same one does not")
    func representations() async throws {
        try await withClient { origin, client in
            _ = try await client.fetch("/a", ["Range: bytes=0-99"])
            origin.set(.init(.pattern(seed: seed, length: length), personality: .init { $0.latency = .zero }), at: "/a")
            _ = try await client.fetch("/a", ["Range: bytes=0-9"])
            #expect(await origin.settledSnapshot()["/a"].bytesSentMoreThanOnce == 10)
            origin.set(.init(.pattern(seed: seed, length: length), etag: "\"v2\""), at: "/a")
            #expect(origin.snapshot["/a"].distinctBytesSent.isEmpty)
            _ = try await client.fetch("/a", ["Range: bytes=0-9"])
            let counters = await origin.settledSnapshot()["/a"]
            #expect(counters.distinctBytesSent == ByteRangeSet(0..<10))
            #expect(counters.bytesSentMoreThanOnce == 10)
        }
    }

    @Test("Error pages count as body bytes, but not as bytes of a representation")
    func errorPages() async throws {
        try await withClient { origin, client in
            let page = try await client.fetch("/nothing")
            let counters = await origin.settledSnapshot()["/nothing"]
            #expect(counters.bodyBytesSent == Int64(page.body.count))
            #expect(counters.distinctBytesSent.isEmpty)
            #expect(counters.bytesSentMoreThanOnce == 0)
        }
    }

    @Test("The log records requests and answers")
    func log() async throws {
        try await withClient { origin, client in
            _ = try await client.fetch("/a?b=c", ["Range: bytes=-10", "X-Test: 1"])
            _ = try await client.fetch("/other", method: "HEAD")
            let requests = await origin.settledSnapshot().requests
            #expect(requests.map(\.number) == [1, 2])
            #expect(requests.map(\.method) == ["GET", "HEAD"])
            #expect(requests.map(\.path) == ["/a", "/other"])
            #expect(requests.map(\.status) == [206, 404])
            #expect(requests.map(\.outcome) == [.finished, .finished])
            #expect(requests[0].target == "/a?b=c")
            #expect(requests[0].range == "bytes=-10")
            #expect(requests[0].requestedRange == 990..<1000)
            #expect(requests[0].fields.first { $0.name.canonicalName == "x-test" }?.value == "1")
        }
    }

    @Test("A query has a resource of its own if one was set")
    func queries() async throws {
        try await withClient { origin, client async throws in
            origin.set(.init(.bytes([5])), at: "/a?v=2")
            #expect(try await client.fetch("/a?v=2").body == [5])
            #expect(try await client.fetch("/a?v=3").body.count == 1000)
            #expect(origin.snapshot["/a?v=2"].requestCount == 1)
            #expect(origin.snapshot["/a"].requestCount == 1)
        }
    }

    @Test("Connections are counted while they are open")
    func connections() async throws {
        try await withOrigin { origin in
            let first = try await TestClient.connect(to: origin)
            let second = try await TestClient.connect(to: origin)
            await origin.waitUntil { $0.openConnections == 2 }
            await first.close()
            await origin.waitUntil { $0.openConnections == 1 }
            await second.close()
            let snapshot = await origin.waitUntil { $0.openConnections == 0 }
            #expect(snapshot.connectionsAccepted == 2)
        }
    }

    @Test("A reset empties the log and the sums, also in the middle of a response")
    func reset() async throws {
        try await withClient { origin, client in
            origin.hold("/a", at: 600)
            try await client.request("/a")
            await origin.waitUntil { $0.bodyBytesSent == 600 }
            origin.resetCounters()
            #expect(origin.snapshot.requestCount == 0)
            #expect(origin.snapshot.connectionsAccepted == 0)
            #expect(origin.snapshot.openConnections == 1)
            origin.release("/a")
            _ = try await client.response()
            let counters = await origin.settledSnapshot()["/a"]
            #expect(counters.requestCount == 0)
            #expect(counters.distinctBytesSent == ByteRangeSet(600..<1000))
            _ = try await client.fetch("/a")
            #expect(await origin.settledSnapshot()["/a"].requests.map(\.number) == [2])
        }
    }

    @Test("A wait ends when its task is canceled")
    func canceledWait() async throws {
        try await withOrigin { origin in
            let wait = Task { await origin.waitUntil { $0.requestCount >= 1000 } }
            wait.cancel()
            #expect(await wait.value.requestCount == 0)
        }
    }
}
