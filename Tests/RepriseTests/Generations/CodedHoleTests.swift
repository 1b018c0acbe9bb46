import ByteRanges
import HTTPSemantics
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// An origin that encodes its content for a while, so that it cannot be stored.
@Suite(.limit(minutes: 1)) struct CodedHoleTests {
    @Test func aHoleIsStoredOnceItCanBe() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.publish("/a", length: 10_000)
            _ = try await bench.bytes("/a", .bounded(0..<1000))
            bench.publish("/a", length: 10_000) { $0.contentEncoding = "gzip" }
            await #expect(throws: RepriseError.self) { try await bench.bytes("/a", .bounded(2000..<3000)) }
            bench.publish("/a", length: 10_000)
            clock.shift(by: .seconds(10))
            #expect(
                try await bench.bytes("/a", .bounded(2000..<3000)) == TestPattern.bytes(in: 2000..<3000, seed: 1))
            let stored = try await bench.cache.resource(for: bench.origin.url("/a")).storedProgress().ranges
            #expect(stored == ByteRangeSet([0..<1000, 2000..<3000]))
        }
    }
}
