import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A body without end, as in live streams: read as far as wanted, kept within the limit, left without a trace.
@Suite(.limit(minutes: 2)) struct EndlessTests {
    /// Less than what is read, and none at all.
    @Test(arguments: [3_000_000, 9_000_000, nil] as [Int64?])
    func anEndlessBodyIsReadAndLeft(limit: Int64?) async throws {
        try await Bench.run(configure: { if let limit { $0.limit = limit } }) { bench async throws in
            bench.publish("/live", length: 1000) { $0.isEndless = true }
            let read = try await bench.cache.resource(for: bench.origin.url("/live")).read()
            #expect(read.end == nil)
            var position: Int64 = 0
            while position < Self.wanted, let piece = try await read.next() {
                let range = position..<position + Int64(piece.count)
                let isRight = try piece.bytes() == TestPattern.bytes(in: range, seed: 1)
                #expect(isRight, "\(range)")
                position = range.upperBound
            }
            #expect(position >= Self.wanted)
            read.cancel()
            await bench.cache.becomeIdle()
            let sent = await bench.origin.waitUntil { $0.responsesUnderWay == 0 }
            // The origin got no further ahead of the reader than a lead and the contents of the kernels.
            #expect(sent.bodyBytesSent < position + Self.mostAhead)
            let allocated = bench.cache.allocatedBytes
            #expect(allocated.media + allocated.index <= (limit ?? .max / 2) + Self.excess)
            #expect(limit != nil || bench.cache.storedBytes >= position)
        }
    }

    private static let wanted: Int64 = 5_000_000
    private static let mostAhead: Int64 = 8 << 20
    /// By how much a limit may be exceeded.
    private static let excess: Int64 = 1 << 20
}
