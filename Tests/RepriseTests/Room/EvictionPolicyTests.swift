import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Eviction asks its policy alone who goes first.
@Suite(.limit(minutes: 2)) struct EvictionPolicyTests {
    private static let megabyte: Int64 = 1_000_000

    /// Plays files of 4, 2, 3 and 4 MB in this order with room for 10 MB; returns those that are left, by name.
    private static func leftovers(
        _ policy: EvictionPolicy, pinned: String? = nil
    ) async throws -> [String] {
        var left: [String] = []
        try await Bench.run(configure: {
            $0.limit = 10 * megabyte
            $0.evictionPolicy = policy
        }) { bench async throws in
            for (name, size) in [("/a", 4), ("/b", 2), ("/c", 3), ("/d", 4)] as [(String, Int64)] {
                bench.publish(name, length: size * megabyte)
                if name == pinned {
                    try await bench.cache.retain(bench.cache.resource(for: bench.origin.url(name)), as: .pinned)
                }
                _ = try await bench.bytes(name)
                await bench.cache.becomeIdle()
            }
            left = try await bench.cache.entries().map(\.url.target).sorted()
        }
        return left
    }

    @Test func theLeastRecentlyUsedGoesFirst() async throws {
        #expect(try await Self.leftovers(.leastRecentlyUsed) == ["/b", "/c", "/d"])
    }

    @Test func anotherPolicyEvictsOthers() async throws {
        let smallestFirst = EvictionPolicy(order: "generation.allocated")
        #expect(try await Self.leftovers(smallestFirst).contains("/a"))
        #expect(try await !Self.leftovers(smallestFirst).contains("/b"))
    }

    @Test("a live stream that runs for long pushes out no film, and keeps to its share, also after a restart")
    func liveStreamsGoFirst() async throws {
        let films = ["/film/1", "/film/2", "/film/3"]
        try await Bench.run(configure: { $0.limit = 16 * Self.megabyte }) { bench async throws in
            for film in films {
                bench.publish(film, length: 4 * Self.megabyte)
                _ = try await bench.bytes(film)
            }
            for number in 0..<60 {
                bench.publish("/live/\(number)", length: 500_000)
                var segment = try bench.cache.resource(for: bench.origin.url("/live/\(number)"))
                segment.role = StreamRole(.segment, for: .media, isLive: true)
                _ = try await segment.read().collect()
                await bench.cache.becomeIdle()
            }
            func names(_ cache: MediaCache) async throws -> (films: [String], live: Int) {
                let names = try await cache.entries().map(\.url.target)
                return (names.filter { $0.hasPrefix("/film") }.sorted(), names.count { $0.hasPrefix("/live") })
            }
            let before = try await names(bench.cache)
            #expect(before.films == films)
            #expect(before.live > 0 && before.live <= 4, "an eighth of the limit")
            try await bench.reopened(configure: { $0.limit = 16 * Self.megabyte }) { cache async throws in
                bench.publish("/film/4", length: 3 * Self.megabyte + 500_000)
                _ = try await cache.resource(for: bench.origin.url("/film/4")).read().collect()
                await cache.becomeIdle()
                let after = try await names(cache)
                #expect(after.films == films + ["/film/4"])
                #expect(after.live < before.live)
            }
        }
    }

    @Test func noPolicyEvictsWhatIsPinned() async throws {
        let smallestFirst = EvictionPolicy(order: "generation.allocated")
        #expect(try await Self.leftovers(smallestFirst, pinned: "/b").contains("/b"))
        #expect(try await Self.leftovers(.leastRecentlyUsed, pinned: "/a").contains("/a"))
    }
}
