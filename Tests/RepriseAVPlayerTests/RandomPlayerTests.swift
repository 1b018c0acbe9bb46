#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import Primitives
    import Testing

    extension VirtualClockTests {
        /// `REPRISE_AVPLAYER_ROUNDS=n` for more rounds, `REPRISE_AVPLAYER_SEED=s` to begin with another seed.
        @Suite struct RandomPlayerTests {
            /// Rounds that share one cache, so that later ones meet what earlier ones left.
            static let roundsPerWorld = 20

            /// What was fetched, and how much of that again.
            private struct Traffic {
                var bytes: Int64 = 0
                /// Ends of chunks that were on their way when a later request took over what follows.
                var duplicates: Int64 = 0
                var takeovers = 0
            }

            @Test func everyOrderOfRequestsGetsRightBytesOnce() async throws {
                let environment = ProcessInfo.processInfo.environment
                let rounds = environment["REPRISE_AVPLAYER_ROUNDS"].flatMap { Int($0) } ?? 2000
                let firstSeed = environment["REPRISE_AVPLAYER_SEED"].flatMap { UInt64($0) } ?? 1
                var played = 0
                var traffic = Traffic()
                while played < rounds {
                    let seed = firstSeed + UInt64(played / Self.roundsPerWorld)
                    let count = min(Self.roundsPerWorld, rounds - played)
                    let problems = try await Self.play(count, seed: seed, &traffic)
                    #expect(
                        problems.isEmpty, "REPRISE_AVPLAYER_SEED=\(seed) REPRISE_AVPLAYER_ROUNDS=\(Self.roundsPerWorld)"
                    )
                    if !problems.isEmpty { return }
                    played += count
                }
                #expect(traffic.duplicates <= traffic.bytes / 100 + 65_536)
                print(
                    "AVPlayer scripts: a random player, \(played) rounds; \(traffic.bytes) bytes fetched, none asked for twice; "
                        + "\(traffic.duplicates) came twice, at the ends of chunks, in \(traffic.takeovers) take-overs")
            }

            private static func play(_ rounds: Int, seed: UInt64, _ traffic: inout Traffic) async throws -> [String] {
                var total = Traffic()
                defer {
                    traffic.bytes += total.bytes
                    traffic.duplicates += total.duplicates
                    traffic.takeovers += total.takeovers
                }
                var resources: [String: ScriptResource] = [:]
                var servers: [String: ScriptServer] = [:]
                for index in 0..<24 {
                    let name = "F\(index)"
                    let length = 60_000 + (Int64(seed) &* 7919 + Int64(index) &* 104_729) % 400_000
                    resources[name] = try ScriptResource(
                        .object([
                            "mime": .text("audio/mpeg"), "uti": .text("public.mp3"), "ext": .text("mp3"),
                            "head": .text("ID3"), "length": .int(length),
                        ]), name: name, name)
                    var server = ScriptServer()
                    server.latencyTicks = [1, 0, 3, 20, 1, 7][index % 6]
                    server.chunk = [16_384, 65_536, 5000, 16_384, 9999, 32_768][index % 6]
                    servers[name] = server
                }
                return try await ScriptWorld.run(resources, servers: servers) { world in
                    world.network.startScript()
                    for round in 0..<rounds {
                        var player = RandomPlayer(world, round: round, seed: seed << 16 | UInt64(round))
                        for problem in try await player.play() { world.violation("end", problem) }
                    }
                    let (repeats, duplicates, arrivals) = world.network.state.withLock { state in
                        (state.repeats, state.duplicates, state.arrivals)
                    }
                    for (name, found) in repeats where found.bytes > 0 {
                        let log = arrivals.filter { $0.resource == name }.map { "#\($0.exchange) \($0.range)" }
                        world.violation("once", "\(found.bytes) bytes of \(name) were asked for twice: \(log)")
                    }
                    for (name, bytes) in duplicates {
                        let most = (repeats[name]?.takeovers.count ?? 0) * (servers[name]?.chunk ?? 0)
                        if bytes > most { world.violation("once", "\(bytes) bytes of \(name) came twice, not \(most)") }
                    }
                    total = Traffic(
                        bytes: world.bytesFetched, duplicates: duplicates.values.reduce(0, +),
                        takeovers: repeats.values.reduce(0) { $0 + $1.takeovers.count })
                }
            }
        }
    }
#endif
