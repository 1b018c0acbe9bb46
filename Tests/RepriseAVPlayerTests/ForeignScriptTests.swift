#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import Primitives
    import RepriseTesting
    import Testing

    extension VirtualClockTests {
        /// Scenarios written by others.
        @Suite struct ForeignScriptTests {
            private static func scenario(_ id: String, _ steps: String, _ more: String = "") -> String {
                """
                {"id": "\(id)", \(more)
                 "resources": {"A": {"mime": "audio/mpeg", "ext": "mp3", "head": "ID3", "length": 1000}},
                 "steps": [{"op": "item", "item": "A", "resource": "A"}, \(steps)]}
                """
            }

            private static let request =
                #"{"op": "request", "id": "r", "item": "A", "info": true, "data": {"offset": 0, "length": 2}}"#

            private static func file(_ scenarios: String..., more: String = "") -> [UInt8] {
                let list = scenarios.joined(separator: ", ")
                return Array(#"{"schema": "avplayer-scripts/1", \#(more) "scenarios": [\#(list)]}"#.utf8)
            }

            /// The outcomes, and the skipped fields.
            private func play(_ list: String) async -> (outcomes: [ForeignScripts.Outcome], skipped: [String]) {
                let skipped = Mutex<[String]>([])
                let outcomes = await ForeignScripts(list).play { line in skipped.withLock { $0.append(line) } }
                return (outcomes, skipped.withLock { $0 })
            }

            @Test func fieldsBeyondTheSchemaAreToldAndSkipped() async throws {
                let directory = try TemporaryDirectory()
                let step = #"{"op": "waitFinish", "id": "r", "result": "ok", "bytes": 2, "jitterMs": 3}"#
                let path = try directory.write(
                    Self.file(
                        Self.scenario("X", "\(Self.request), \(step)", #""author": "me","#),
                        more: #""license": "MIT","#),
                    to: "a.json")
                let (outcomes, skipped) = await play(path)
                #expect(outcomes == [.init(name: "X", failures: [])])
                #expect(
                    skipped == [
                        #"skipped: a.json: unknown field "license""#, #"skipped: X: unknown field "author""#,
                        #"skipped: X, step 3 (waitFinish): unknown field "jitterMs""#,
                    ])
            }

            @Test func oneThatCannotBePlayedFailsAloneAndSaysWhy() async throws {
                let directory = try TemporaryDirectory()
                let word = #"{"op": "waitFinish", "id": "r", "result": "cancelled"}"#
                let path = try directory.write(
                    Self.file(
                        Self.scenario("X", "\(Self.request), \(word)"), Self.scenario("Y", #"{"op": "dance"}"#),
                        #"{"id": "Z"}"#, #"{"title": "no name"}"#, Self.scenario("W", Self.request)), to: "a.json")
                let (outcomes, skipped) = await play(path)
                #expect(outcomes.map(\.name) == ["X", "Y", "Z", "a.json, scenario 4", "W"])
                try #require(outcomes.map(\.failures.isEmpty) == [false, false, false, false, true])
                #expect(outcomes[0].failures[0].contains(#""result" must be "ok" or "error""#))
                #expect(outcomes[1].failures[0].contains("unknown step \"dance\""))
                #expect(outcomes[2].failures[0].hasPrefix("Z: \"resources\" is missing"))
                #expect(skipped == [])
            }

            @Test func fieldsThatTheSchemaHasForOtherStepsAreAccepted() async throws {
                let directory = try TemporaryDirectory()
                let step = #"{"op": "expectNetwork", "requestsAtMost": 0, "withinTicks": 5, "beforeBytesOf": {}}"#
                let path = try directory.write(Self.file(Self.scenario("X", step)), to: "a.json")
                let (outcomes, skipped) = await play(path)
                #expect(outcomes == [.init(name: "X", failures: [])])
                #expect(
                    skipped == [
                        #"skipped: X, step 2 (expectNetwork): the field "beforeBytesOf" has no meaning here"#,
                        #"skipped: X, step 2 (expectNetwork): the field "withinTicks" has no meaning here"#,
                    ])
            }

            @Test func streamsOfOthersArePlayed() async throws {
                let directory = try TemporaryDirectory()
                func scenario(_ id: String, _ steps: String) -> String {
                    """
                    {"id": "\(id)", "streams": {"S": {"kind": "vod", "segments": 2}},
                     "steps": [{"op": "hlsLoad", "item": "S"}, \(steps)]}
                    """
                }
                let path = try directory.write(
                    Self.file(
                        scenario("X", #"{"op": "hlsPlay", "item": "S", "seconds": 12, "mood": "good"}"#),
                        scenario("Y", #"{"op": "hlsDance", "item": "S"}"#),
                        scenario("Z", #"{"op": "hlsPlay", "item": "S", "seconds": 13}"#),
                        scenario("W", #"{"op": "hlsExpectOrigin", "stream": "S", "requests": 7}"#)), to: "a.json")
                let (outcomes, skipped) = await play(path)
                #expect(outcomes.map(\.name) == ["X", "Y", "Z", "W"])
                try #require(outcomes.map(\.failures.isEmpty) == [true, false, false, false])
                #expect(outcomes[1].failures[0].contains("unknown step \"hlsDance\""))
                #expect(outcomes[2].failures[0].contains("the stream is at its end"))
                #expect(outcomes[3].failures[0].contains("requests is not 7"))
                #expect(skipped == [#"skipped: X, step 2 (hlsPlay): unknown field "mood""#])
            }

            @Test func aDirectoryStandsForItsFilesAndABrokenFileLeavesTheOthers() async throws {
                let directory = try TemporaryDirectory()
                _ = try directory.write(Array("{".utf8), to: "a.json")
                _ = try directory.write(Self.file(Self.scenario("Y", Self.request)), to: "b.json")
                _ = try directory.write(Array("no scenarios".utf8), to: "read.me")
                let (outcomes, _) = await play(directory.path + ":" + directory.path(of: "missing.json"))
                try #require(outcomes.map(\.failures.isEmpty) == [false, true, false])
                #expect(outcomes[0].name.hasSuffix("/a.json"))
                #expect(outcomes[1].name == "Y")
                #expect(outcomes[2].name.hasSuffix("/missing.json"))
            }

            @Test func anExpectationThatDoesNotHoldIsAFailure() async throws {
                let directory = try TemporaryDirectory()
                let path = try directory.write(
                    Self.file(Self.scenario("X", #"{"op": "expectNetwork", "bytesAtLeast": 1}"#)), to: "a.json")
                #expect(await play(path).outcomes.map(\.failures.isEmpty) == [false])
            }
        }
    }
#endif
