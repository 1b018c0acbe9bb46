import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

@Suite(.limit(minutes: 1)) struct StoredContentTests {
    @Test func aLookupInMemoryKnowsWhatReadsBrought() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            let film = try bench.cache.resource(for: bench.origin.url("/a"))
            #expect(film.storedInMemory() == nil)
            #expect(await film.stored() == nil)
            #expect(try await film.loadStored() == nil)
            _ = try await film.read(2000..<4000).drain()
            await bench.cache.becomeIdle()
            let part = try #require(film.storedInMemory())
            #expect(part.information.completeLength == 10_000)
            #expect(part.ranges == [2000..<4000])
            #expect(!part.isComplete)
            _ = try await film.read().drain()
            #expect(part.ranges == [2000..<4000], "a lookup is of its moment")
            let whole = try #require(film.storedInMemory())
            #expect(whole.isComplete)
            #expect(whole.ranges == [0..<10_000])
            #expect(bench.origin.snapshot["/a"].bytesSentMoreThanOnce == 0)
        }
    }

    @Test func theIndexIsConsultedOnlyByTheLookupThatSaysSo() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000) { $0.fields = [.cacheControl: "max-age=600"] }
            let url = bench.origin.url("/a")
            _ = try await bench.cache.resource(for: url).read(0..<4000).drain()
            try await bench.reopened { cache in
                let film = try cache.resource(for: url)
                let recorded = try #require(await film.stored())
                #expect(recorded.ranges == [0..<4000])
                #expect(!recorded.isUsable(), "its bytes cannot be served from the index")
                #expect(recorded.region(.bounded(0..<4000)) == nil)
                #expect(film.storedInMemory() == nil, "a look into the index loads nothing")
                let loaded = try #require(try await film.loadStored())
                #expect(loaded.ranges == [0..<4000])
                #expect(loaded.isUsable())
                #expect(loaded.region(.bounded(0..<4000)) == nil, "not verified yet")
                #expect(film.storedInMemory()?.ranges == [0..<4000])
            }
            #expect(bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test("a request's directives say whether the stored response is usable (RFC 9111 §5.2.1)")
    func directives() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            $0.reuse.isShared = true
        }) { bench async throws in
            bench.publish("/a", length: 10_000) { $0.fields = [.cacheControl: "max-age=600"] }
            let film = try bench.cache.resource(for: bench.origin.url("/a"))
            _ = try await film.read().drain()
            let stored = try #require(film.storedInMemory())
            #expect(stored.isUsable())
            #expect(!stored.isUsable(for: CacheControl([.cacheControl: "no-cache"])))
            #expect(stored.region(for: CacheControl([.cacheControl: "no-cache"])) == nil)
            #expect(stored.region(for: CacheControl())?.count == 10_000)
            clock.shift(by: .seconds(700))
            #expect(!stored.isUsable(), "it looks at the response as it is now")
            #expect(stored.region(for: CacheControl()) == nil)
        }
    }

    @Test func aRegionHasTheBytesOfTheResponseThatWasLookedUp() async throws {
        try await Bench.run { bench async throws in
            // Only a fresh response answers for the end of the file.
            bench.publish("/a", length: 10_000) { $0.fields = [.cacheControl: "max-age=60"] }
            let film = try bench.cache.resource(for: bench.origin.url("/a"))
            _ = try await film.read().drain()
            let stored = try #require(film.storedInMemory())
            let region = try #require(stored.region(.bounded(100..<300)))
            #expect(region.range == 100..<300)
            #expect(try region.bytes() == TestPattern.bytes(in: 100..<300, seed: 1))
            #expect(stored.region(.bounded(9000..<10_001))?.range == 9000..<10_000)
            #expect(stored.region(.bounded(10_000..<10_001)) == nil)
            bench.publish("/a", length: 10_000, seed: 2, etag: "\"v2\"")
            try await bench.cache.remove(film.key)
            _ = try await film.read().drain()
            #expect(stored.region(.bounded(100..<300)) == nil, "another response has replaced it")
            let replacement = try #require(film.storedInMemory()?.region(.bounded(100..<300)))
            #expect(try replacement.bytes() == TestPattern.bytes(in: 100..<300, seed: 2))
        }
    }

    @Test("the request's fields select among variants (RFC 9111 §4.1)") func variants() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000) { $0.fields = [.vary: "Accept-Language"] }
            let film = try bench.cache.resource(for: bench.origin.url("/a"))
            let german: HTTPFields = [.acceptLanguage: "de"]
            _ = try await film.read(.bounded(0..<1000), fields: german).drain()
            _ = try await film.read(.bounded(2000..<4000)).drain()
            await bench.cache.becomeIdle()
            func check(_ film: MediaResource) async throws {
                #expect(await film.stored(fields: german)?.ranges == [0..<1000])
                #expect(await film.stored()?.ranges == [2000..<4000])
                #expect(await film.stored(fields: [.acceptLanguage: "fr"]) == nil)
            }
            try await check(film)
            #expect(film.storedInMemory(fields: german)?.region(.bounded(0..<1000))?.count == 1000)
            #expect(film.storedInMemory(fields: german)?.region(.bounded(2000..<4000)) == nil)
            try await bench.reopened { cache in
                let film = try cache.resource(for: film.url)
                try await check(film)
                #expect(try await film.loadStored(fields: german)?.ranges == [0..<1000])
                #expect(try await film.loadStored(fields: [.acceptLanguage: "fr"]) == nil)
            }
        }
    }

    @Test("many resources are looked up in memory, or all in one read of the index", arguments: [3, 1200])
    func together(others: Int) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            bench.publish("/b", length: 10_000) { $0.fields = [.vary: "Accept-Language"] }
            bench.publish("/c", length: 10_000)
            func resource(_ path: String, in cache: MediaCache) throws -> MediaResource {
                try cache.resource(for: bench.origin.url(path))
            }
            _ = try await resource("/a", in: bench.cache).read(2000..<4000).drain()
            let german = try bench.cache.resource(for: bench.origin.url("/b"), fields: [.acceptLanguage: "de"])
            _ = try await german.read(0..<1000).drain()
            _ = try await resource("/c", in: bench.cache).read().drain()
            try await bench.reopened { cache async throws in
                _ = try await resource("/c", in: cache).loadStored()
                let german = try cache.resource(for: bench.origin.url("/b"), fields: [.acceptLanguage: "de"])
                let resources =
                    try (0..<others).map { try resource("/\($0)", in: cache) }
                    + [resource("/a", in: cache), german, resource("/b", in: cache), resource("/c", in: cache)]
                await cache.upkeep.settle()
                var (found, counts) = ([StoredContent?](), [Int]())
                for _ in 0..<3 {
                    let before = cache.indexReadCount
                    found = await MediaResource.stored(resources)
                    counts.append(cache.indexReadCount - before)
                }
                // What a cache does when it is opened may read the index, too.
                #expect(counts.min() == 1)
                #expect(found.prefix(others).allSatisfy { $0 == nil })
                #expect(found.dropFirst(others).map { $0?.ranges } == [[2000..<4000], [0..<1000], nil, [0..<10_000]])
            }
        }
    }
}
