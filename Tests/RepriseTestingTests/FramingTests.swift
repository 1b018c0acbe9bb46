import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct FramingTests {
    @Test("A chunked body has no length and comes whole (RFC 9112 §7.1)")
    func chunked() async throws {
        try await withClient(.init { $0.framing = .chunked }, length: 200_000) { origin, client in
            let response = try await client.fetch("/a")
            #expect(response["Transfer-Encoding"] == "chunked")
            #expect(response["Content-Length"] == nil)
            #expect(response.body == expected(0..<200_000))
            #expect(response.isComplete)
            #expect(try await client.fetch("/a", ["Range: bytes=3-5"]).body == expected(3..<6))
            // The framing of chunks does not count.
            #expect(await origin.settledSnapshot()["/a"].bodyBytesSent == 200_003)
        }
    }

    @Test("A body without any length ends with the connection (RFC 9112 §6.3)")
    func closeDelimited() async throws {
        try await withClient(.init { $0.framing = .closeDelimited }) { _, client in
            let response = try await client.fetch("/a")
            #expect(response["Content-Length"] == nil)
            #expect(response["Connection"] == "close")
            #expect(response.body == expected(0..<1000))
            #expect(await client.waitForEnd().connection == .closed)
        }
    }

    @Test("An HTTP/1.0 client gets no chunks, and its connection is closed (RFC 9112 §7)")
    func oldClient() async throws {
        try await withClient(.init { $0.framing = .chunked }) { _, client in
            try await client.send("GET /a HTTP/1.0\r\n\r\n")
            let response = try await client.response()
            #expect(response["Transfer-Encoding"] == nil)
            #expect(response.body == expected(0..<1000))
        }
    }

    @Test("Keep-alive can be refused by either side")
    func connectionClose() async throws {
        try await withClient { origin, client in
            #expect(try await client.fetch("/a")["Connection"] == nil)
            #expect(try await client.fetch("/a", ["Connection: close"])["Connection"] == "close")
            #expect(await client.waitForEnd().connection == .closed)
            origin.set(.init(.bytes([1]), personality: .init { $0.keepsAlive = false }), at: "/once")
            let other = try await TestClient.connect(to: origin)
            #expect(try await other.fetch("/once")["Connection"] == "close")
            #expect(await other.waitForEnd().connection == .closed)
        }
    }

    @Test("Content-Length can promise more bytes than are sent")
    func wrongContentLength() async throws {
        let personality = TestOrigin.Personality {
            $0.statedContentLength = 1500
            $0.keepsAlive = false
        }
        try await withClient(personality) { _, client in
            let response = try await client.fetch("/a")
            #expect(response["Content-Length"] == "1500")
            #expect(response.body == expected(0..<1000))
            #expect(!response.isComplete)
        }
    }

    @Test("More bytes can be sent than Content-Length says")
    func surplus() async throws {
        let personality = TestOrigin.Personality {
            $0.surplusBytes = 20
            $0.keepsAlive = false
        }
        try await withClient(personality) { _, client in
            try await client.request("/a")
            let bytes = await client.waitForEnd().bytes
            #expect(bytes.suffix(20) == Array(repeating: UInt8(ascii: "."), count: 20))
            #expect(Array(bytes.dropLast(20).suffix(1000)) == expected(0..<1000))
        }
    }

    @Test("An endless body goes on beyond the content's length")
    func endless() async throws {
        try await withClient(.init { $0.isEndless = true }) { origin, client in
            try await client.request("/a", ["Range: bytes=0-"])
            let inbox = await client.wait { $0.bytes.count > 300_000 }
            #expect(String(decoding: inbox.bytes.prefix(15), as: UTF8.self) == "HTTP/1.1 200 OK")
            await client.close()
            let snapshot = await origin.waitUntil { $0.requests.first?.outcome == .aborted }
            #expect(snapshot.bodyBytesSent > 1000)
        }
    }

    @Test("Endless bytes begin again at their end")
    func endlessBytes() async throws {
        try await withClient { origin, client async throws in
            let personality = TestOrigin.Personality {
                $0.isEndless = true
                $0.framing = .closeDelimited
                $0.truncateAfter = 10
            }
            origin.set(.init(.bytes([1, 2, 3, 4]), personality: personality), at: "/loop")
            #expect(try await client.fetch("/loop").body == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2])
            #expect(origin.snapshot["/loop"].bytesSentMoreThanOnce == 6)
        }
    }

    @Test("A client that asks for ICY metadata gets it between the bytes; another does not")
    func icyMetadata() async throws {
        let personality = TestOrigin.Personality {
            $0.icyInterval = 400
            $0.icyTitle = "Song"
        }
        try await withClient(personality) { _, client in
            #expect(try await client.fetch("/a").body == expected(0..<1000))
            let response = try await client.fetch("/a", ["Icy-MetaData: 1"])
            let title = Array("StreamTitle='Song';".utf8)
            let block = [2] + title + [UInt8](repeating: 0, count: 32 - title.count)
            #expect(response["icy-metaint"] == "400")
            #expect(response.body == expected(0..<400) + block + expected(400..<800) + block + expected(800..<1000))
        }
    }
}
