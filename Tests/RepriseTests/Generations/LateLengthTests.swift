import HTTPSemantics
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// An origin that does not state the length until a request beyond the end: `Content-Range: bytes 0-9/*`, then 416.
@Suite(.limit(minutes: 1)) struct LateLengthTests {
    private static let length: Int64 = 100_000

    private func run(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length) {
                ($0.statedLength, $0.fields[.cacheControl]) = (.unknown, "max-age=60")
            }
            _ = try await bench.bytes("/a", .bounded(0..<1000))
            try await body(bench)
        }
    }

    @Test("416 states the length if it was unknown (RFC 9110 §15.5.17)")
    func aReadToTheEndEndsThere() async throws {
        try await run { bench async throws in
            #expect(
                try await bench.bytes("/a", .from(500)) == TestPattern.bytes(in: 500..<Self.length, seed: 1))
            let sent = await bench.origin.settledSnapshot()
            #expect(sent["/a"].bodyBytesSent == Self.length)
            // The length is known now, and the stored bytes are still there.
            #expect(try await bench.bytes("/a", .suffix(10)) == TestPattern.bytes(in: 99_990..<Self.length, seed: 1))
            #expect(await bench.origin.settledSnapshot().requestCount == sent.requestCount)
        }
    }

    @Test func aReadThatEndsBeyondTheEndIsCut() async throws {
        try await run { bench async throws in
            let bytes = try await bench.bytes("/a", .bounded(99_000..<200_000))
            #expect(bytes == TestPattern.bytes(in: 99_000..<Self.length, seed: 1))
        }
    }

    @Test func aReadThatBeginsBeyondTheEndFailsAndCostsNothingStored() async throws {
        try await run { bench async throws in
            await #expect {
                _ = try await bench.bytes("/a", .from(150_000))
            } throws: {
                ($0 as? RepriseError)?.code == .rangeNotSatisfiable
            }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            #expect(await resource.storedProgress().ranges.contains(0..<1000))
            #expect(resource.storedInMemory()?.information.completeLength == Self.length)
        }
    }

    @Test func twoReadsBeyondTheEndAtOnceCostNothingStored() async throws {
        try await run { bench async throws in
            bench.origin.holdHeads("/a")
            try await withThrowingTaskGroup(of: RepriseError.Code?.self) { group in
                for start in [150_000, 250_000] as [Int64] {
                    group.addTask {
                        do { _ = try await bench.bytes("/a", .from(start)) } catch {
                            return (error as? RepriseError)?.code
                        }
                        return nil
                    }
                }
                await bench.origin.waitUntil { $0.requestCount >= 3 }
                bench.origin.release("/a")
                for try await code in group { #expect(code == .rangeNotSatisfiable) }
            }
            #expect(try await bench.bytes("/a", .bounded(0..<1000)) == TestPattern.bytes(in: 0..<1000, seed: 1))
            #expect(await bench.origin.settledSnapshot().requestCount == 3)
        }
    }
}
