import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `reprise serve` from its start to its end, as a process.
@Suite(.limit(minutes: 2)) struct ServeTests {
    @Test func itSaysWhereItListensServesAndKeepsTheIndexWhenToldToStop() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 3_000_000)
            let outcome = try await Serving.run(site.directory) { serving async throws in
                let answer = try await serving.get(site.target("/film.mp4"))
                #expect(answer.head.status == 200)
                #expect(answer.body == TestPattern.bytes(in: 0..<3_000_000, seed: 1))
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
            let place = "\nCache: \(site.directory.path), 0 B of 2.00 GB stored, "
            #expect(outcome.output.contains(place), "\(outcome)")
            #expect(outcome.output.contains(/stored, \d[\d.]* [kMGT]B free on the disk\n/), "\(outcome)")
            let entries = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(entries.map(\.url) == [site.origin.url("/film.mp4")])
            #expect(entries.map(\.storedBytes) == [3_000_000])
            #expect(entries.map(\.complete) == [true])
            let before = await site.origin.settledSnapshot()
            try await Serving.run(site.directory) { serving async throws in
                let answer = try await serving.get(site.target("/film.mp4"))
                #expect(answer.head.fields["cache-status"] == "reprise; hit")
            }
            let after = await site.origin.settledSnapshot()
            #expect(after.requestCount == before.requestCount)
        }
    }

    @Test("a server on all addresses names one that can be opened") func allAddresses() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let child = try ChildProcess(
            try Command.path,
            ["serve", "--port", "0", "--cache-dir", directory.path, "--host", "0.0.0.0", "--allow-host", "a.example"],
            environment: Command.environment([:]), limit: .seconds(500))
        let text = await child.output.wait { $0.contains("/film.mp4\n") }
        child.send(SIGTERM)
        #expect(await child.outcome().exit == .status(0))
        #expect(text.contains("Reprise is listening on http://127.0.0.1:"), "\(text)")
        #expect(text.contains("  mpv http://127.0.0.1:"))
        #expect(!text.contains("0.0.0.0"))
    }

    @Test(arguments: [SIGTERM, SIGINT]) func itStopsInTheMiddleOfAResponseAndKeepsWhatCame(signal: Int32) async throws {
        try await Site.run { site async throws in
            let held: Int64 = 2 << 20
            let outcome = try await Serving.runInTheMiddleOfAnAnswer(
                site, ["--drain-timeout", "0s"], held: held
            ) { serving, client async throws in
                serving.child.send(signal)
                let outcome = await serving.child.outcome()
                #expect(outcome.exit == .status(0), "\(outcome)")
                #expect(try await client.upTo(1).isEmpty)
            }
            #expect(outcome.errors.contains("Stopping"))
            let url = site.origin.url("/film.mp4")
            let shown = try Command.json(Entry.self, try await Command.run("show", site.directory, ["--json", url]))
            #expect(shown.first?.spans == [[0, held]])
        }
    }

    @Test func theEnvironmentSetsWhatTheArgumentsDoNot() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let settings = ["REPRISE_CACHE_DIR": site.directory.path, "REPRISE_PORT": "0"]
            try await Serving.run([], environment: settings) { serving async throws in
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
            }
            let list = try await Command.run(["list", "--json"], environment: settings)
            #expect(try Command.json(Entry.self, list).map(\.storedBytes) == [1000])
        }
    }

    @Test func aSecondOneOnTheSameDirectoryIs75AndNamesTheFirst() async throws {
        try await Site.run { site async throws in
            let outcome = try await Serving.run(site.directory) { serving async throws in
                let writers = [("serve", ["--port", "0"]), ("fetch", ["--reset", "http://127.0.0.1:1/"])]
                for (subcommand, arguments) in writers {
                    let second = try await Command.run(subcommand, site.directory, arguments)
                    #expect(second.exit == .status(75), "\(subcommand): \(second)")
                    #expect(second.errors.contains("process \(serving.child.identifier)"))
                }
                for subcommand in ["list", "stats"] {
                    let second = try await Command.run(subcommand, site.directory)
                    #expect(second.exit == .status(0), "\(subcommand): \(second)")
                }
                #expect(try await serving.get("/").head.status == 200)
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
    }

    @Test func aPortThatIsTakenIs64AndNamed() async throws {
        try await Site.run { site async throws in
            let outcome = try await Command.run("serve", site.directory, ["--port", "\(site.origin.port)"])
            #expect(outcome.exit == .status(64), "\(outcome)")
            #expect(outcome.errors.contains("port \(site.origin.port)"))
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func aPageThatIsNamedMayRead() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 100)
            let pages = ["--allow-page", "http://localhost:8000", "--allow-page", "https://app.example"]
            try await Serving.run(site.directory, pages) { serving async throws in
                for (page, status) in [("https://app.example", 200), ("http://evil.example", 403)] {
                    let fields = ["Origin: \(page)", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: empty"]
                    let answer = try await serving.get(site.target("/a.mp4"), fields)
                    #expect(answer.head.status == status)
                    #expect(answer.head.fields["access-control-allow-origin"] == (status == 200 ? page : nil))
                }
            }
        }
    }

    @Test func listeningForOthersNeedsATokenOrAList() async throws {
        let directory = try TemporaryDirectory()
        let outcome = try await Command.run("serve", directory, ["--port", "0", "--host", "0.0.0.0"])
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors.contains("token"))
    }

    @Test("a token that is easily guessed is refused, unless the server is reached from this machine only")
    func weakTokens() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for token in ["a", "1234", "t0ken-a", "Password"] {
            let outcome = try await Command.run(
                "serve", directory, ["--port", "0", "--host", "0.0.0.0", "--token", token])
            #expect(outcome.exit == .status(64) && outcome.errors.contains("easily guessed"), "\(outcome)")
        }
        try await Serving.run(directory, ["--token", "a"]) { _ async throws in }
    }

    @Test("a pipe gets no token, but the place of it") func tokenInPipe() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        for (options, variables, place) in [
            (["--token", "s3cret-t0ken"], [:], "--token"),
            ([], ["REPRISE_TOKEN": "s3cret-t0ken"], "REPRISE_TOKEN"),
        ] as [([String], [String: String], String)] {
            let outcome = try await Serving.run(directory, options, environment: variables) { serving async throws in
                #expect(try await serving.get("/s3cret-t0ken/").head.status == 200)
                // After the line by which the server is found.
                _ = await serving.child.output.wait { $0.contains("*** stands for the token") }
            }
            #expect(!(outcome.output + outcome.errors).contains("s3cret"), "\(outcome)")
            #expect(outcome.output.contains(/mpv http:\/\/127\.0\.0\.1:\d+\/\*\*\*\/https\/example/), "\(outcome)")
            #expect(outcome.output.contains("It is that of \(place).\n"), "\(outcome)")
        }
    }

    @Test("a download that was done before the start is no news") func doneBefore() async throws {
        try await Site.run { site async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
            site.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                at: "/list.m3u8")
            site.publish("/a.ts", length: 1000)
            let url = site.origin.url("/list.m3u8")
            #expect(try await Command.run("download", site.directory, [url]).exit == .status(0))
            // Each start looks whether the stream lacks a file.
            let outcome = try await Serving.run(site.directory, ["--log-level", "debug"]) { serving async throws in
                _ = await serving.child.errors.wait { $0.contains("download ended") }
            }
            #expect(outcome.errors.contains(" debug reprise: download ended key="), "\(outcome)")
            #expect(!outcome.errors.contains(" notice reprise: download ended"), "\(outcome)")
        }
    }

    @Test func aDirectoryThatCannotBeWrittenIsSaidOnceAndEverythingStreams() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 300_000)
            // No user can make a directory below a file, not even root.
            let place = try site.directory.write([], to: "file") + "/cache"
            let outcome = try await Serving.run(["--port", "0", "--cache-dir", place]) { serving async throws in
                for _ in 0..<3 {
                    let answer = try await serving.get(site.target("/a.mp4"))
                    #expect(answer.head.status == 200)
                    #expect(answer.body == TestPattern.bytes(in: 0..<300_000, seed: 1))
                }
                let part = try await serving.get(site.target("/a.mp4"), ["Range: bytes=100000-100009"])
                #expect(part.head.status == 206)
                #expect(part.body == TestPattern.bytes(in: 100_000..<100_010, seed: 1))
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(outcome.output.contains("Cache: no store\n"))
            #expect(outcome.errors.components(separatedBy: "store bypassed").count == 2, "\(outcome)")
            #expect(outcome.errors.contains(place))
        }
    }

    @Test("Where downloads fill the limit, serve says that nothing else can be stored") func filled() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 5_000_000)
            let download = try await Command.run("download", site.directory, [site.origin.url("/film.mp4")])
            #expect(download.exit == .status(0), "\(download)")
            let outcome = try await Serving.run(site.directory, ["--limit", "3MB"]) { serving async throws in
                let status = String(decoding: try await serving.get("/-/status.json").body, as: UTF8.self)
                #expect(status.contains("\"problem\":\"Pinned entries and downloads occupy"), "\(status)")
            }
            #expect(outcome.output.contains("of the limit of 3.00 MB. Raise the limit with --limit, or"), "\(outcome)")
        }
    }

    @Test("Where the disk has less room than is to stay free, serve says that nothing can be stored") func shortage()
        async throws
    {
        try await Site.run { site async throws in
            let outcome = try await Serving.run(site.directory, ["--minimum-free", "9000TB"]) { serving async throws in
                let ready = try await serving.get("/-/ready")
                #expect(ready.head.status == 200 && ready.body == Array("degraded\n".utf8))
                let status = String(decoding: try await serving.get("/-/status.json").body, as: UTF8.self)
                #expect(status.contains("\"problem\":\""), "\(status)")
            }
            #expect(outcome.output.contains("Nothing can be stored: "), "\(outcome)")
        }
    }
}
