#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import Testing

    extension VirtualClockTests {
        /// AVPlayer's requests, scenario by scenario, on the virtual clock.
        @Suite struct ScriptTests {
            static let bundled: [Scenario] = ["avplayer-scripts", "own-scripts"].flatMap { name -> [Scenario] in
                do {
                    let path = Bundle.module.path(forResource: name, ofType: "json", inDirectory: "Fixtures")
                    return try ScriptFile(path: try #require(path)).scenarios.map { try $0.get() }
                } catch {
                    Issue.record("\(error)")
                    return []
                }
            }

            @Test(arguments: bundled) func everyScenarioHolds(_ scenario: Scenario) async throws {
                let violations = try await ScriptRunner.play(scenario)
                #expect(violations.isEmpty, "\(scenario.id)")
            }

            @Test func scenariosAreThere() {
                print("AVPlayer scripts: \(Self.bundled.count) scenarios in Fixtures")
                #expect(Self.bundled.count == 22 + 31)
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
