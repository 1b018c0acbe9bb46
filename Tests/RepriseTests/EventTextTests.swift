import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The reasons in events are for people.
@Suite(.limit(minutes: 1)) struct EventTextTests {
    @Test func aReplacedFileSaysHowItIsKnown() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            let film = try bench.cache.resource(for: bench.origin.url("/a"))
            _ = try await film.read(0..<4000).drain()
            let log = EventLog(bench.cache)
            bench.publish("/a", length: 10_000, seed: 2, etag: "\"v2\"")
            await #expect(throws: RepriseError.self) { try await film.read().drain() }
            let replaced = await log.first { if case .generationReplaced = $0 { true } else { false } }
            guard case .generationReplaced(_, let reason) = replaced else { return }
            #expect(reason == "The file has another entity tag or modification date.")
        }
    }

    @Test func aStaleResponseSaysWhyTheOriginWasNoHelp() async throws {
        let clock = ShiftableClock()
        let bytes = TestPattern.bytes(in: 0..<1000, seed: 1)
        let origin = ScriptedOrigin { request, number in
            guard number == 1 else { throw RepriseError(.originUnreachable, "The host is down.") }
            return .media(request, bytes, [.cacheControl: "max-age=60"])
        }
        try await origin.run(configure: {
            $0.clock = clock.cacheClock
            $0.retry.attempts = 1
        }) { cache async throws in
            let film = try cache.resource(for: "http://origin/film.mp4")
            _ = try await film.read().drain()
            clock.shift(by: .seconds(3600))
            let log = EventLog(cache)
            #expect(try await film.read().collect() == bytes)
            let stale = await log.first { if case .servedStale = $0 { true } else { false } }
            guard case .servedStale(_, let reason) = stale else { return }
            #expect(reason == "The host is down.")
        }
    }
}
