import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `reprise fetch`, as a process, before a real origin.
@Suite(.limit(minutes: 2)) struct FetchTests {
    private struct Report: Decodable {
        let url: String
        let state: String
        let bytes: Int64?
        let total: Int64?
        let fromStore: Int64?
        let error, code: String?
        let status: Int?
    }

    private static let length: Int64 = 3 << 20
    private static let content = TestPattern.bytes(in: 0..<length, seed: 1)

    @Test func whatIsFetchedIsWrittenOutAndNotFetchedAgain() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            let file = site.directory.path(of: "film.mp4")
            let url = site.origin.url("/film.mp4")
            let first = try await Command.run("fetch", site.directory, [url, "--output", file])
            #expect(first.exit == .status(0), "\(first)")
            #expect(first.output == "film.mp4  3.15 MB: 3.15 MB fetched, 0 B from the store\n")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(Self.content))
            let second = try await Command.run("fetch", site.directory, ["--json", url, "--force", "-o", file])
            #expect(second.exit == .status(0), "\(second)")
            let report = try #require(try Command.json(Report.self, second).last)
            #expect(report.url == url && report.state == "done")
            #expect([report.bytes, report.total, report.fromStore] == [Self.length, Self.length, Self.length])
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(Self.content))
            let origin = await site.origin.settledSnapshot()
            #expect(origin.requestCount == 1)
            #expect(origin.bodyBytesSent == Self.length)
        }
    }

    @Test("--first stores what some seconds need, and a second time fetches nothing")
    func first() async throws {
        try await Site.run { site async throws in
            let header: [UInt8] =
                Array("RIFF".utf8) + [0x24, 0x48, 0xE8, 1] + Array("WAVEfmt ".utf8)
                + [16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x40, 0x1F, 0, 0, 1, 0, 8, 0] + Array("data".utf8)
                + [0, 0x48, 0xE8, 1]
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(header + TestPattern.bytes(in: 0..<32_000_000, seed: 1)), mediaType: "audio/wav"),
                at: "/song.wav")
            let url = site.origin.url("/song.wav")
            let first = try await Command.run("fetch", site.directory, ["--first", "20s", url])
            #expect(first.output == "song.wav  first 20s: 160 kB fetched\n", "\(first)")
            let again = try await Command.run("fetch", site.directory, ["--first", "20s", url])
            #expect(again.output == "song.wav  first 20s: all of it was stored\n", "\(again)")
            let bytes = try await Command.run("fetch", site.directory, ["--json", "--first", "200kB", url])
            let report = try #require(try Command.json(Report.self, bytes).last)
            #expect(report.state == "done" && report.bytes.map { $0 < 40_000 } == true, "\(bytes)")
            let origin = await site.origin.settledSnapshot()
            #expect(origin.bytesSentMoreThanOnce == 0)
            for arguments in [
                ["--first", "0s"], ["--first", "much"], ["--first", "10s", "--output", "x"],
                ["--first", "10s", "--rate", "1MB"],
            ] {
                let outcome = try await Command.run("fetch", site.directory, arguments + [url])
                #expect(outcome.exit == .status(64) && outcome.errors.contains("--first"), "\(outcome)")
            }
        }
    }

    @Test("a failure has its code and the origin's status in JSON, also beside a server") func failure() async throws {
        try await Site.run { site async throws in
            let url = site.origin.url("/none.mp4")
            func check() async throws {
                for command in ["fetch", "download"] {
                    let outcome = try await Command.run(command, site.directory, ["--json", url])
                    #expect(outcome.exit == .status(69))
                    let report = try #require(try Command.json(Report.self, outcome).last)
                    #expect(report.code == "originRefused" && report.status == 404, "\(outcome.output)")
                    #expect(report.error == "The origin answered 404 for \(url).")
                }
            }
            try await check()
            try await Serving.run(site.directory) { _ async throws in try await check() }
        }
    }

    @Test("without progress only results and errors are printed") func quiet() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            site.origin.hold("/film.mp4", at: 1 << 20)
            let options = ["--cache-dir", site.directory.path(of: "other"), site.origin.url("/film.mp4")]
            let shown = try ChildProcess(Command.path, ["fetch"] + options, environment: Command.environment())
            let quiet = try ChildProcess(
                Command.path, ["fetch", "-q", "--cache-dir", site.directory.path, site.origin.url("/film.mp4")],
                environment: Command.environment())
            await site.origin.waitUntil { $0["/film.mp4"].bodyBytesSent >= 2 << 20 }
            // The quiet one began at the same time.
            await shown.errors.wait { $0.contains("film.mp4") }
            site.origin.release("/film.mp4")
            #expect(await shown.outcome().exit == .status(0))
            let outcome = await quiet.outcome()
            #expect(outcome.exit == .status(0) && outcome.errors.isEmpty, "\(outcome)")
            #expect(outcome.output == "film.mp4  3.15 MB: 3.15 MB fetched, 0 B from the store\n")
        }
    }

    @Test func aMissingFileIs69AndLeavesNothing() async throws {
        try await Site.run { site async throws in
            site.publish("/b.mp4", length: 1000)
            let file = site.directory.path(of: "a.mp4")
            let url = site.origin.url("/a.mp4")
            let outcome = try await Command.run("fetch", site.directory, [url, "--output", file])
            #expect(outcome.exit == .status(69), "\(outcome)")
            #expect(outcome.errors.contains("404"))
            #expect(!FileManager.default.fileExists(atPath: file))
            #expect(try Self.hiddenFiles(site).isEmpty)
            let both = try await Command.run("fetch", site.directory, ["--json", url, site.origin.url("/b.mp4")])
            #expect(both.exit == .status(69), "\(both)")
            // A slow machine shows progress, too.
            let states = try Command.json(Report.self, both).map(\.state).filter { $0 != "progress" }
            #expect(states == ["failed", "done"])
            let entries = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(entries.map(\.url) == [site.origin.url("/b.mp4")])
        }
    }

    @Test func anOriginThatIsNotThereIs69() async throws {
        try await Site.run { site async throws in
            await site.origin.stop()
            let outcome = try await Command.run("fetch", site.directory, [site.origin.url("/a.mp4")])
            #expect(outcome.exit == .status(69), "\(outcome)")
            #expect(outcome.errors.contains("127.0.0.1:\(site.origin.port)"))
        }
    }

    @Test func aFetchThatBrokeOffGoesOnFromTheByteItHadReached() async throws {
        try await Site.run { site async throws in
            let reached: Int64 = 1 << 20
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: Self.length),
                    override: { _, number in
                        number > 1 ? .failing(with: 403) : TestOrigin.Personality { $0.truncateAfter = reached }
                    }), at: "/film.mp4")
            let file = site.directory.path(of: "film.mp4")
            let url = site.origin.url("/film.mp4")
            let first = try await Command.run("fetch", site.directory, [url, "-o", file])
            #expect(first.exit == .status(69), "\(first)")
            #expect(!FileManager.default.fileExists(atPath: file))
            #expect(try Self.hiddenFiles(site).isEmpty)
            let entry = try #require(
                try Command.json(Entry.self, try await Command.run("show", site.directory, ["--json", url])).first)
            #expect(entry.spans == [[0, reached]])
            #expect(!entry.complete)
            site.origin.set(TestOrigin.Resource(.pattern(seed: 1, length: Self.length)), at: "/film.mp4")
            let second = try await Command.run("fetch", site.directory, ["--json", url, "-o", file])
            #expect(second.exit == .status(0), "\(second)")
            #expect(try Command.json(Report.self, second).last?.fromStore == reached)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(Self.content))
            let origin = await site.origin.settledSnapshot()["/film.mp4"]
            #expect(origin.requests.last?.requestedRange == reached..<Self.length)
            #expect(origin.bytesSentMoreThanOnce == 0)
        }
    }

    @Test("--refresh asks whether a fresh file has changed, and fetches one that has") func refresh() async throws {
        try await Site.run { site async throws in
            let fresh: HTTPFields = [.cacheControl: "max-age=9999", .eTag: "\"1\""]
            site.publish("/news.mp3", length: 1000, fields: fresh)
            let url = site.origin.url("/news.mp3")
            for (options, requests) in [([], 1), ([], 1), (["--refresh"], 2)] {
                let outcome = try await Command.run("fetch", site.directory, options + [url])
                #expect(outcome.exit == .status(0), "\(outcome)")
                #expect(site.origin.snapshot.requestCount == requests)
            }
            #expect(site.origin.snapshot.requests.last?.fields[.ifNoneMatch] != nil)
            site.publish("/news.mp3", length: 2000, fields: [.cacheControl: "max-age=9999", .eTag: "\"2\""])
            let outcome = try await Command.run("fetch", site.directory, ["--refresh", url])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let list = try await Command.run("list", site.directory, ["--json"])
            #expect(try Command.json(Entry.self, list).map(\.storedBytes) == [2000], "\(list)")
            site.origin.set(
                TestOrigin.Resource(.pattern(seed: 1, length: 2000), personality: .failing(with: 503)), at: "/news.mp3")
            let unasked = try await Command.run("fetch", site.directory, ["--refresh", url])
            #expect(unasked.exit == .status(69) && unasked.errors.contains("could not be asked"), "\(unasked)")
        }
    }

    @Test("a download that begins again at an origin without ranges says why") func withoutRanges() async throws {
        try await Site.run { site async throws in
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 3_000_000), mediaType: "video/mp4",
                    personality: TestOrigin.Personality { $0.ignoresRange = true }), at: "/film.mp4")
            site.origin.hold("/film.mp4", at: 1_000_000)
            let url = site.origin.url("/film.mp4")
            let child = try ChildProcess(
                Command.path, ["fetch", "--cache-dir", site.directory.path, url], environment: Command.environment())
            await site.origin.waitUntil { $0.bodyBytesSent >= 1_000_000 }
            child.send(SIGTERM)
            _ = await child.outcome()
            site.origin.release("/film.mp4")
            let again = try await Command.run("fetch", site.directory, [url])
            #expect(again.exit == .status(0), "\(again)")
            #expect(again.errors.contains("It sends whole files in place of the missing parts"), "\(again)")
        }
    }

    @Test func fieldsFromTheCommandLineReachTheOriginAndNotTheScreen() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 10)
            let outcome = try await Command.run(
                "fetch", site.directory,
                [site.origin.url("/a.mp4"), "--header", "Authorization: Bearer s3cret"])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let asked = try #require(site.origin.snapshot.requests.first)
            #expect("\(asked.fields)".contains("Bearer s3cret"))
            #expect(!(outcome.output + outcome.errors).contains("s3cret"))
        }
    }

    /// Files beside the outputs that no user asked for.
    private static func hiddenFiles(_ site: Site) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: site.directory.path).filter { $0.hasPrefix(".") }
    }

    @Test func aFileThatCannotBeCreatedIs73AndSaidInTheSystemsWords() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 10)
            let place = try site.directory.write([], to: "file") + "/a.mp4"
            let outcome = try await Command.run("fetch", site.directory, [site.origin.url("/a.mp4"), "-o", place])
            #expect(outcome.exit == .status(73), "\(outcome)")
            #expect(outcome.errors == "reprise: Cannot create \(place): Not a directory.\n")
        }
    }

    @Test(arguments: [["--limit", "100kB"], ["--entry-limit", "100kB"], ["--minimum-free", "9000TB"]])
    func aFileThatCannotBeStoredAsAWholeIsNotFetchedAndEvictsNothing(options: [String]) async throws {
        try await Site.run { site async throws in
            site.publish("/small.mp4", length: 50_000)
            site.publish("/film.mp4", length: Self.length)
            let small = site.origin.url("/small.mp4")
            #expect(try await Command.run("fetch", site.directory, [small]).exit == .status(0))
            let outcome = try await Command.run("fetch", site.directory, options + [site.origin.url("/film.mp4")])
            #expect(outcome.exit == .status(74), "\(outcome)")
            #expect(outcome.errors.contains("film.mp4 cannot be stored as a whole: it has 3.15 MB"), "\(outcome)")
            #expect(outcome.output.isEmpty)
            #expect(try await Self.stored(site) == [small: 50_000])
        }
    }

    @Test func anOutputOfAFileThatCannotBeStoredIsCompleteAllTheSame() async throws {
        try await Site.run { site async throws in
            site.publish("/small.mp4", length: 50_000)
            site.publish("/film.mp4", length: Self.length)
            let small = site.origin.url("/small.mp4")
            #expect(try await Command.run("fetch", site.directory, [small]).exit == .status(0))
            let file = site.directory.path(of: "film.mp4")
            let outcome = try await Command.run(
                "fetch", site.directory, ["--limit", "1MB", site.origin.url("/film.mp4"), "-o", file])
            #expect(outcome.exit == .status(0) && outcome.output.hasPrefix("film.mp4  3.15 MB: "), "\(outcome)")
            #expect(outcome.errors.contains("\(file) is complete, but film.mp4 is not stored as a whole"), "\(outcome)")
            let stats = try await Command.run("stats", site.directory)
            #expect(stats.output.contains("Limit      2.00 GB"), "a limit under which nothing was stored is not kept")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(Self.content))
            #expect(try await Self.stored(site) == [small: 50_000])
            #expect(await site.origin.settledSnapshot()["/film.mp4"].requestCount == 1)
        }
    }

    @Test func whatIsPartlyStoredAndNoLongerFitsEvictsNothingElse() async throws {
        try await Site.run { site async throws in
            site.publish("/small.mp4", length: 50_000)
            site.publish("/film.mp4", length: Self.length)
            try await Serving.run(site.directory) { serving async throws in
                _ = try await serving.get(site.target("/film.mp4"), ["Range: bytes=0-99999"])
                _ = try await serving.get(site.target("/small.mp4"))
            }
            let before = try await Self.stored(site)
            let outcome = try await Command.run(
                "fetch", site.directory, ["--limit", "1MB", site.origin.url("/film.mp4")])
            #expect(outcome.exit == .status(74), "\(outcome)")
            #expect(try await Self.stored(site) == before)
        }
    }

    /// An origin that tells neither length nor validators, and knows no ranges.
    private static func publishUntold(_ site: Site, _ path: String, length: Int64) {
        site.origin.set(
            TestOrigin.Resource(
                .pattern(seed: 1, length: length), mediaType: "video/mp4", etag: nil, lastModified: nil,
                personality: TestOrigin.Personality {
                    $0.ignoresRange = true
                    $0.acceptRanges = nil
                    $0.framing = .chunked
                }), at: path)
    }

    @Test(
        "a file that turns out larger than the limit is 74, and 0 with an output, which is complete",
        arguments: [false, true])
    func outgrown(isSealed: Bool) async throws {
        let key = isSealed ? ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)] : [:]
        try await Site.run { site async throws in
            Self.publishUntold(site, "/film.mp4", length: Self.length)
            let url = site.origin.url("/film.mp4")
            let message =
                "film.mp4 cannot be stored as a whole: it does not fit the limit of the cache, which is 1.00 MB."
            let without = try await Command.run("fetch", site.directory, ["--limit", "1MB", url], environment: key)
            #expect(without.exit == .status(74), "\(without)")
            #expect(without.errors.contains(message), "\(without)")
            site.origin.resetCounters()
            for (number, more) in [[], ["--limit", "1MB"]].enumerated() {
                let cache = site.directory.path(of: "cache\(number)")
                let file = site.directory.path(of: "film\(number).mp4")
                let options = ["fetch", "--cache-dir", cache, url, "-o", file] + more
                let outcome = try await Command.run(options, environment: key)
                #expect(outcome.exit == .status(0), "\(outcome)")
                if !more.isEmpty {
                    #expect(
                        outcome.errors.contains("\(file) is complete, but film.mp4 is not stored as a whole: it does"))
                }
                let isWhole = try Data(contentsOf: URL(fileURLWithPath: file)) == Data(Self.content)
                #expect(isWhole)
            }
            #expect(await site.origin.settledSnapshot()["/film.mp4"].requestCount == 2)
        }
    }

    @Test("a body without end is given up at the limit of the cache")
    func endless() async throws {
        try await Site.run { site async throws in
            site.publish("/small.mp4", length: 50_000)
            try await Serving.run(site.directory) { serving async throws in
                _ = try await serving.get(site.target("/small.mp4"))
            }
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 1000), mediaType: "audio/mpeg",
                    personality: TestOrigin.Personality { $0.isEndless = true }), at: "/live")
            let outcome = try await Command.run(
                "fetch", site.directory, ["--limit", "3MB", site.origin.url("/live")])
            #expect(outcome.exit == .status(74), "\(outcome)")
            let message = "live cannot be stored as a whole: it does not fit the limit of the cache, which is 3.00 MB."
            #expect(outcome.errors.contains(message), "\(outcome)")
        }
    }

    @Test("bytes that replace lost ones are told as fetched")
    func replaced() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: Self.length)
            let url = site.origin.url("/film.mp4")
            #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0))
            let file = try #require(DiskUse.mediaFiles(of: site.directory.path).first)
            try FileHandle(forWritingTo: URL(fileURLWithPath: file)).truncate(atOffset: UInt64(Self.length / 2))
            let outcome = try await Command.run("fetch", site.directory, ["--json", url])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let report = try #require(try Command.json(Report.self, outcome).last)
            #expect(report.bytes == Self.length, "\(outcome.output)")
            let fetched = await site.origin.settledSnapshot()["/film.mp4"].bodyBytesSent - Self.length
            #expect(fetched >= Self.length / 2)
            #expect(report.fromStore.map { Self.length - $0 } == fetched, "\(outcome.output)")
        }
    }

    @Test("an empty file is fetched, and said to be empty", arguments: ["/empty", "/empty.mp4"], [true, false])
    func emptyFile(path: String, isDeclared: Bool) async throws {
        try await Site.run { site async throws in
            if isDeclared { site.publish(path, length: 0) } else { Self.publishUntold(site, path, length: 0) }
            let url = site.origin.url(path)
            let name = String(path.dropFirst())
            let file = site.directory.path(of: "out.mp4")
            let plain = try await Command.run("fetch", site.directory, [url])
            #expect(plain.exit == .status(0), "\(plain)")
            #expect(plain.output == "\(name)  0 B: the file is empty\n", "\(plain.output)")
            let outcome = try await Command.run("fetch", site.directory, ["--json", url, "-o", file])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let report = try #require(try Command.json(Report.self, outcome).last)
            #expect(report.state == "done" && report.bytes == 0, "\(outcome.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty)
        }
    }

    @Test(
        "an empty file is complete at once, also for pin and for beginnings", arguments: ["/empty", "/empty.mp4"],
        [
            ["fetch", "--first", "5s"], ["fetch", "--first", "5MB"], ["pin", "--first", "5s"],
            ["pin", "--first", "5MB"],
            ["download"],
        ])
    func emptyFile(path: String, arguments: [String]) async throws {
        try await Site.run { site async throws in
            site.publish(path, length: 0)
            let url = site.origin.url(path)
            let alone = try await Command.run(arguments[0], site.directory, arguments.dropFirst() + [url])
            #expect(alone.exit == .status(0) && alone.output.hasSuffix("the file is empty\n"), "\(alone)")
            try await Serving.run(site.directory) { _ async throws in
                let beside = try await Command.run(arguments[0], site.directory, arguments.dropFirst() + [url])
                #expect(beside.exit == .status(0) && beside.output == alone.output, "\(beside)")
            }
        }
    }

    @Test func aLimitUnderWhichAllFailedIsNotTheCaches() async throws {
        try await Site.run { site async throws in
            for path in ["/a.mp4", "/b.mp4"] { site.publish(path, length: 700_000) }
            let (a, b) = (site.origin.url("/a.mp4"), site.origin.url("/b.mp4"))
            func limit() async throws -> String? {
                // A file that fits no limit tells which one there is.
                site.publish("/huge.mp4", length: 5_000_000_000)
                let huge = try await Command.run("fetch", site.directory, [site.origin.url("/huge.mp4")])
                return huge.errors.firstMatch(of: /the limit of the cache is ([^.]*\...? .B)/).map { String($0.1) }
            }
            #expect(try await Command.run("fetch", site.directory, ["--limit", "3MB", a]).exit == .status(0))
            #expect(try await limit() == "3.00 MB")
            for command in [
                ["fetch", "--limit", "100kB", b], ["pin", "--limit", "100kB", a],
                ["download", "--limit", "100kB", b],
                ["fetch", "--limit", "9MB", a + "/404"],
                ["serve", "--limit", "9MB", "--port", "\(site.origin.port)"],
            ] {
                let outcome = try await Command.run(command[0], site.directory, Array(command.dropFirst()))
                #expect(outcome.exit != .status(0), "\(command)")
                #expect(try await limit() == "3.00 MB", "\(command)")
            }
            #expect(try await Command.run("pin", site.directory, ["--limit", "9MB", a]).exit == .status(0))
            #expect(try await limit() == "9.00 MB")
        }
    }

    private static func stored(_ site: Site) async throws -> [String: Int64] {
        let list = try await Command.run("list", site.directory, ["--json"])
        return Dictionary(uniqueKeysWithValues: try Command.json(Entry.self, list).map { ($0.url, $0.storedBytes) })
    }
}
