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
                    try await bench.cache.retain(bench.cache.resource(for: bench.origin.url(name)), as: .pinned())
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

    @Test func noPolicyEvictsWhatIsPinned() async throws {
        let smallestFirst = EvictionPolicy(order: "generation.allocated")
        #expect(try await Self.leftovers(smallestFirst, pinned: "/b").contains("/b"))
        #expect(try await Self.leftovers(.leastRecentlyUsed, pinned: "/a").contains("/a"))
    }
}
