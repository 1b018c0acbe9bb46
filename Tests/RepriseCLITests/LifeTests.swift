import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The life of `reprise serve` as a process: health, drain, hang-up.
@Suite(.serialized, .limit(minutes: 4)) struct LifeTests {
    @Test func healthIs0WhileItServesAnd1Otherwise() async throws {
        try await Site.run { site async throws in
            let ended = try await Serving.run(site.directory, ["--token", "secret"]) { serving async throws in
                for (options, answer) in [([], "ok\n"), (["--ready"], "ready\n")] {
                    let byVariable = try await Command.run(
                        ["health"] + options, environment: ["REPRISE_PORT": "\(serving.port)"])
                    #expect(byVariable.exit == .status(0), "\(byVariable)")
                    #expect(byVariable.output == answer)
                    let url = "http://127.0.0.1:\(serving.port)/"
                    #expect(try await Command.run(["health", "--url", url] + options).exit == .status(0))
                }
            }
            #expect(ended.exit == .status(0), "\(ended)")
            // A server that is no proxy of this kind.
            let other = try await Command.run(["health", "--url", "http://127.0.0.1:\(site.origin.port)"])
            #expect(other.exit == .status(1), "\(other)")
            #expect(other.errors.contains("404"))
            for (path, options, text) in [
                ("/-/live", [], "<p>s3cret"), ("/-/live", [], "ready\n"), ("/-/live", [], "ok\ns3cret"),
                ("/-/ready", ["--ready"], "ok\n"), ("/-/ready", ["--ready"], "draining\n"),
                ("/-/ready", ["--ready"], ""),
            ] as [(String, [String], String)] {
                site.origin.set(TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "text/plain"), at: path)
                let foreign = try await Command.run(
                    ["health", "--url", "http://127.0.0.1:\(site.origin.port)"] + options)
                #expect(foreign.exit == .status(1) && foreign.output.isEmpty, "\(foreign)")
                #expect(foreign.errors.contains("No server of Reprise answers at"), "\(foreign)")
                #expect(!foreign.errors.contains("s3cret"))
            }
            let closed = try await Command.run(["health", "--url", "http://127.0.0.1:9"])
            #expect(closed.exit == .status(1), "\(closed)")
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aSecondSignalEndsItAtOnce(signal: Int32) async throws {
        try await Site.run { site async throws in
            let outcome = try await Serving.runInTheMiddleOfAnAnswer(
                site, ["--drain-timeout", "1h"]
            ) { serving, _ async throws in
                serving.child.send(signal)
                _ = await serving.child.errors.wait { $0.contains("Another signal") }
                // One that follows at once counts as the same.
                await eventually {
                    serving.child.send(signal)
                    return serving.child.hasEnded
                }
                #expect(await serving.child.outcome().exit == .signal(signal))
            }
            #expect(outcome.exit == .signal(signal))
        }
    }

    @Test func ofAHundredRunningBodiesNoneIsCut() async throws {
        try await Site.run { site async throws in
            let length: Int64 = 6 << 20
            site.publish("/film.mp4", length: length)
            let whole = TestPattern.bytes(in: 0..<length, seed: 1)
            let options = ["--drain-timeout", "3m", "--max-connections", "200"]
            let outcome = try await Serving.run(site.directory, options) { serving async throws in
                #expect(try await serving.get(site.target("/film.mp4")).head.status == 200)
                var clients: [RawClient] = []
                for _ in 0..<100 {
                    // Small, so that most of each body still lies with the server.
                    let client = try RawClient(port: serving.port, receiveBufferSize: 64 << 10)
                    try await client.get(site.target("/film.mp4"))
                    #expect(try await client.head().status == 200)
                    clients.append(client)
                }
                let clock = ContinuousClock()
                let start = clock.now
                serving.child.send(SIGTERM)
                _ = await serving.child.errors.wait { $0.contains("Stopping") }
                // From then on it is not ready, or listens no more.
                await eventually {
                    (try? await RawClient.exchange(port: serving.port, "/-/ready").head.status) != 200
                }
                for client in clients { #expect(try await client.upTo(Int(length) + 1) == whole) }
                #expect(await serving.child.outcome().exit == .status(0))
                print("SIGTERM under 100 bodies of 6 MiB: all whole, ended after \(clock.now - start)")
            }
            #expect(!outcome.errors.contains("broken off"), "\(outcome)")
            let entries = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(entries.map(\.complete) == [true])
        }
    }

    @Test func aHangUpDoesNotEndIt() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let outcome = try await Serving.run(site.directory, ["--log-level", "info"]) { serving async throws in
                serving.child.send(SIGHUP)
                _ = await serving.child.errors.wait { $0.contains("hang-up") }
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
    }
}
