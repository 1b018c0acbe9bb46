#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation

    /// Scenarios written by others, in files with the same schema.
    ///
    /// Fields beyond the schema are reported and skipped, because they only add checks. A step or word beyond the
    /// schema fails its scenario, because without it the scenario would be a different one; other scenarios are not
    /// affected. A file that cannot be read fails as well.
    struct ForeignScripts {
        /// The outcome of one scenario, or of a file that cannot be read.
        struct Outcome: Equatable {
            let name: String
            /// Why it fails; empty if it passes.
            let failures: [String]
        }

        let files: [String]

        /// `list` names files and directories, separated by colons; all `.json` files of a directory are played, by
        /// name.
        init(_ list: String) {
            files = list.split(separator: ":").flatMap { path -> [String] in
                let path = String(path)
                guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return [path] }
                return names.filter { $0.hasSuffix(".json") }.sorted().map { path + "/" + $0 }
            }
        }

        /// Plays all of them; `tell` receives the skipped fields.
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

        private func play(_ entry: ScriptFile.Entry) async -> Outcome {
            do {
                return Outcome(name: entry.name, failures: try await ScriptRunner.play(entry.scenario.get()))
            } catch {
                return Outcome(name: entry.name, failures: ["\(error)"])
            }
        }
    }
#endif
