import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct BrokenConnectionTests {
    @Test("A truncated body ends with FIN after exactly so many bytes")
    func truncated() async throws {
        try await withClient(.init { $0.truncateAfter = 300 }) { origin, client in
            let response = try await client.fetch("/a")
            #expect(response["Content-Length"] == "1000")
            #expect(response.body == expected(0..<300))
            #expect(!response.isComplete)
            #expect(await client.waitForEnd().connection == .closed)
            let request = try #require(origin.snapshot.requests.first)
            #expect(request.outcome == .cut)
            #expect(request.bodyBytesSent == 300)
        }
    }

    @Test("A chunked body can be truncated between chunks, without its end")
    func truncatedChunks() async throws {
        let personality = TestOrigin.Personality {
            $0.framing = .chunked
            $0.truncateAfter = 300
        }
        try await withClient(personality) { _, client in
            let response = try await client.fetch("/a")
            #expect(response.body == expected(0..<300))
            #expect(!response.isComplete)
        }
    }

    @Test("A body that is not longer than the cut is complete")
    func notTruncated() async throws {
        try await withClient(.init { $0.truncateAfter = 1000 }) { origin, client async throws in
            #expect(try await client.fetch("/a").isComplete)
            #expect(await origin.settledSnapshot().requests.first?.outcome == .finished)
        }
    }

    @Test("A reset body ends with RST; the client has at most the bytes before")
    func reset() async throws {
        try await withClient(.init { $0.resetAfter = 300 }) { origin, client in
            try await client.request("/a")
            let inbox = await client.waitForEnd()
            #expect(inbox.connection == .reset)
            #expect(origin.snapshot.requests.first?.bodyBytesSent == 300)
            #expect(origin.snapshot.requests.first?.outcome == .cut)
            guard let response = WireResponse.take(from: inbox.bytes, isHead: false, isOver: true)?.0 else { return }
            #expect(expected(0..<300).starts(with: response.body))
        }
    }

    @Test("A connection can be reset between head and body")
    func resetBeforeBody() async throws {
        try await withClient(.init { $0.resetBeforeBody = true }) { origin, client in
            try await client.request("/a")
            #expect(await client.waitForEnd().connection == .reset)
            #expect(origin.snapshot.requests.first?.status == 200)
            #expect(origin.snapshot.bodyBytesSent == 0)
        }
    }

    @Test("A connection can be reset instead of an answer")
    func resetBeforeHead() async throws {
        try await withClient(.init { $0.resetBeforeHead = true }) { origin, client in
            try await client.request("/a")
            let inbox = await client.waitForEnd()
            #expect(inbox.connection == .reset)
            #expect(inbox.bytes.isEmpty)
            #expect(origin.snapshot.requests.first?.status == nil)
        }
    }

    @Test("Input that is not HTTP gets 400, and the connection closes")
    func garbage() async throws {
        try await withClient { _, client in
            try await client.send("HELLO\r\n\r\n")
            #expect(try await client.response().status == 400)
            #expect(await client.waitForEnd().connection == .closed)
        }
    }
}
