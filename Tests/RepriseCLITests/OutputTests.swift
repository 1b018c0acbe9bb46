import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Where `fetch` and `export` write: nothing of the user's is lost, whatever the name stands for.
///
/// One after the other: dozens of processes at once leave none of the other tests the time that it expects.
@Suite(.serialized, .limit(minutes: 5)) struct OutputTests {
    /// More than a pipe holds, and text, so that it comes through standard output.
    private static let content = (0..<200_000).map { UInt8(ascii: "a") + UInt8($0 * 7 / 5 % 26) }

    private static func publish(_ site: Site) -> String {
        site.origin.set(TestOrigin.Resource(.bytes(content), mediaType: "video/mp4"), at: "/film.mp4")
        return site.origin.url("/film.mp4")
    }

    @Test(
        "the cache's own files are no outputs",
        arguments: ["catalogue.sqlite", "lock", "index.reserve", "media/new", "media/ab/new", "link"])
    func aFileOfTheCacheIsNoOutput(name: String) async throws {
        try await Site.run { site async throws in
            let url = Self.publish(site)
            try await Command.run("fetch", site.directory, [url])
            let (path, link) = (site.directory.path(of: name), site.directory.path(of: "link"))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "catalogue.sqlite")
            try FileManager.default.createDirectory(
                atPath: site.directory.path(of: "media/ab"), withIntermediateDirectories: true)
            // Also those of another cache.
            let other = try TemporaryDirectory()
            defer { other.remove() }
            for (subcommand, cache) in [("fetch", site.directory), ("export", site.directory), ("fetch", other)] {
                let outcome = try await Command.run(subcommand, cache, [url, "--force", "-o", path])
                #expect(outcome.exit == .status(73), "\(outcome)")
                #expect(outcome.errors.contains("a file of the cache itself"), "\(outcome)")
            }
            #expect(try await Command.run("verify", site.directory).exit == .status(0))
            // Beside them there is room for others.
            let output = site.directory.path(of: "film.mp4")
            #expect(try await Command.run("export", site.directory, [url, "-o", output]).exit == .status(0))
        }
    }

    @Test func aNameThatIsTooLongIsRefusedBeforeTheOriginIsAsked() async throws {
        try await Site.run { site async throws in
            let name = String(repeating: "x", count: 256)
            let outcome = try await Command.run(
                "fetch", site.directory, [Self.publish(site), "-o", site.directory.path(of: name)])
            #expect(outcome.exit == .status(73), "\(outcome)")
            #expect(site.origin.snapshot.requestCount == 0)
        }
    }

    @Test("a stranger's file under the unfinished one's name is neither used nor removed")
    func anUnfinishedFileThatWasReplaced() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = try OutputFile(path: directory.path(of: "film.mp4"), existing: .kept)
        try file.write([1, 2, 3])
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        let part = try #require(names.first { $0.hasSuffix(".part") })
        try FileManager.default.removeItem(atPath: directory.path(of: part))
        try Data("stranger".utf8).write(to: URL(fileURLWithPath: directory.path(of: part)))
        #expect(throws: OutputFile.Failure.self) { try file.finish() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [part])
    }

    @Test func controlCharactersOfANameDoNotReachTheTerminal() async throws {
        try await Site.run { site async throws in
            let path = site.directory.path(of: "a\u{1B}[2Jb\n")
            let outcome = try await Command.run("fetch", site.directory, [Self.publish(site), "-o", path])
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(!(outcome.output + outcome.errors).contains("\u{1B}"), "\(outcome)")
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(arguments: ["fetch", "export"], OutputPlace.available)
    func whatANameStandsForStaysWhatItIs(subcommand: String, kind: OutputPlace) async throws {
        try await Site.run { site async throws in
            let url = Self.publish(site)
            let cache = try TemporaryDirectory()
            defer { cache.remove() }
            if subcommand == "export" { try await Command.run("fetch", cache, [url]) }
            for force in [[], ["--force"]] {
                let place = try PreparedPlace(kind, in: site.directory.path(of: "out\(force.count)"))
                let outcome = try await Command.run(subcommand, cache, [url, "-o", place.path] + force)
                let isWritten = !kind.isImpossible && (!kind.isOccupied || !force.isEmpty)
                #expect(outcome.exit == .status(isWritten ? 0 : 73), "\(outcome)")
                if !isWritten {
                    #expect(outcome.errors.contains(place.path), "\(outcome)")
                    #expect(outcome.errors.contains("--force") == kind.isOccupied, "\(outcome)")
                    #expect(outcome.output.isEmpty)
                }
                try await place.check(isWritten ? Self.content : nil, outcome)
                await place.close()
            }
        }
    }

    @Test("a descriptor that the command opened itself, such as that of the index, is no output")
    func descriptors() async throws {
        try await Site.run { site async throws in
            let url = Self.publish(site)
            try await Command.run("fetch", site.directory, [url])
            for number in 3..<16 {
                let outcome = try await Command.run("export", site.directory, [url, "-o", "/dev/fd/\(number)"])
                #expect(outcome.exit == .status(73), "\(number): \(outcome)")
            }
            let verify = try await Command.run("verify", site.directory)
            #expect(verify.output.contains("1 entry"), "\(verify)")
        }
    }

    @Test func anOutputThatCannotBeWrittenIsRefusedBeforeTheOriginIsAsked() async throws {
        try await Site.run { site async throws in
            let url = Self.publish(site)
            let file = try site.directory.write(PreparedPlace.old, to: "film.mp4")
            let outcome = try await Command.run("fetch", site.directory, [url, "-o", file])
            #expect(outcome.exit == .status(73), "\(outcome)")
            #expect(site.origin.snapshot.requestCount == 0)
        }
    }

    @Test func aFileThatAppearsInTheMeantimeIsNotReplaced() async throws {
        try await Site.run { site async throws in
            let url = Self.publish(site)
            site.origin.holdHeads("/film.mp4")
            let file = site.directory.path(of: "film.mp4")
            let child = try ChildProcess(
                Command.path, ["fetch", "--cache-dir", site.directory.path(of: "cache"), url, "-o", file],
                environment: Command.environment())
            await site.origin.waitUntil { $0.requestCount >= 1 }
            try site.directory.write(PreparedPlace.old, to: "film.mp4")
            site.origin.release("/film.mp4")
            let outcome = await child.outcome()
            #expect(outcome.exit == .status(73), "\(outcome)")
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: file))) == PreparedPlace.old)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: site.directory.path).sorted() == [
                    "cache", "film.mp4",
                ])
        }
    }

    @Test func aNewFileHasTheModeThatTheUserGivesNewFiles() async throws {
        try await Site.run { site async throws in
            let url = Self.publish(site)
            let file = site.directory.path(of: "film.mp4")
            let outcome = try await ChildProcess.run(
                "/bin/sh",
                [
                    "-c", "umask 027; exec \"$0\" \"$@\"", Command.path, "fetch", url, "-o", file, "--cache-dir",
                    site.directory.path(of: "cache"),
                ], environment: Command.environment())
            #expect(outcome.exit == .status(0), "\(outcome)")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
        }
    }

    @Test func onlyMediaComesOutOfStandardOutput() async throws {
        try await Site.run { site async throws in
            let url = Self.publish(site)
            let outcome = try await Command.run("fetch", site.directory, [url, "--output", "-"])
            #expect(outcome.errors.hasSuffix("film.mp4  200 kB: 200 kB fetched, 0 B from the store\n"), "\(outcome)")
            #expect(outcome.output.utf8.elementsEqual(Self.content))
            let json = try await Command.run("fetch", site.directory, [url, "--json", "--output", "-"])
            #expect(json.exit == .status(64), "\(json)")
        }
    }

    #if os(Linux)
        @Test("media does not go to a terminal", arguments: ["fetch", "export"])
        func terminal(subcommand: String) async throws {
            guard let script = ChildProcess.path(of: "script") else { return print("skipped: script is not installed") }
            try await Site.run { site async throws in
                for output in ["-", "/dev/stdout"] {
                    let command = [try Command.path, subcommand, Self.publish(site), "-o", output]
                    let outcome = try await ChildProcess.run(
                        script, ["-qec", command.map { "'\($0)'" }.joined(separator: " "), "/dev/null"],
                        environment: Command.environment(["REPRISE_CACHE_DIR": site.directory.path]))
                    #expect(outcome.exit == .status(64) && outcome.output.contains("> FILE"), "\(outcome)")
                }
                #expect(site.origin.snapshot.requestCount == 0)
            }
        }
    #endif

    @Test(arguments: ["fetch", "export"]) func aReaderThatLeavesEndsItQuietly(subcommand: String) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 3 << 20)
            let url = site.origin.url("/film.mp4")
            if subcommand == "export" { try await Command.run("fetch", site.directory, [url]) }
            for output in try ["-", PreparedPlace.linkToStandardOutput(in: site.directory.path)] {
                let outcome = try await ChildProcess.run(
                    "/bin/sh",
                    [
                        "-c", "{ \"$0\" \"$@\"; echo $? >&2; } | head -c 100000 | wc -c", Command.path, subcommand, url,
                        "-o", output, "--cache-dir", site.directory.path,
                    ], environment: Command.environment())
                #expect(outcome.output.filter { $0 != " " } == "100000\n")
                // Progress may come before.
                #expect(outcome.errors.hasSuffix("141\n"), "\(outcome)")
                #expect(!outcome.errors.contains("reprise:"), "\(outcome)")
            }
        }
    }
}
