#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation

    /// Scenarios that others have written, in files of the same schema.
    ///
    /// What they have beyond the schema is told and skipped: a field more says what its author wanted to know. A step or a
    /// word that the schema does not have is no such thing, for without it the scenario would be another one: that fails the
    /// scenario, and no other. So does a file that cannot be read at all.
    struct ForeignScripts {
        /// What came of one scenario, or of a file that cannot be read.
        struct Outcome: Equatable {
            let name: String
            /// Why it does not hold; empty if it does.
            let failures: [String]
        }

        let files: [String]

        /// `list` names files and directories, between colons; of a directory all `.json` files count, by name.
        init(_ list: String) {
            files = list.split(separator: ":").flatMap { path -> [String] in
                let path = String(path)
                guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return [path] }
                return names.filter { $0.hasSuffix(".json") }.sorted().map { path + "/" + $0 }
            }
        }

        /// Plays all of them; `tell` hears what was skipped.
        func play(_ tell: @escaping @Sendable (String) -> Void) async -> [Outcome] {
            await ScriptFields.$onUnknownFields.withValue({ tell("skipped: \($0)") }) {
                var outcomes: [Outcome] = []
                for file in files {
                    do {
                        for scenario in try ScriptFile(path: file).scenarios { outcomes.append(await play(scenario)) }
                    } catch {
                        outcomes.append(Outcome(name: file, failures: ["it cannot be read: \(error)"]))
                    }
                }
                return outcomes
            }
        }

        private func play(_ scenario: Result<Scenario, any Error>) async -> Outcome {
            let name = (try? scenario.get())?.id ?? "a scenario"
            do {
                return Outcome(name: name, failures: try await ScriptRunner.play(scenario.get()))
            } catch {
                return Outcome(name: name, failures: ["\(error)"])
            }
        }
    }
#endif
