#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import RepriseTesting
    import Testing

    extension VirtualClockTests {
        /// A script that cannot be understood says where, instead of passing.
        @Suite struct ScriptFormatTests {
            private func play(_ steps: String, server: String = "{}") async throws -> [String] {
                let directory = try TemporaryDirectory()
                let text = """
                    {"schema": "avplayer-scripts/1", "scenarios": [{"id": "X", "server": \(server),
                     "resources": {"A": {"mime": "audio/mpeg", "ext": "mp3", "head": "ID3", "length": 1000}},
                     "steps": [{"op": "item", "item": "A", "resource": "A"}, \(steps)]}]}
                    """
                let path = try directory.write(Array(text.utf8), to: "script.json")
                var violations: [String] = []
                for scenario in try ScriptFile(path: path).scenarios.map({ try $0.scenario.get() }) {
                    violations += try await ScriptRunner.play(scenario)
                }
                return violations
            }

            @Test(arguments: [
                (#"{"op": "dance"}"#, "unknown step \"dance\""),
                (#"{"op": "tick", "n": 1, "speed": 2}"#, "unknown field \"speed\""),
                (#"{"op": "tick", "n": "one"}"#, "must be a whole number"),
                (#"{"op": "tick", "seconds": "half"}"#, "must be a number of seconds"),
                (
                    #"{"op": "request", "id": "r", "item": "A", "info": true}, {"op": "waitFinish", "id": "r", "result": "fine"}"#,
                    #""result" must be "ok" or "error""#
                ),
                (#"{"op": "cancel", "id": "r9"}"#, "no request r9"),
                (#"{"op": "request", "id": "r", "item": "B"}"#, "no item B"),
                (#"{"op": "server", "resource": "A", "patch": {"color": 1}}"#, "unknown field \"color\""),
                (#"{"op": "expectNetwork", "bytesAtMots": 0}"#, "unknown field \"bytesAtMots\""),
                (#"{"op": "repeat", "times": 1, "steps": [{"op": "tick", "n": {"expr": "k*"}}]}"#, "cannot be read"),
            ]) func whatIsNotInTheSchemaIsAClearError(_ step: String, _ message: String) async throws {
                let error = try #require(await #expect(throws: ScriptFormatError.self) { _ = try await play(step) })
                #expect(error.description.contains(message), "\(error)")
                #expect(error.description.hasPrefix("X"))
            }

            @Test func secondsMayBeParts() async throws {
                #expect(try await play(#"{"op": "tick", "seconds": 0.5}"#) == [])
            }

            @Test func aScenarioThatCannotBeReadLeavesTheOthers() throws {
                let directory = try TemporaryDirectory()
                let text = """
                    {"schema": "avplayer-scripts/1", "scenarios": [{"id": "X"},
                     {"id": "Y", "resources": {}, "steps": []}]}
                    """
                let path = try directory.write(Array(text.utf8), to: "script.json")
                let scenarios = try ScriptFile(path: path).scenarios
                #expect(throws: ScriptFormatError.self) { _ = try scenarios[0].scenario.get() }
                #expect(scenarios.map(\.name) == ["X", "Y"])
                #expect(try scenarios[1].scenario.get().id == "Y")
            }

            @Test func aFileWithoutScenariosIsAClearError() throws {
                let directory = try TemporaryDirectory()
                let path = try directory.write(
                    Array(#"{"schema": "avplayer-scripts/1", "scenarios": []}"#.utf8), to: "empty.json")
                let error = try #require(#expect(throws: ScriptFormatError.self) { _ = try ScriptFile(path: path) })
                #expect(error.description == "empty.json: there are no scenarios in it")
            }

            @Test func anExpectationThatDoesNotHoldFails() async throws {
                await #expect(throws: ScriptFailure.self) {
                    _ = try await play(#"{"op": "expectNetwork", "bytesAtLeast": 1}"#)
                }
                await #expect(throws: ScriptFailure.self) {
                    _ = try await play(
                        #"{"op": "request", "id": "r", "item": "A", "info": true, "data": {"offset": 0, "length": 2}}, {"op": "waitFinish", "id": "r", "result": "error"}"#
                    )
                }
            }

            @Test(
                arguments: [
                    ("k*65536", 131_072), ("min(65536, 2988434-k*65536)", 65_536), ("max(1, -k)", 1),
                    ("(1+k)*(k-1)%5", 3),
                    ("2 + 3 * 4", 14), ("10/3", 3),
                ] as [(String, Int64)]) func expressions(_ text: String, _ value: Int64) throws
            {
                #expect(try ScriptExpression.evaluate(text, ["k": 2]) == value)
            }

            @Test(arguments: ["1/0", "9223372036854775807+1", "k k", "min(", "x", ""]) func brokenExpressions(
                _ text: String
            ) {
                #expect(throws: ScriptFormatError.self) { try ScriptExpression.evaluate(text, ["k": 2]) }
            }
        }
    }
#endif
