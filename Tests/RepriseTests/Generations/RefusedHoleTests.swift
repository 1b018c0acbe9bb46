import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A hole that the origin refuses: players that retry at once do not hammer it.
@Suite(.limit(minutes: 1)) struct RefusedHoleTests {
    @Test(arguments: [(503, 1), (404, 5)])
    func aRefusalAnswersForAWhile(status: Int, seconds: Int64) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            $0.retry.refusals = 0
        }) { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a", .bounded(0..<100_000))
            bench.publish("/a", length: 300_000) { $0.status = status }
            let before = bench.origin.snapshot.requestCount
            for _ in 0..<5 {
                await #expect {
                    _ = try await bench.bytes("/a", .bounded(150_000..<160_000))
                } throws: {
                    ($0 as? RepriseError)?.refusal?.head.status.code == status
                }
            }
            #expect(bench.origin.snapshot.requestCount == before + 1)
            // Stored bytes are still served.
            #expect(try await bench.bytes("/a", .bounded(0..<1000)).count == 1000)
            bench.publish("/a", length: 300_000)
            clock.shift(by: .seconds(seconds))
            #expect(try await bench.bytes("/a", .bounded(150_000..<160_000)).count == 10_000)
        }
    }
}
