#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import Testing

    extension VirtualClockTests {
        /// What AVPlayer sends, scenario by scenario, on the virtual clock.
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
                #expect(Self.bundled.count == 22 + 28)
            }

            /// Files named by `REPRISE_AVPLAYER_SCRIPTS=file[:file…]`.
            @Test func furtherFilesHold() async throws {
                let files = ProcessInfo.processInfo.environment["REPRISE_AVPLAYER_SCRIPTS"] ?? ""
                var count = 0
                for file in files.split(separator: ":") {
                    for scenario in try ScriptFile(path: String(file)).scenarios {
                        count += 1
                        do {
                            let scenario = try scenario.get()
                            let violations = try await ScriptRunner.play(scenario)
                            #expect(violations.isEmpty, "\(scenario.id)")
                            print("AVPlayer scripts: \(scenario.id) \(violations.isEmpty ? "holds" : "breaks a rule")")
                        } catch {
                            Issue.record("\((try? scenario.get())?.id ?? "a scenario"): \(error)")
                        }
                    }
                }
                if !files.isEmpty {
                    #expect(count > 0, "REPRISE_AVPLAYER_SCRIPTS names no file: \(files)")
                    print("AVPlayer scripts: \(count) scenarios from \(files)")
                }
            }
        }
    }
#endif
