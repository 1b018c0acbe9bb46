import TestLimits
import Testing

@testable import RepriseTesting

@Suite(.limit(minutes: 1))
struct TimingTests {
    private let clock = ContinuousClock()

    @Test("The head is delayed by the latency")
    func latency() async throws {
        try await withClient(.init { $0.latency = .milliseconds(30) }) { _, client in
            let time = try await clock.measure { _ = try await client.fetch("/a") }
            #expect(time >= .milliseconds(30))
        }
    }

    @Test("A client that leaves during the latency is never answered")
    func abortDuringLatency() async throws {
        try await withClient(.init { $0.latency = .seconds(3600) }) { origin, client in
            try await client.request("/a")
            await origin.waitUntil { $0.requestCount >= 1 }
            await client.close()
            let request = await origin.waitUntil { $0.openConnections == 0 }.requests.first
            #expect(request?.outcome == .aborted)
            #expect(request?.status == nil)
        }
    }

    @Test("A paced body is sent over time in small slices")
    func pacing() async throws {
        let personality = TestOrigin.Personality {
            $0.bytesPerSecond = 10_000
            $0.firstChunk = 400
        }
        try await withClient(personality) { _, client async throws in
            let start = clock.now
            #expect(try await client.fetch("/a").body == expected(0..<1000))
            let time = start.duration(to: clock.now)
            // 600 bytes after the first 400, in three slices of 200; the first of these goes at once or with the 400.
            #expect(time >= .milliseconds(40))
        }
    }

    @Test("Nothing more is sent after a stall until it is released")
    func stall() async throws {
        try await withClient(.init { $0.stallAfter = 250 }) { origin, client in
            try await client.request("/a")
            await origin.waitUntil { $0.bodyBytesSent == 250 }
            #expect(await origin.settledSnapshot().bodyBytesSent == 250)
            #expect(origin.snapshot.requests.first?.outcome == .underWay)
            origin.release("/a")
            #expect(try await client.response().body == expected(0..<1000))
        }
    }

    @Test("Each response stalls again")
    func stallAgain() async throws {
        try await withClient(.init { $0.stallAfter = 250 }) { origin, client in
            for round in 1...3 {
                try await client.request("/a")
                await origin.waitUntil { $0.bodyBytesSent == Int64(round - 1) * 1000 + 250 }
                origin.release("/a")
                #expect(try await client.response().body == expected(0..<1000))
            }
        }
    }
}
