#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseProxy
    import RepriseTesting
    import TestClock
    import TestLimits
    import Testing

    @testable import RepriseAVPlayer

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// Random plays of live HLS items through the proxy in the process, with and without parts, on a clock of the
    /// test's: two players of one stream, delta updates, suspensions, refused lists, variant switches.
    ///
    /// `REPRISE_HLS_ROUNDS=500 REPRISE_AVPLAYER_SEED=1` plays more of them, or others.
    @Suite(.limit(minutes: 5)) struct HLSLivePlayerTests {
        @Test func nothingIsLateNorFetchedTwice() async throws {
            let environment = ProcessInfo.processInfo.environment
            let rounds = environment["REPRISE_HLS_ROUNDS"].flatMap { Int($0) } ?? 12
            let firstSeed = environment["REPRISE_AVPLAYER_SEED"].flatMap { UInt64($0) } ?? 1
            var total = HLSLiveRound.Tally()
            let clock = ShiftableClock()
            try await HLSWorld.run(clock: clock.cacheClock) { world in
                for seed in firstSeed..<firstSeed + UInt64(rounds) {
                    do { try await HLSLiveRound(seed: seed, in: world, clock: clock).play(&total) } catch {
                        Issue.record("seed \(seed): \(error)")
                    }
                }
            }
            print("Live HLS: \(rounds) rounds, \(total)")
            // A run in which these never happen proves nothing.
            #expect(total.segments > 0 && total.parts > 0 && total.heldLists > 0 && total.deltas > 0)
            #expect(total.suspensions > 0 && total.switches > 0 && total.failures > 0 && total.refusals > 0)
        }
    }

    /// One live stream, and two players of it in one app.
    final class HLSLiveRound {
        /// What happened, in numbers.
        struct Tally {
            var segments = 0, parts = 0, heldLists = 0, deltas = 0, refusals = 0, jumps = 0
            var suspensions = 0, switches = 0, failures = 0
        }

        private let world: HLSWorld
        private let clock: ShiftableClock
        private let beginning: ContinuousClock.Instant
        private let stream: LiveStream
        private var random: SeededGenerator
        private var players: [HLSLivePlayer] = []
        private var failingSeconds = 0
        private var mayJump = false

        init(seed: UInt64, in world: HLSWorld, clock: ShiftableClock) {
            (self.world, self.clock, beginning) = (world, clock, clock.now)
            stream = LiveStream(
                at: "/live\(seed)", of: world.origin, hasParts: seed.isMultiple(of: 2),
                hasDeltas: seed.isMultiple(of: 4))
            random = SeededGenerator(seed: seed)
        }

        func play(_ total: inout Tally) async throws {
            let url = try #require(stream.url)
            for _ in 0..<2 {
                players.append(HLSLivePlayer(world.cache.asset(for: url), stream: stream, network: world.network))
            }
            for player in players { try await player.start() }
            for _ in 0..<40 {
                for player in players { try await player.act(at: now) }
                try await disturb(&total)
                pass()
            }
            for player in players {
                total.segments += player.segments
                total.parts += player.parts
                total.heldLists += player.heldLists
                total.deltas += player.deltas
                total.refusals += player.refusals
                total.jumps += player.jumps
                #expect(player.segments + player.parts / LiveStream.targetDuration >= 8)
                #expect(player.jumps == 0 || mayJump, "the window of the list passed over a player")
            }
            try await end()
            await stream.checkOrigin()
        }

        private var now: Duration { beginning.duration(to: clock.now) }

        private func pass() {
            if failingSeconds > 0 {
                failingSeconds -= 1
                if failingSeconds == 0 { stream.fail(false) }
            }
            stream.advance()
            clock.shift(by: .seconds(1))
        }

        private func disturb(_ total: inout Tally) async throws {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                try suspend()
                total.suspensions += 1
            case 1:
                players[Int.random(in: 0..<2, using: &random)].change(to: Int.random(in: 0..<2, using: &random))
                total.switches += 1
            case 2 where failingSeconds == 0:
                stream.fail(true)
                failingSeconds = Int.random(in: 1...3, using: &random)
                total.failures += 1
            default: break
            }
        }

        /// The app is suspended for some seconds, in which the system takes its listener.
        private func suspend() throws {
            let proxy = try proxy()
            let openings = proxy.openings
            for player in players { player.abandon() }
            close(proxy.descriptor)
            for _ in 0..<Int.random(in: 1...40, using: &random) { pass() }
            mayJump = true
            NotificationCenter.default.post(
                name: Notification.Name("UIApplicationWillEnterForegroundNotification"), object: nil)
            for player in players {
                player.pause = { await eventually { proxy.openings > openings } }
                player.resume(at: now)
            }
        }

        private func proxy() throws -> InAppProxy {
            let asset = try #require(players.first?.asset)
            return try #require(objc_getAssociatedObject(asset, LoaderKey.address) as? StreamItem).proxy.proxy
        }

        /// The items go, and with them the proxy.
        private func end() async throws {
            let proxy = try proxy()
            for player in players { player.abandon() }
            players = []
            stream.end()
            await proxy.stop()
            #expect(proxy.connections == 0 && proxy.answersUnderWay == 0)
            #expect(!proxy.check(), "the port is closed")
        }
    }
#endif
