import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Plays with a beginning, as of a player's items: each asks once where the stored response is stale.
@Suite(.limit(minutes: 1)) struct PlayTests {
    private static let bytes = TestPattern.bytes(in: 0..<10_000, seed: 1)

    private struct Site {
        let origin: ScriptedOrigin
        let cache: MediaCache
        let clock: ShiftableClock
        let isAway: Mutex<Bool>

        /// Runs `body` with a film whose stored response is stale at once, unless `lifetime` says otherwise.
        static func run(lifetime: Int = 0, _ body: (Site) async throws -> Void) async throws {
            let (clock, isAway) = (ShiftableClock(), Mutex(false))
            let fields: HTTPFields = [.cacheControl: "max-age=\(lifetime)", .eTag: "\"v1\""]
            let origin = ScriptedOrigin { request, _ in
                if isAway.withLock({ $0 }) { throw RepriseError(.originUnreachable, "The origin is away.") }
                if request.fields[.ifNoneMatch] == "\"v1\"" { return ScriptedOrigin.Answer(304, fields) }
                return .media(request, bytes, fields)
            }
            try await origin.run(configure: { $0.clock = clock.cacheClock }) { cache async throws in
                try await body(Site(origin: origin, cache: cache, clock: clock, isAway: isAway))
            }
        }

        func film() throws -> MediaResource { try cache.resource(for: "http://origin/film.mp4") }

        /// The film in a play that begins a second later than everything before.
        func newPlay() throws -> MediaResource {
            clock.shift(by: .seconds(1))
            var film = try film()
            film.play = cache.beginPlay()
            return film
        }
    }

    private static func read(_ film: MediaResource) async throws {
        #expect(try await film.read().collect() == bytes)
    }

    @Test func aNewPlayAsksOnceHoweverLongItLasts() async throws {
        try await Site.run { site async throws in
            try await Self.read(site.film())
            site.clock.shift(by: .seconds(1))
            try await Self.read(site.film())
            #expect(site.origin.requests.count == 1, "without a play, five minutes count as one")
            let play = try site.newPlay()
            for _ in 0..<3 { try await Self.read(play) }
            #expect(site.origin.requests.count == 2)
            site.clock.shift(by: .seconds(7200))
            try await Self.read(play)
            #expect(site.origin.requests.count == 2, "a long pause does not end it")
            try await Self.read(site.newPlay())
            #expect(site.origin.requests.count == 3)
        }
    }

    @Test func whatIsFreshIsNotAskedFor() async throws {
        try await Site.run(lifetime: 600) { site async throws in
            try await Self.read(site.film())
            for _ in 0..<3 { try await Self.read(site.newPlay()) }
            #expect(site.origin.requests.count == 1)
        }
    }

    @Test("an origin that is away is asked once for each play, too (RFC 9111 §4.2.4)")
    func awayIsAskedOnce() async throws {
        try await Site.run { site async throws in
            try await Self.read(site.film())
            site.isAway.withLock { $0 = true }
            let play = try site.newPlay()
            for _ in 0..<3 { try await Self.read(play) }
            #expect(site.origin.requests.count == 2)
            try await Self.read(site.newPlay())
            #expect(site.origin.requests.count == 3)
        }
    }

    @Test func whatWasFetchedAheadIsPartOfThePlayThatFollows() async throws {
        try await Site.run { site async throws in
            try await site.film().preload(.all)
            let fetched = site.origin.requests.count
            try await Self.read(site.newPlay())
            #expect(site.origin.requests.count == fetched)
            site.clock.shift(by: .seconds(300))
            try await Self.read(site.newPlay())
            #expect(site.origin.requests.count == fetched + 1)
        }
    }

    // MARK: - Without a network

    @Test func aReadThatMayUseNoNetworkHasStoredBytesHoweverStale() async throws {
        try await Site.run { site async throws in
            var film = try site.film()
            _ = try await film.read(.bounded(0..<1000)).collect()
            site.clock.shift(by: .seconds(86_400))
            let fetched = site.origin.requests.count
            film.networkPolicy = .never
            #expect(try await film.read(.bounded(0..<1000)).collect() == Array(Self.bytes[0..<1000]))
            let offline = film
            for read in [
                { _ = try await offline.read(.bounded(5000..<6000)).collect() }, { _ = try await offline.head() },
                { try await offline.preload(.range(500..<2000)) }, { _ = try await offline.send(.delete) },
            ] as [@Sendable () async throws -> Void] {
                let error = await #expect(throws: RepriseError.self) { try await read() }
                #expect(error?.code == .notStored)
            }
            #expect(site.origin.requests.count == fetched)
            let error = await #expect(throws: RepriseError.self) { try await site.cache.retain(offline, as: .download) }
            #expect(error?.code == .invalidArgument)
        }
    }
}
