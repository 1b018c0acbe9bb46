import Foundation
import NIOCore
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The rate of a token, which all answers to those who use it share.
@Suite(.limit(minutes: 1)) struct TokenPaceTests {
    private static let length: Int64 = 3 << 20

    private static func clock(_ manual: ManualClock) -> CacheClock {
        CacheClock(manual) { Date(timeIntervalSince1970: 1_700_000_000) }
    }

    private static func piece(_ count: Int) -> MediaPiece {
        .memory(ByteBufferChunk(ByteBuffer(repeating: 7, count: count)))
    }

    @Test("Two answers share the rate: 1000 bytes a second, whichever comes; a new rate holds from the next piece")
    func shared() async throws {
        let manual = ManualClock()
        let (clock, pace) = (Self.clock(manual), TokenPace())
        let first = try await pace.piece(at: 1000, by: clock) { Self.piece(1000) }
        #expect(first?.count == 1000, "the first piece at once")
        for (rate, seconds) in [(1000, 1), (1000, 1), (500, 2)] as [(Int64, Int)] {
            async let piece = pace.piece(at: rate, by: clock) { Self.piece(1000) }
            await manual.waitForSleepers(1)
            manual.advance(by: .seconds(seconds) - .milliseconds(1))
            let isWaiting = manual.sleeperCount == 1
            #expect(isWaiting)
            manual.advance(by: .milliseconds(1))
            let count = try await piece?.count
            #expect(count == 1000)
        }
    }

    @Test("An answer that ends while it waits owes nothing") func canceled() async throws {
        let manual = ManualClock()
        let (clock, pace) = (Self.clock(manual), TokenPace())
        _ = try await pace.piece(at: 1000, by: clock) { Self.piece(1000) }
        let waiting = Task { try await pace.piece(at: 1000, by: clock) { Self.piece(1000) } }
        await manual.waitForSleepers(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        async let piece = pace.piece(at: 1000, by: clock) { nil }
        await manual.waitForSleepers(1)
        manual.advance(by: .seconds(1))
        let last = try await piece
        #expect(last == nil)
    }

    @Test(
        "A piece is what a tenth of a second brings, at least 4 KiB and at most 1 MiB",
        arguments: [(1000, 4096), (125_000, 12_500), (1 << 20, 104_857), (200 << 20, 1 << 20)] as [(Int64, Int)])
    func pieces(rate: Int64, count: Int) { #expect(TokenPace.largestPiece(at: rate) == count) }

    @Test("At 1 Mbit some bytes come ten times a second") func noSilence() async throws {
        let manual = ManualClock()
        let (rate, length) = (Int64(125_000), Int64(300_000))
        try await ProxyBench.run(configureProxy: {
            $0.clock = Self.clock(manual)
            $0.tokens = [AccessToken("annas-token", name: "anna", mayControl: false, rate: rate)]
        }) { proxy async throws in
            proxy.bench.publish("/a", length: length)
            _ = try await proxy.bench.bytes("/a")
            let others = manual.sleeperCount
            let client = try RawClient(port: proxy.server.port)
            try await client.get("/annas-token" + proxy.target("/a"))
            let status = try await client.head().status
            #expect(status == 200)
            var body: [UInt8] = []
            while body.count < Int(length) {
                // The bytes of the next tenth of a second wait for it, and no others.
                let count = min(12_500, Int(length) - body.count)
                body += try await client.body(count)
                guard body.count < Int(length) else { break }
                await manual.waitForSleepers(others + 1)
                manual.advance(by: .milliseconds(100))
            }
            #expect(body == TestPattern.bytes(in: 0..<length, seed: 1))
        }
    }

    @Test("A stored file is sent at the rate of the token, and at once with another") func stored() async throws {
        let manual = ManualClock()
        try await ProxyBench.run(configureProxy: {
            $0.clock = Self.clock(manual)
            $0.tokens = [
                AccessToken("annas-token", name: "anna", mayControl: false, rate: 1 << 20),
                AccessToken("bertas-token", name: "berta", mayControl: false),
            ]
        }) { proxy async throws in
            proxy.bench.publish("/a", length: Self.length)
            let (port, target) = (proxy.server.port, proxy.target("/a"))
            for _ in 0..<2 {
                let fast = try await RawClient.exchange(port: port, "/bertas-token" + target).body
                #expect(fast.count == Int(Self.length))
            }
            let others = manual.sleeperCount
            let slow = Task { try await RawClient.exchange(port: port, "/annas-token" + target).body }
            await manual.waitForSleepers(others + 1)
            let driver = Task {
                while !Task.isCancelled {
                    await manual.waitForSleepers(1)
                    manual.advance(by: .milliseconds(100))
                }
            }
            let body = try await slow.value
            driver.cancel()
            #expect(body == TestPattern.bytes(in: 0..<Self.length, seed: 1))
        }
    }
}
