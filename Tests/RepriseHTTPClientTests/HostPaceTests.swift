import Foundation
import NIOCore
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseHTTPClient

/// The rate of a host, which all its bodies share.
@Suite(.limit(minutes: 1)) struct HostPaceTests {
    private static let piece = 1000
    private static let length: Int64 = 2_000_000

    /// A body of pieces of 1000 bytes that are all there.
    private final class Pieces: OriginBody {
        func next() async throws -> (any ByteChunk)? {
            ByteBufferChunk(ByteBuffer(repeating: 7, count: piece))
        }

        func cancel() {}
    }

    private static func paces(_ clock: ManualClock) -> HostPaces {
        HostPaces(
            rate: { $0 == "slow.test" ? Int64(piece) : $0.hasSuffix(".many.test") ? 1 : nil },
            clock: CacheClock(clock) { Date(timeIntervalSince1970: 0) })
    }

    @Test("Two bodies share the rate of their host: a piece a second, whichever pulls") func shared() async throws {
        let clock = ManualClock()
        let paces = Self.paces(clock)
        let first = paces.pacing(Pieces(), from: "slow.test")
        let second = paces.pacing(Pieces(), from: "slow.test")
        #expect(try await first.next()?.count == Self.piece, "the first piece at once")
        for body in [second, first, second] {
            async let count = body.next()?.count
            await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(999))
            #expect(clock.sleeperCount >= 1, "not yet")
            clock.advance(by: .milliseconds(1))
            #expect(try await count == Self.piece)
        }
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("Other hosts are as fast as they are") func others() async throws {
        let paces = Self.paces(ManualClock())
        let body = Pieces()
        #expect(paces.pacing(body, from: "fast.test") === body)
        #expect(paces.count == 0)
    }

    @Test("A body that is canceled waits no longer", arguments: [true, false]) func canceled(task: Bool) async throws {
        let clock = ManualClock()
        let body = Self.paces(clock).pacing(Pieces(), from: "slow.test")
        _ = try await body.next()
        let waiting = Task { try await body.next()?.count }
        await clock.waitForSleepers(1)
        if task { waiting.cancel() } else { body.cancel() }
        #expect(try await waiting.value == Self.piece, "what the body has by itself")
        #expect(clock.now.offset == .zero)
    }

    @Test("Hosts that owe nothing are forgotten when there are many") func forgotten() async throws {
        let clock = ManualClock()
        let paces = Self.paces(clock)
        _ = try await paces.pacing(Pieces(), from: "slow.test").next()
        for number in 0..<200 { _ = paces.pacing(Pieces(), from: "\(number).many.test") }
        #expect(paces.count <= 64)
        let body = paces.pacing(Pieces(), from: "slow.test")
        async let count = body.next()?.count
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await count == Self.piece, "what it owes is still known")
    }

    @Test("A client pulls the bodies of a host at its rate") func client() async throws {
        let clock = ManualClock()
        let origin = try await TestOrigin.start()
        origin.set(.init(.pattern(seed: 1, length: Self.length)), at: "/a")
        try await withClient {
            $0.rateOfHost = { $0 == "127.0.0.1" ? 100_000 : nil }
            $0.clock = CacheClock(clock) { Date(timeIntervalSince1970: 0) }
        } _: { client in
            let free = try await client.get("http://localhost:\(origin.port)/a").body
            #expect(try await free.bytes().count == Int(Self.length))
            #expect(clock.now.offset == .zero)
            let driver = Task {
                while !Task.isCancelled {
                    await clock.waitForSleepers(1)
                    clock.advance(by: .milliseconds(10))
                }
            }
            let bytes = try await client.get(origin.url("/a")).body.bytes()
            driver.cancel()
            #expect(bytes == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            // The last piece need not be earned.
            #expect(clock.now.offset >= .seconds(15))
            #expect(clock.now.offset < .seconds(21))
        }
        await origin.stop()
    }
}
