import ByteRanges
import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@Suite(.limit(minutes: 2)) struct StoredProgressTests {
    @Test func whatIsStoredIsKnownWithoutAReadAndWithoutTheOrigin() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            let url = try ResourceURL(bench.origin.url("/a"))
            #expect(try await bench.cache.resource(for: url).storedProgress() == StoredProgress())
            try await bench.cache.resource(for: url).preload(.range(2000..<4000))
            await bench.origin.waitUntil { $0.responsesUnderWay == 0 }
            let requests = bench.origin.snapshot.requestCount
            try await bench.reopened { cache in
                let progress = try await cache.resource(for: url).storedProgress()
                #expect(Array(progress.ranges) == [2000..<4000])
                #expect(progress.completeLength == 10_000)
                #expect(progress.fraction == 0.2)
                #expect(progress.fractions == [0.2...0.4])
                #expect(!progress.isComplete)
                #expect(await !cache.isCached(url))
                #expect(try await Array(cache.resource(for: url).storedProgress().ranges) == [2000..<4000])
                try await cache.resource(for: url).preload(.all)
                #expect(await cache.isCached(url))
            }
            #expect(bench.origin.snapshot["/a"].bytesSentMoreThanOnce == 0)
            #expect(bench.origin.snapshot.requestCount == requests + 2)
        }
    }

    @Test func updatesBeginWithNowAndEndWithTheCache() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let updates = Task {
                var all: [StoredProgress] = []
                for await progress in resource.storedProgressUpdates(every: .zero) { all.append(progress) }
                return all
            }
            try await resource.preload(.all)
            await bench.cache.close()
            let all = await updates.value
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.ranges.byteCount <= $1.ranges.byteCount })
        }
    }

    @Test("the progress of a variant is selected by its request fields (RFC 9111 §4.1)")
    func variants() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000) { $0.fields = [.vary: "Accept-Language"] }
            let url = try ResourceURL(bench.origin.url("/a"))
            let german: HTTPFields = [.acceptLanguage: "de"]
            try await bench.cache.resource(for: url, fields: german).preload(.all)
            try await bench.cache.resource(for: url).preload(.range(2000..<4000))
            func check(_ cache: MediaCache) async throws {
                #expect(try await cache.resource(for: url, fields: german).storedProgress().isComplete)
                #expect(Array(try await cache.resource(for: url).storedProgress().ranges) == [2000..<4000])
                let french: HTTPFields = [.acceptLanguage: "fr"]
                #expect(try await cache.resource(for: url, fields: french).storedProgress().ranges.isEmpty)
            }
            try await check(bench.cache)
            try await bench.reopened { cache in
                try await check(cache)
                #expect(await !cache.isCached(url))
                var updates = try cache.resource(for: url).storedProgressUpdates(every: .zero).makeAsyncIterator()
                #expect(await updates.next()?.isComplete == false)
                try await cache.resource(for: url).preload(.all)
                #expect(await updates.next() != nil)
                #expect(await cache.isCached(url))
            }
        }
    }

    @Test func theFirstBytesAreFetchedAndNoMore() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            try await resource.preload(.bytes(3000))
            try await resource.preload(.bytes(2000))
            try await resource.preload(.bytes(0))
            #expect(await bench.origin.settledSnapshot()["/a"].requests.map(\.range) == ["bytes=0-2999"])
            #expect(await Array(resource.storedProgress().ranges) == [0..<3000])
            try await resource.preload(.bytes(1_000_000))
            #expect(await resource.storedProgress().ranges.contains(0..<10_000))
        }
    }

    @Test func anExportIsTheFileOrNothing() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 200_000)
            bench.publish("/broken", length: 200_000) { $0.status = 500 }
            let target = bench.directory.path(of: "export")
            try await bench.cache.resource(for: bench.origin.url("/a")).export(to: target)
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: target)) == Data(TestPattern.bytes(in: 0..<200_000, seed: 1)))
            let link = bench.directory.path(of: "link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "export")
            try Data("old".utf8).write(to: URL(fileURLWithPath: target))
            try await bench.cache.resource(for: bench.origin.url("/a")).export(to: link)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "export")
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: target)) == Data(TestPattern.bytes(in: 0..<200_000, seed: 1)))
            let other = bench.directory.path(of: "other")
            await #expect(throws: RepriseError.self) {
                try await bench.cache.resource(for: bench.origin.url("/broken")).export(to: other)
            }
            await #expect(throws: RepriseError.self) {
                try await bench.cache.resource(for: bench.origin.url("/a")).export(
                    to: bench.directory.path(of: "no/such"))
            }
            #expect(!FileManager.default.fileExists(atPath: other))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).allSatisfy {
                    !$0.hasSuffix(".part")
                })
        }
    }

    @Test func aKeyOfTheCallersSelectsTheEntry() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            let url = try ResourceURL(bench.origin.url("/a"))
            try await bench.cache.resource(for: url, key: CacheKey("one")).preload(.all)
            #expect(await !bench.cache.isCached(url))
            #expect(try await bench.cache.resource(for: url, key: CacheKey("one")).storedProgress().isComplete)
        }
    }
}
