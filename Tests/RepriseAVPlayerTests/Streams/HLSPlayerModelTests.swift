#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import TestLimits
    import Testing

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
#endif
