import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Playlists go after the media of their titles: they are small, and without them the rest cannot be played.
@Suite("Eviction of playlists", .limit(minutes: 2)) struct PlaylistEvictionTests {
    /// A stream of two playlists and two segments of 300,000 bytes, played in this order, a minute apart, and then a
    /// file of the same size.
    private static func run(
        limit: Int64 = 2_000_000, _ body: (Bench, ShiftableClock) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.limit = limit
            $0.clock = clock.cacheClock
        }) { bench async throws in
            for name in ["/master.m3u8", "/list.m3u8"] { bench.publish(name, length: 1000) }
            for name in ["/1", "/2", "/film", "/more"] { bench.publish(name, length: 300_000) }
            for name in ["/master.m3u8", "/list.m3u8", "/1", "/2"] { try await play(name, bench, clock) }
            _ = try await bench.bytes("/film")
            clock.shift(by: .seconds(60))
            try await body(bench, clock)
        }
    }

    private static func play(_ name: String, _ bench: Bench, _ clock: ShiftableClock) async throws {
        let first = try bench.cache.resource(for: bench.origin.url("/master.m3u8"))
        var resource = try bench.cache.resource(for: bench.origin.url(name))
        resource.titles = [TitleReference(key: first.key, url: first.url)]
        _ = try await resource.read().drain()
        clock.shift(by: .seconds(60))
    }

    private static func names(_ cache: MediaCache) async throws -> [String] {
        try await cache.entries().map(\.url.lastPathComponent).sorted()
    }

    @Test("the segments of a stream go before its playlists, and those before what was used later")
    func pruned() async throws {
        try await Self.run { bench, _ async throws in
            let title = try await bench.cache.titles().first { $0.isStream }
            _ = await bench.cache.prune(toSize: 800_000)
            #expect(try await Self.names(bench.cache) == ["2", "film", "list.m3u8", "master.m3u8"])
            let (before, after) = (title?.lastUsed, try await bench.cache.titles().first { $0.isStream }?.lastUsed)
            #expect(abs(try #require(after).timeIntervalSince(try #require(before))) < 0.01, "as it was shown")
            _ = await bench.cache.prune(toSize: 500_000)
            #expect(try await Self.names(bench.cache) == ["film", "list.m3u8", "master.m3u8"])
            _ = await bench.cache.prune(toSize: 305_000)
            #expect(try await Self.names(bench.cache) == ["film"])
        }
    }

    @Test("so they do when room is needed for more") func forRoom() async throws {
        try await Self.run(limit: 1_000_000) { bench, _ async throws in
            _ = try await bench.bytes("/more")
            #expect(try await Self.names(bench.cache) == ["2", "film", "list.m3u8", "master.m3u8", "more"])
        }
    }

    @Test("a stream of which only a file of a kept one is left is no title, and that file goes with the kept one")
    func rest() async throws {
        try await Self.run { bench, _ async throws in
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            let shared = try bench.cache.resource(for: bench.origin.url("/2"))
            bench.cache.note([shared.key], in: TitleReference(key: film.key, url: film.url))
            try await bench.cache.retain(film, as: .pinned)
            #expect(try await bench.cache.titles().count == 2)
            _ = await bench.cache.prune(toSize: 0)
            #expect(try await Self.names(bench.cache) == ["2", "film"])
            #expect(try await bench.cache.titles().map(\.key) == [film.key])
            // Its record is written again.
            shared.engine.invalidate(shared.key)
            let title = try #require(try await bench.cache.titles().first)
            #expect(title.key == film.key && title.fileCount == 2 && title.ownBytes == title.allocatedBytes)
            #expect(try await bench.cache.titles().count == 1)
            try await bench.cache.removeTitle(film.key)
            #expect(try await Self.names(bench.cache).isEmpty)
        }
    }

    @Test("a file of more titles than are remembered is evicted, too") func ofManyTitles() async throws {
        try await Self.run { bench, _ async throws in
            let file = try bench.cache.resource(for: bench.origin.url("/1"))
            for number in 0..<1100 {
                bench.cache.note([file.key], in: TitleReference(key: CacheKey("title \(number)"), url: file.url))
            }
            _ = await bench.cache.prune(toSize: 305_000)
            #expect(try await Self.names(bench.cache) == ["film"])
        }
    }

    @Test("by age a stream goes as a whole, when its media are too old") func byAge() async throws {
        try await Self.run { bench, clock async throws in
            clock.shift(by: .seconds(7200))
            try await Self.play("/2", bench, clock)
            let forecast = try await bench.cache.forecast(ofPruningToSize: nil, olderThan: .seconds(3600))
            #expect(Set(forecast.urls.map(\.lastPathComponent)) == ["1", "film"])
            _ = await bench.cache.prune(olderThan: .seconds(3600))
            #expect(try await Self.names(bench.cache) == ["2", "list.m3u8", "master.m3u8"])
            clock.shift(by: .seconds(7200))
            _ = await bench.cache.prune(olderThan: .seconds(3600))
            #expect(try await Self.names(bench.cache).isEmpty)
        }
    }

    @Test("a limit of age for the cache leaves the playlists of what is played, too") func aged() async throws {
        try await Self.run { bench, clock async throws in
            clock.shift(by: .seconds(7200))
            try await Self.play("/2", bench, clock)
            try await bench.cache.removeEntries(unusedFor: .seconds(3600))
            #expect(try await Self.names(bench.cache) == ["2", "list.m3u8", "master.m3u8"])
            clock.shift(by: .seconds(7200))
            try await bench.cache.removeEntries(unusedFor: .seconds(3600))
            #expect(try await Self.names(bench.cache).isEmpty)
        }
    }

    @Test("the limit of a tag takes the segments of the only stream before its playlists") func byTag() async throws {
        try await Self.run { bench, _ async throws in
            let first = try bench.cache.resource(for: bench.origin.url("/master.m3u8"))
            try await bench.cache.nameTitle(of: first, name: nil, tag: "show")
            try await bench.cache.setLimit(400_000, forTag: "show")
            #expect(try await Self.names(bench.cache) == ["2", "film", "list.m3u8", "master.m3u8"])
        }
    }
}
