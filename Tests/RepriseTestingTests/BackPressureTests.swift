import NIOCore
import TestLimits
import Testing

@testable import RepriseTesting

@Suite(.limit(minutes: 1))
struct BackPressureTests {
    private static let size: Int64 = 64 << 20

    /// The number of bytes sent once it has not changed for many turns of the origin's event loop.
    private func settled(_ origin: TestOrigin) async -> Int64 {
        var last: Int64 = -1
        var turns = 0
        while turns < 200 {
            let sent = await origin.settledSnapshot().bodyBytesSent
            turns = sent == last ? turns + 1 : 0
            last = sent
        }
        return last
    }

    @Test("A client that does not read stops the origin; nothing beyond one slice is made in advance")
    func clientThatDoesNotRead() async throws {
        try await withOrigin(length: Self.size, sendBufferSize: 32_768) { origin in
            let client = try await TestClient.connect(to: origin, reads: false, receiveBufferSize: 32_768)
            try await client.request("/a")
            await origin.waitUntil { $0.bodyBytesSent > 0 }
            let sent = await settled(origin)
            #expect(sent < 1 << 20)
            #expect(origin.snapshot.requests.first?.outcome == .underWay)
            let channel = try #require(origin.state.openChannels.first)
            let pending = try await channel.getOption(.bufferedWritableBytes).get()
            #expect((1...65_536).contains(pending))

            // However late it closes, the body does not end before.
            origin.hold("/a", at: sent + (1 << 20))
            try await client.channel.setOption(.autoRead, value: true).get()
            await origin.waitUntil { $0.bodyBytesSent >= sent + (1 << 20) }
            await client.close()
            let snapshot = await origin.waitUntil { $0.openConnections == 0 }
            #expect(snapshot.requests.first?.outcome == .aborted)
        }
    }

    @Test("A client that does not read does not hold up another")
    func twoClients() async throws {
        try await withOrigin(length: Self.size) { origin in
            let slow = try await TestClient.connect(to: origin, reads: false)
            try await slow.request("/a")
            await origin.waitUntil { $0.bodyBytesSent > 0 }
            let fast = try await TestClient.connect(to: origin)
            #expect(try await fast.fetch("/a", ["Range: bytes=-1000"]).body == expected(Self.size - 1000..<Self.size))
            await slow.close()
            await fast.close()
        }
    }
}
