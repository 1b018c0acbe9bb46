#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import Testing

    extension VirtualClockTests {
        /// AVPlayer's requests, scenario by scenario, on the virtual clock.
        @Suite struct ScriptTests {
            /// The shared schema's scenarios.
            static let shared = scenarios(in: "avplayer-scripts")

            /// Scenarios of HLS streams.
            static let streams = scenarios(in: "hls-scripts")

            private static func scenarios(in fixture: String) -> [Scenario] {
                do {
                    let path = Bundle.module.path(forResource: fixture, ofType: "json", inDirectory: "Fixtures")
                    return try ScriptFile(path: try #require(path)).scenarios.map { try $0.scenario.get() }
                } catch {
                    Issue.record("\(error)")
                    return []
                }
            }

            @Test(arguments: shared + streams + Scenario.own) func everyScenarioHolds(_ scenario: Scenario) async throws
            {
                let violations = try await ScriptRunner.play(scenario)
                #expect(violations.isEmpty, "\(scenario.id)")
            }

            @Test func scenariosAreThere() {
                print(
                    "AVPlayer scripts: \(Self.shared.count) shared scenarios, "
                        + "\(Scenario.own.count) of our own, \(Self.streams.count) of streams")
                #expect(Self.shared.count == 22)
                #expect(Self.streams.count == 9 && Self.streams.allSatisfy { $0.isOfStreams })
                // A scenario that no list names would not be played.
                #expect(Scenario.own.compactMap { Int($0.id.dropFirst().prefix(2)) }.sorted() == Array(1...31))
            }

            /// Files and directories named by `REPRISE_AVPLAYER_SCRIPTS=path[:path…]`.
            @Test func furtherFilesHold() async throws {
                let list = ProcessInfo.processInfo.environment["REPRISE_AVPLAYER_SCRIPTS"] ?? ""
                guard !list.isEmpty else { return }
                let outcomes = await ForeignScripts(list).play { print("AVPlayer scripts: \($0)") }
                for outcome in outcomes {
                    #expect(outcome.failures == [], "\(outcome.name)")
                    print("AVPlayer scripts: \(outcome.name) \(outcome.failures.isEmpty ? "holds" : "does not hold")")
                }
                #expect(!outcomes.isEmpty, "REPRISE_AVPLAYER_SCRIPTS names no scenario: \(list)")
                print("AVPlayer scripts: \(outcomes.count) scenarios from \(list)")
            }
        }
    }
#endif
