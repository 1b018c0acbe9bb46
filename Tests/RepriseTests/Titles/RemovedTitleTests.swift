import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What was known of a title before it was removed does not bring it back.
@Suite("Removed titles", .limit(minutes: 2)) struct RemovedTitleTests {
    private static let length: Int64 = 300_000

    private static func title(_ name: String) throws -> TitleReference {
        let url = try ResourceURL("http://example.com/\(name)")
        return TitleReference(key: CacheKey(url.description), url: url)
    }

    private static func reference(_ name: String, _ bench: Bench) throws -> TitleReference {
        let resource = try bench.cache.resource(for: bench.origin.url(name))
        return TitleReference(key: resource.key, url: resource.url)
    }

    private static func file(_ name: String, of titles: [String], _ bench: Bench) throws -> MediaResource {
        var resource = try bench.cache.resource(for: bench.origin.url(name))
        resource.titles = try titles.map { try reference($0, bench) }
        return resource
    }

    /// The last component of each title's URL, and the number of its files.
    private static func titles(_ cache: MediaCache) async throws -> [String: Int] {
        let titles = try await cache.titles()
        return Dictionary(titles.map { ($0.url.lastPathComponent, $0.fileCount) }) { first, _ in first }
    }

    /// Two titles with a file each, and one that both may have, of which nothing is stored.
    private static func run(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run { bench async throws in
            for name in ["/a", "/b"] {
                bench.publish(name, length: 1000)
                _ = try await file(name, of: [name], bench).read().drain()
            }
            bench.publish("/shared", length: length)
            try await body(bench)
        }
    }

    @Test func aClaimStandsUntilItsTitleIsRemoved() throws {
        let (a, b) = (try Self.title("a"), try Self.title("b"))
        var removed = RemovedTitles()
        let early = [a, b].map { TitleClaim(title: $0, asOf: removed.count) }
        #expect(removed.standing(early) == early)
        removed.note([a.key])
        #expect(removed.standing(early) == [early[1]])
        let late = [a, b].map { TitleClaim(title: $0, asOf: removed.count) }
        #expect(removed.standing(late) == late)
    }

    @Test("of more titles than are remembered none is taken for one that stands")
    func forgotten() throws {
        var removed = RemovedTitles(capacity: 10)
        let titles = try (0..<30).map { try Self.title("\($0)") }
        let early = titles.map { TitleClaim(title: $0, asOf: removed.count) }
        for title in titles { removed.note([title.key]) }
        #expect(removed.standing(early).isEmpty)
        removed.note(titles.map(\.key))
        #expect(removed.standing(titles.map { TitleClaim(title: $0, asOf: removed.count - 1) }).isEmpty)
        let late = titles.map { TitleClaim(title: $0, asOf: removed.count) }
        #expect(removed.standing(late) == late)
    }

    @Test(
        "a file that two titles fetch together belongs to the one that is left",
        arguments: [false, true])
    func fetchedTogether(isRecorded: Bool) async throws {
        try await Self.run { bench async throws in
            bench.origin.hold("/shared", at: 200_000)
            async let first = try Self.file("/shared", of: ["/a"], bench).read().drain()
            await bench.origin.waitUntil { $0["/shared"].requestCount == 1 }
            let read = try await Self.file("/shared", of: ["/b"], bench).read()
            async let second = read.collect()
            await bench.origin.waitUntil { $0["/shared"].bodyBytesSent == 200_000 }
            if isRecorded { #expect(try await Self.titles(bench.cache) == ["a": 2, "b": 2]) }
            try await bench.cache.removeTitle(try Self.reference("/a", bench).key)
            bench.origin.release("/shared")
            #expect(try await second == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            #expect(try await first == Self.length)
            await bench.cache.becomeIdle()
            #expect(try await Self.titles(bench.cache) == ["b": 2])
            try await bench.cache.removeTitle(try Self.reference("/b", bench).key)
            #expect(try await bench.cache.entries().isEmpty)
            #expect(bench.cache.storedBytes == 0)
            #expect(bench.origin.snapshot["/shared"].requestCount == 1)
        }
    }

    @Test("a file is written again without the title that was removed while another one kept it")
    func writtenAgain() async throws {
        try await Self.run { bench async throws in
            let shared = try Self.file("/shared", of: ["/a", "/b"], bench)
            _ = try await shared.read().drain()
            #expect(try await Self.titles(bench.cache) == ["a": 2, "b": 2])
            try await bench.cache.removeTitle(try Self.reference("/a", bench).key)
            shared.engine.invalidate(shared.key)
            #expect(try await Self.titles(bench.cache) == ["b": 2])
        }
    }

    @Test(
        "bytes that a read awaited when its title was removed are delivered and not stored, unless another title has them",
        arguments: [false, true])
    func awaited(isShared: Bool) async throws {
        try await Self.run { bench async throws in
            bench.origin.holdHeads("/shared")
            async let bytes = try Self.file("/shared", of: isShared ? ["/a", "/b"] : ["/a"], bench).read().collect()
            await bench.origin.waitUntil { $0["/shared"].requestCount == 1 }
            try await bench.cache.removeTitle(try Self.reference("/a", bench).key)
            bench.origin.release("/shared")
            #expect(try await bytes == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            await bench.cache.becomeIdle()
            #expect(try await Self.titles(bench.cache) == ["b": isShared ? 2 : 1])
        }
    }

    @Test("a playlist that was read before its title was removed tells nothing of it, one that is read later does")
    func notes() async throws {
        try await Self.run { bench async throws in
            let list = try Self.file("/a", of: ["/a"], bench)
            _ = try await Self.file("/shared", of: ["/b"], bench).read().drain()
            let read = try await list.read()
            let (shared, a) = ([try Self.reference("/shared", bench).url], [try Self.reference("/a", bench)])
            try await bench.cache.removeTitle(a[0].key)
            list.note(shared, in: a, asOf: read.removedTitleCount)
            #expect(try await Self.titles(bench.cache) == ["b": 2])
            let later = try await list.read()
            list.note(shared, in: a, asOf: later.removedTitleCount)
            _ = try await later.drain()
            #expect(try await Self.titles(bench.cache)["a"] == 2)
        }
    }
}
