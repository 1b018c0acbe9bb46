import Foundation
import HTTPSemantics
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// The cost of the index: transactions and bytes.
@Suite(.limit(minutes: 2)) struct IndexCostTests {
    @Test func readsCostNoTransactionAndABatchCostsOne() async throws {
        // Batches and last uses are written when the test says so, however slow the machine is.
        let clock = ManualClock()
        try await Bench.run(configure: {
            $0.recordDelay = .seconds(3600)
            $0.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) }
        }) { bench async throws in
            bench.publish("/a", length: 2_000_000)
            bench.publish("/b", length: 2_000_000)
            _ = try await bench.bytes("/a")
            let store = try #require(bench.cache.engine.store)
            await store.recorder.flush()
            let before = bench.cache.transactionCount
            for _ in 0..<50 { _ = try await bench.bytes("/a", .bounded(1000..<1_500_000)) }
            #expect(bench.cache.transactionCount == before)
            // 50 last uses, and a download of 31 chunks: one batch.
            _ = try await bench.bytes("/b")
            await store.recorder.flush()
            #expect(bench.cache.transactionCount == before + 1)
        }
    }

    @Test func lastUsesOfHitsAreWrittenWithinAMinute() async throws {
        let clock = ManualClock()
        try await Bench.run(configure: { $0.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) } })
        { bench async throws in
            bench.publish("/a", length: 1000)
            _ = try await bench.bytes("/a")
            await bench.cache.engine.store?.recorder.flush()
            let before = bench.cache.transactionCount
            _ = try await bench.bytes("/a")
            // The batch is written on its own schedule; otherwise the test runs into its limit.
            while bench.cache.transactionCount == before {
                clock.advance(by: .seconds(60))
                await breathe()
            }
            let entry = try #require(try await bench.cache.entries().first)
            #expect(entry.lastUsed == Date(timeIntervalSince1970: 1_800_000_000))
        }
    }

    @Test func manyEntriesGoInFewTransactions() async throws {
        try await Bench.run { bench async throws in
            for index in 0..<300 { bench.publish("/\(index)", length: 100) }
            for index in 0..<300 { _ = try await bench.bytes("/\(index)") }
            let entries = try await bench.cache.entries()
            #expect(entries.count == 300)
            let before = bench.cache.transactionCount
            #expect(try await bench.cache.remove(entries.map(\.key)) == 30_000)
            #expect(bench.cache.transactionCount <= before + 6)
            #expect(bench.cache.allocatedBytes.media == 0)
            #expect(DiskUse.mediaFiles(of: bench.directory.path).isEmpty)
        }
    }

    @Test func whatIsCountedIsWhatTheDiskHas() async throws {
        try await Bench.run(configure: { $0.limit = 12_000_000 }) { bench async throws in
            for index in 0..<8 { bench.publish("/\(index)", length: 3_000_000, seed: UInt64(index)) }
            var random = SeededGenerator(seed: 5)
            for _ in 0..<60 {
                let start = Int64.random(in: 0..<2_999_000, using: &random)
                let range = start..<min(3_000_000, start + Int64.random(in: 1..<900_000, using: &random))
                let index = Int.random(in: 0..<8, using: &random)
                let bytes = try await bench.bytes("/\(index)", .bounded(range))
                #expect(bytes == TestPattern.bytes(in: range, seed: UInt64(index)))
                let real = DiskUse.bytes(under: bench.directory.path + "/media")
                #expect(abs(real - bench.cache.allocatedBytes.media) <= 64 << 10)
            }
            await bench.cache.close()
            let real = DiskUse.bytes(under: bench.directory.path + "/media")
            try await bench.reopened { cache async throws in
                // A file system may charge a block for the list of a file's extents.
                let counted = cache.allocatedBytes.media
                #expect(abs(counted - real) <= 64 << 10)
                #expect(try await cache.entries().reduce(0) { $0 + $1.allocatedBytes } == counted)
            }
        }
    }
}
