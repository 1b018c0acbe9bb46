import Foundation
import HTTPSemantics
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Entries not used for longer than ``MediaCache/Configuration/maximumAge`` are removed when the cache is opened, and
/// every hour.
@Suite(.limit(minutes: 2)) struct AgeTests {
    private static let day = Duration.seconds(86_400)

    /// Stores `/old` and, 20 hours later, `/young`; then reopens the cache after `pause`, on a clock that stands still.
    private static func reopened(
        after pause: Duration, maximumAge: Duration?, _ body: (MediaCache, ManualClock) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            for name in ["/old", "/young"] { bench.publish(name, length: 100_000) }
            _ = try await bench.bytes("/old")
            clock.shift(by: .seconds(20 * 3600))
            _ = try await bench.bytes("/young")
            clock.shift(by: pause)
            let manual = ManualClock()
            let opening = clock.wallClock
            try await bench.reopened(configure: {
                $0.maximumAge = maximumAge
                $0.clock = CacheClock(manual) { opening + manual.now.offset / .seconds(1) }
            }) { cache async throws in try await body(cache, manual) }
        }
    }

    private static func names(_ cache: MediaCache) async throws -> Set<String> {
        Set(try await cache.entries().map(\.url.lastPathComponent))
    }

    @Test func whatHasGrownTooOldGoesWhenTheCacheIsOpened() async throws {
        try await Self.reopened(after: .seconds(5 * 3600), maximumAge: Self.day) { cache, clock async throws in
            // It has checked once, and waits for the next time.
            await clock.waitForSleepers(1)
            #expect(try await Self.names(cache) == ["young"])
        }
    }

    @Test func whatGrowsTooOldMeanwhileGoesWithinTheHour() async throws {
        try await Self.reopened(after: .seconds(3 * 3600 + 1800), maximumAge: Self.day) { cache, clock async throws in
            await clock.waitForSleepers(1)
            #expect(try await Self.names(cache) == ["old", "young"])
            let events = EventLog(cache)
            clock.advance(by: .seconds(3599))
            #expect(clock.sleeperCount == 1)
            #expect(try await Self.names(cache) == ["old", "young"])
            clock.advance(by: .seconds(1))
            let gone = await events.first { if case .evicted = $0 { true } else { false } }
            guard case .evicted(let key, _)? = gone else { return #expect(gone != nil) }
            #expect(key.text.hasSuffix("/old"))
            await clock.waitForSleepers(1)
            #expect(try await Self.names(cache) == ["young"])
            // Again an hour later, and so on.
            for _ in 0..<20 {
                clock.advance(by: .seconds(3600))
                await clock.waitForSleepers(1)
            }
            #expect(try await Self.names(cache) == [])
        }
    }

    @Test func withoutALimitNothingGoesForItsAge() async throws {
        try await Self.reopened(after: .seconds(400 * 86_400), maximumAge: nil) { cache, clock async throws in
            #expect(clock.sleeperCount == 0)
            #expect(try await Self.names(cache) == ["old", "young"])
        }
    }
}
