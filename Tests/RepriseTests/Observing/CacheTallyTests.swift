import HTTPSemantics
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What a cache counts for those who watch it.
@Suite(.limit(minutes: 2)) struct CacheTallyTests {
    @Test func readsAreCountedByHowTheyBegan() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 100_000)
            bench.publish("/no-store", length: 1000) { $0.fields = [.cacheControl: "no-store"] }
            for range in [0..<10_000, 0..<10_000, 5000..<20_000, 50_000..<60_000] as [Range<Int64>] {
                _ = try await bench.bytes("/a", .bounded(range))
                await bench.cache.becomeIdle()
            }
            _ = try await bench.bytes("/no-store")
            await bench.cache.becomeIdle()
            let tally = bench.cache.tally
            #expect(tally.reads.count(.unknown, isCollapsed: false) == 1)
            #expect(tally.reads.count(.hit, isCollapsed: false) == 1)
            #expect(tally.reads.count(.partial, isCollapsed: false) == 1)
            #expect(tally.reads.count(.miss, isCollapsed: false) == 1)
            #expect(tally.reads.count(.bypass, isCollapsed: false) == 1)
            #expect(tally.statistics.reads == 5)
            #expect(tally.openReads == 0)
            #expect(tally.served.store == 15_000)
            #expect(tally.served.total == 46_000)
            #expect(tally.origins.all.servedBytes == 46_000)
            let snapshot = await bench.origin.settledSnapshot()
            #expect(tally.origins.all.bytes == snapshot.bodyBytesSent)
            #expect(tally.origins.all.requests == [.successful: Int64(snapshot.requestCount)])
            #expect(tally.origins.all.firstByte.count == Int64(snapshot.requestCount))
            #expect(Array(tally.origins.named.keys) == ["127.0.0.1:\(bench.origin.port)"])
        }
    }

    @Test func aReadThatGoesOnIsOpen() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read()
            #expect(bench.cache.tally.openReads == 1)
            read.cancel()
            read.cancel()
            #expect(bench.cache.tally.openReads == 0)
        }
    }

    @Test func whoWantsToKnowHearsOnceWhatAReadServed() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000)
            let heard = Mutex<[SourceBytes]>([])
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let read = try await resource.read()
            read.whenEnded { served, first in
                #expect(first == .origin)
                heard.withLock { $0.append(served) }
            }
            _ = try await read.collect()
            read.cancel()
            #expect(heard.withLock { $0.map(\.origin) } == [1000])
            let late = try await resource.read()
            _ = try await late.collect()
            late.whenEnded { served, first in
                #expect(first == .store)
                heard.withLock { $0.append(served) }
            }
            #expect(heard.withLock { $0.map(\.store) } == [0, 1000], "at once, because it had ended")
        }
    }

    @Test func refusalsAndFailuresOfOriginsAreToldApart() async throws {
        try await Bench.run(configure: { $0.retry.refusals = 0 }) { bench async throws in
            bench.publish("/broken", length: 1000) { $0.status = 503 }
            await #expect(throws: RepriseError.self) { try await bench.bytes("/nothing") }
            await #expect(throws: RepriseError.self) { try await bench.bytes("/broken") }
            let nowhere = try bench.cache.resource(for: "http://127.0.0.1:1/")
            await #expect(throws: RepriseError.self) { try await nowhere.read().collect() }
            await bench.cache.becomeIdle()
            let tally = bench.cache.tally
            let own = try #require(tally.origins.named["127.0.0.1:\(bench.origin.port)"])
            #expect(own.requests == [.clientError: 1, .serverError: 1])
            let failed = try #require(tally.origins.named["127.0.0.1:1"]?.requests[.failed])
            #expect(tally.origins.named["127.0.0.1:1"]?.requests == [.failed: failed])
            #expect(tally.retries.values.reduce(0, +) == failed - 1, "each attempt but the first is a repetition")
        }
    }

    @Test func evictedBytesHaveAReason() async throws {
        try await Bench.run(configure: {
            $0.limit = 3 << 20
            $0.minimumFree = 0
        }) { bench async throws in
            for name in ["/a", "/b"] { bench.publish(name, length: 2 << 20, seed: name == "/a" ? 1 : 2) }
            _ = try await bench.bytes("/a")
            await bench.cache.becomeIdle()
            _ = try await bench.bytes("/b")
            await bench.cache.becomeIdle()
            let room = try #require(bench.cache.tally.evicted[.room])
            #expect(room > 0)
            let left = bench.cache.storedBytes
            await bench.cache.prune(toSize: 0)
            #expect(bench.cache.tally.evicted == [.room: room, .prune: left])
        }
    }

    @Test func bytesThatBypassTheStoreHaveAReason() async throws {
        try await Bench.run(configure: {
            $0.limit = 1 << 20
            $0.minimumFree = 0
        }) { bench async throws in
            bench.publish("/large", length: 8 << 20)
            _ = try await bench.bytes("/large")
            await bench.cache.becomeIdle()
            #expect(Array(bench.cache.tally.bypasses.keys) == [.room])
        }
    }

    @Test func eventsAreCounted() {
        var tally = CacheTally()
        let key = CacheKey("http://a.example/a")
        tally.note(.verificationFailed(key, range: 100..<300), because: .disk)
        tally.note(.servedStale(key, reason: ""), because: .disk)
        tally.note(.generationReplaced(key, reason: ""), because: .disk)
        tally.note(.fetchRetried(key, after: .zero, error: RepriseError(.originTimedOut, "")), because: .disk)
        tally.note(.storeBypassed(key, reason: ""), because: .response)
        #expect(tally.damagedBytes == 200)
        #expect(tally.staleServed == 1)
        #expect(tally.generationsReplaced == 1)
        #expect(tally.retries == ["originTimedOut": 1])
        #expect(tally.bypasses == [.response: 1])
    }

    @Test func bytesThatReadersWillGetAgainAreNotTakenFromACounter() {
        var tally = CacheTally()
        tally.noteServed(100, from: .store, of: "a.example")
        tally.noteServed(-60, from: .store, of: "a.example")
        #expect(tally.served.store == 100)
        #expect(tally.statistics.bytesFromStore == 40)
        tally.noteServed(70, from: .store, of: "a.example")
        #expect(tally.served.store == 110)
        #expect(tally.origins.named["a.example"]?.servedBytes == 110)
    }
}
