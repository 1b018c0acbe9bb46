#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseHTTPClient
    import RepriseProxy
    import RepriseTesting
    import TestLimits
    import Testing

    @testable import RepriseAVPlayer

    /// Random plays of HLS items through the proxy in the process, with suspensions, failing origins, variant switches,
    /// seeks and releases.
    ///
    /// `REPRISE_HLS_ROUNDS=500 REPRISE_AVPLAYER_SEED=1` plays more of them, or others.
    @Suite(.limit(minutes: 5)) struct HLSPlayerModelTests {
        @Test func everyByteIsRightAndNoneIsFetchedTwice() async throws {
            let environment = ProcessInfo.processInfo.environment
            let rounds = environment["REPRISE_HLS_ROUNDS"].flatMap { Int($0) } ?? 100
            let firstSeed = environment["REPRISE_AVPLAYER_SEED"].flatMap { UInt64($0) } ?? 1
            var total = HLSRound.Tally()
            try await HLSWorld.run { world in
                for seed in firstSeed..<firstSeed + UInt64(rounds) {
                    do { total.add(try await HLSRound(seed: seed, in: world).play()) } catch {
                        Issue.record("seed \(seed): \(error)")
                    }
                }
            }
            print("HLS: \(rounds) rounds, \(total)")
            // A run in which these never happen proves nothing.
            #expect(total.suspensions > 0 && total.failures > 0 && total.switches > 0 && total.releases > 0)
        }
    }

    /// An origin, and a cache that asks it.
    struct HLSWorld {
        let origin: TestOrigin
        let cache: MediaCache
        /// The player's own network.
        let network: NIOOrigin

        static func run(clock: CacheClock? = nil, _ body: (HLSWorld) async throws -> Void) async throws {
            let directory = try TemporaryDirectory()
            let origin = try await TestOrigin.start(wallClock: clock?.wallClock)
            let (client, network) = (NIOOrigin(), NIOOrigin())
            var configuration = MediaCache.Configuration()
            if let clock { configuration.clock = clock }
            configuration.retry.firstDelay = .milliseconds(1)
            configuration.retry.maximumDelay = .milliseconds(2)
            let cache = try await MediaCache.open(
                directory: directory.path, origin: client, configuration: configuration)
            let result: Result<Void, any Error>
            do {
                result = .success(
                    try await body(HLSWorld(origin: origin, cache: cache, network: network)))
            } catch { result = .failure(error) }
            await cache.close()
            for client in [client, network] { await client.shutdown() }
            await origin.stop()
            directory.remove()
            try result.get()
        }
    }
#endif
