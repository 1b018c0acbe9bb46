import HTTPSemantics
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// That entries are counted right however they change, compared with the list of all entries.
@Suite(.limit(minutes: 2)) struct EntryCensusTests {
    private static func name(_ number: UInt8) -> String { String(repeating: "0", count: 15) + "\(number)-" }

    private static func change(_ number: UInt8, _ isComplete: Bool?) -> EntryCensus.Change {
        EntryCensus.Change(name: name(number), isComplete: isComplete)
    }

    private static func counts(_ complete: Int64, _ partial: Int64) -> EntryCounts {
        var counts = EntryCounts()
        counts.add(complete, isComplete: true)
        counts.add(partial, isComplete: false)
        return counts
    }

    @Test("what changes while records are read counts as it is in the end, read before or after its change")
    func changesDuringTheCount() {
        let census = EntryCensus()
        census.note([Self.change(9, true)])
        #expect(census.counts == nil)
        census.begin()
        census.note([Self.change(1, true), Self.change(2, nil), Self.change(3, false), Self.change(3, true)])
        #expect(census.counts == nil)
        let counts = census.finish([Self.change(1, false), Self.change(2, true), Self.change(4, false)])
        #expect(counts == Self.counts(2, 1))
        census.note([Self.change(4, true), Self.change(1, nil), Self.change(1, nil), Self.change(5, false)])
        #expect(census.counts == Self.counts(2, 1))
        census.giveUp()
        #expect(census.counts == nil)
    }

    /// Compares the counts with the entries.
    private static func check(_ cache: MediaCache, _ step: String) async throws {
        let entries = try await cache.entries()
        let complete = entries.count { $0.isComplete }
        let expected = counts(Int64(complete), Int64(entries.count - complete))
        let counted = try await cache.entryCounts()
        #expect(counted == expected, "\(step)")
    }

    @Test("entries that come, grow, are replaced and go") func followsTheEntries() async throws {
        try await Bench.run { bench async throws in
            let cache = bench.cache
            for name in ["/a", "/b", "/c"] { bench.publish(name, length: 100_000) }
            _ = try await bench.bytes("/a")
            _ = try await bench.bytes("/b", .bounded(0..<10_000))
            await cache.becomeIdle()
            try await Self.check(cache, "first count")
            #expect(try await cache.entryCounts() == Self.counts(1, 1))
            _ = try await bench.bytes("/b")
            _ = try await bench.bytes("/c", .bounded(50_000..<60_000))
            await cache.becomeIdle()
            await cache.flush()
            try await Self.check(cache, "grown")
            #expect(try await cache.entryCounts() == Self.counts(2, 1))
            bench.publish("/a", length: 50_000, seed: 2, etag: "\"v2\"")
            let read = try await cache.resource(for: bench.origin.url("/a")).read(
                .bounded(0..<10), directives: CacheControl("no-cache"))
            _ = try await read.collect()
            await cache.becomeIdle()
            await cache.flush()
            try await Self.check(cache, "replaced")
            try await cache.remove(cache.resource(for: bench.origin.url("/b")).key)
            try await Self.check(cache, "removed")
            await cache.prune(toSize: 0)
            try await Self.check(cache, "pruned")
            #expect(try await cache.entryCounts() == EntryCounts())
        }
    }

    @Test func aCacheWithoutAStoreHasNone() async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            let counts = try await bench.cache.entryCounts()
            #expect(counts == nil)
        }
    }
}
