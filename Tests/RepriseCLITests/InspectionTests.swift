import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `list`, `show`, `remove` and `stats`, as processes.
@Suite(.limit(minutes: 2)) struct InspectionTests {
    @Test func anEmptyCacheIsNoFailure() async throws {
        let directory = try TemporaryDirectory()
        let list = try await Command.run("list", directory)
        #expect(list.exit == .status(0))
        #expect(list.output == "Nothing is stored in \(directory.path).\n")
        let json = try await Command.run("list", directory, ["--json"])
        #expect(json.exit == .status(0))
        #expect(json.output == "")
        #expect(try await Command.run("stats", directory).exit == .status(0))
    }

    @Test("a cache of an unreleased format is refused by commands that read, and set aside by others, which say so")
    func unreleasedFormat() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1_500)
            let url = site.origin.url("/film.mp4")
            #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0))
            let index = try #require(FileHandle(forUpdatingAtPath: site.directory.path(of: "catalogue.sqlite")))
            for (offset, bytes) in [(UInt64(60), [0, 0, 0, 10]), (68, [0x52, 0x50, 0, 10])] as [(UInt64, [UInt8])] {
                try index.seek(toOffset: offset)
                try index.write(contentsOf: bytes)
            }
            try index.close()
            for command in [["list"], ["list", "--json"], ["stats"], ["show", url], ["export", url, "-o", "-"]] {
                let outcome = try await Command.run(command[0], site.directory, Array(command.dropFirst()))
                #expect(outcome.exit == .status(74), "\(command): \(outcome)")
                #expect(
                    outcome.errors.contains("was made by a version of Reprise that was never released"), "\(outcome)")
                #expect(outcome.output.isEmpty, "\(command): \(outcome.output)")
            }
            let fetch = try await Command.run("fetch", site.directory, [url])
            #expect(fetch.exit == .status(0), "\(fetch)")
            #expect(fetch.errors.contains("it is kept in \(site.directory.path)/unreleased,"), "\(fetch)")
            #expect(try await Command.run("list", site.directory).output.contains(url))
        }
    }

    @Test func listHasTheMostRecentlyUsedFirst() async throws {
        try await Site.run { site async throws in
            let urls = ["/a.mp4", "/b.mp4"].map { site.origin.url($0) }
            site.publish("/a.mp4", length: 1_500)
            site.publish("/b.mp4", length: 2_000_000)
            for url in urls { #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0)) }
            let list = try await Command.run("list", site.directory)
            #expect(list.exit == .status(0))
            #expect(
                list.output == """
                      2.00 MB  100 %  \(urls[1])
                      1.50 kB  100 %  \(urls[0])
                    2 titles, 2.00 MB

                    """)
            let entries = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(entries.map(\.url) == urls.reversed())
            #expect(entries.map(\.storedBytes) == [2_000_000, 1_500])
            #expect(entries.map(\.completeLength) == [2_000_000, 1_500])
            #expect(entries.map(\.complete) == [true, true])
            #expect(entries.map(\.etag) == ["\"v1\"", "\"v1\""])
            #expect(entries.map(\.mediaType) == ["video/mp4", "video/mp4"])
        }
    }

    @Test("list sorts by name, size and plays, and recent ones come first where these are equal")
    func sorting() async throws {
        try await Site.run { site async throws in
            for (path, length) in [("/b.mp4", 3000), ("/C.mp4", 1000), ("/a.mp4", 2000)] as [(String, Int64)] {
                site.publish(path, length: length)
                #expect(try await Command.run("fetch", site.directory, [site.origin.url(path)]).exit == .status(0))
            }
            func names(_ arguments: [String]) async throws -> [String] {
                let list = try await Command.run("list", site.directory, ["--json"] + arguments)
                return try Command.json(Entry.self, list).map { String($0.url.suffix(5).first ?? "?") }
            }
            let recent = try await names([])
            #expect(recent == ["a", "C", "b"])
            #expect(try await names(["--sort", "recent"]) == recent)
            #expect(try await names(["--sort", "name"]) == ["a", "b", "C"])
            #expect(try await names(["--sort", "size"]) == ["b", "a", "C"])
            #expect(try await names(["--sort", "plays"]) == recent)
            let wrong = try await Command.run("list", site.directory, ["--sort", "age"])
            #expect(wrong.exit == .status(64) && wrong.errors.contains("recent"), "\(wrong)")
        }
    }

    @Test func showDrawsWhichBytesAreStored() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1_000_000)
            let url = site.origin.url("/film.mp4")
            try await Serving.run(site.directory) { serving async throws in
                for range in ["0-99999", "500000-599999"] {
                    let answer = try await serving.get(site.target("/film.mp4"), ["Range: bytes=\(range)"])
                    #expect(answer.head.status == 206)
                }
            }
            let show = try await Command.run("show", site.directory, [url], environment: ["COLUMNS": "42"])
            #expect(show.exit == .status(0), "\(show)")
            #expect(
                show.output == """
                    \(url)
                    200 kB of 1.00 MB, 20 %
                    [████················████················]
                      0-99999  (100 kB)
                      500000-599999  (100 kB)
                    Type: video/mp4
                    ETag: "v1"
                    Last-Modified: Wed, 01 Jan 2025 00:00:00 GMT
                    Ranges at the origin: yes

                    """)
            let entry = try #require(
                try Command.json(Entry.self, try await Command.run("show", site.directory, ["--json", url])).first)
            #expect(entry.spans == [[0, 100_000], [500_000, 600_000]])
            #expect(entry.storedBytes == 200_000 && !entry.complete)
            let missing = try await Command.run("show", site.directory, [site.origin.url("/other.mp4")])
            #expect(missing.exit == .status(66))
            #expect(missing.errors.contains("/other.mp4"))
        }
    }

    @Test("a stream whose playlist must not be stored is listed, shown and removed by its other files")
    func streamWithoutPlaylist() async throws {
        try await Site.run { site async throws in
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"1\"",
                    personality: TestOrigin.Personality { $0.fields[.cacheControl] = "no-store" }), at: "/list.m3u8")
            for name in ["/1.ts", "/2.ts"] { site.publish(name, length: 100_000) }
            try await Serving.run(site.directory) { serving async throws in
                for name in ["/list.m3u8", "/1.ts", "/2.ts"] {
                    #expect(try await serving.get(site.target(name)).head.status == 200)
                }
            }
            let url = site.origin.url("/list.m3u8")
            let list = try await Command.run("list", site.directory)
            #expect(list.output.hasPrefix("   200 kB    ? %  \(url)  (stream, 2 files)\n"), "\(list)")
            let show = try await Command.run("show", site.directory, [url])
            #expect(show.exit == .status(0), "\(show)")
            #expect(show.output == "\(url)\nStream, 200 kB in 2 files; its playlist is not stored\n")
            let json = try Command.json(Entry.self, try await Command.run("show", site.directory, ["--json", url]))
            #expect(json.map(\.url) == [url] && json.map(\.storedBytes) == [200_000])
            let remove = try await Command.run("remove", site.directory, [url])
            #expect(remove.output == "Removed 2 files, 200 kB.\n", "\(remove)")
            #expect(try await Command.run("show", site.directory, [url]).exit == .status(66))
        }
    }

    @Test("segments of an earlier encoding are files of the stream until they are removed with it")
    func earlierEncoding() async throws {
        try await Site.run { site async throws in
            for name in ["/1.ts", "/2.ts", "/3.ts"] { site.publish(name, length: 100_000) }
            let url = site.origin.url("/list.m3u8")
            for segments in [["1.ts", "2.ts"], ["1.ts", "3.ts"]] {
                let listed = segments.map { "#EXTINF:4,\n\($0)\n" }.joined()
                let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(listed)#EXT-X-ENDLIST\n"
                site.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl",
                        etag: "\"\(segments.joined())\"",
                        personality: TestOrigin.Personality { $0.fields[.cacheControl] = "max-age=0" }),
                    at: "/list.m3u8")
                for arguments in [["fetch", url], ["download", url]] {
                    let run = try await Command.run(arguments[0], site.directory, Array(arguments[1...]))
                    #expect(run.exit == .status(0), "\(run)")
                }
            }
            let list = try await Command.run("list", site.directory)
            #expect(list.output.contains("(HLS stream, 4 files)\n1 title, 300 kB\n"), "\(list)")
            let show = try await Command.run("show", site.directory, [url])
            #expect(show.output.contains("\nHLS, 200 kB in 3 files, 100 %\n"), "\(show)")
            #expect(
                show.output.hasSuffix("\n  and 100 kB in 1 file that its stored playlists do not name\n"), "\(show)")
            let remove = try await Command.run("remove", site.directory, [url])
            #expect(remove.output == "Removed 4 files, 300 kB.\n", "\(remove)")
        }
    }

    @Test func removeFreesWhatItNamesAndNothingElse() async throws {
        try await Site.run { site async throws in
            let urls = ["/a.mp4", "/b.mp4", "/c.mp4"].map { site.origin.url($0) }
            for path in ["/a.mp4", "/b.mp4", "/c.mp4"] { site.publish(path, length: 1_500) }
            #expect(try await Command.run("fetch", site.directory, urls).exit == .status(0))
            let one = try await Command.run("remove", site.directory, [urls[1]])
            #expect(one.exit == .status(0), "\(one)")
            #expect(one.output == "Removed 1 file, 1.50 kB.\n")
            let rest = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(rest.map(\.url).sorted() == [urls[0], urls[2]])
            let missing = try await Command.run("remove", site.directory, [urls[1]])
            #expect(missing.exit == .status(66), "\(missing)")
            #expect(missing.errors.contains(urls[1]))
            let all = try await Command.run("remove", site.directory, ["--all"])
            #expect(all.output == "Removed 2 files, 3.00 kB.\n")
            #expect(try await Command.run("list", site.directory, ["--json"]).output == "")
            let media = FileManager.default.enumerator(atPath: site.directory.path(of: "media"))
            let files = (media?.allObjects as? [String] ?? []).filter { $0.contains("-") }
            #expect(files == [])
        }
    }

    @Test func entriesAreFoundByURLsWhoseSignatureIsAnother() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1_500)
            let (drop, url) = (["--drop-query-item", "signature"], site.origin.url("/a.mp4"))
            #expect(try await Command.run("fetch", site.directory, drop + [url + "?signature=1"]).exit == .status(0))
            let other = url + "?signature=2"
            let output = ["-o", site.directory.path(of: "out.mp4")]
            for (subcommand, options) in [("show", []), ("export", output), ("pin", []), ("unpin", []), ("remove", [])]
            {
                if subcommand != "pin" {
                    let without = try await Command.run(subcommand, site.directory, options + [other])
                    #expect(without.exit == .status(66), "\(subcommand): \(without)")
                }
                let with = try await Command.run(subcommand, site.directory, drop + options + [other])
                #expect(with.exit == .status(0), "\(subcommand): \(with)")
            }
            #expect(try await Command.run("list", site.directory, ["--json"]).output == "")
        }
    }

    @Test func statsCountWhatWasServedFetchedAndSaved() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1_000_000)
            let url = site.origin.url("/a.mp4")
            for _ in 0..<3 { #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0)) }
            let json = try await Command.run("stats", site.directory, ["--json"])
            #expect(json.exit == .status(0), "\(json)")
            var stats = try #require(try Command.json([String: Int64].self, json).first)
            let index = stats.removeValue(forKey: "indexBytes")
            #expect(index ?? 0 > 0)
            #expect(stats.removeValue(forKey: "freeBytes") ?? 0 > 0)
            let expected: [String: Int64] = [
                "entries": 1, "storedBytes": 1_000_000, "allocatedBytes": 1_003_520, "limitBytes": 2_000_000_000,
                "servedBytes": 3_000_000,
                "storeBytes": 2_000_000,
                "joinedBytes": 0,
                "originBytes": 1_000_000, "fetchedBytes": 1_000_000, "savedBytes": 2_000_000, "originRequests": 1,
                "reads": 3,
            ]
            #expect(stats == expected)
            let text = try await Command.run("stats", site.directory).output
            #expect(
                text.replacing(/(index|free on the disk): .*/) { String($0.1) } == """
                    Stored     1.00 MB  entries: 1
                    On disk    1.00 MB  index
                    Limit      2.00 GB  free on the disk
                    Served     3.00 MB  reads: 3
                    Fetched    1.00 MB  requests: 1
                    Saved      2.00 MB  66.7 % of what was served

                    """)
            #expect(try await Command.run("fetch", site.directory, ["--limit", "50MB", url]).exit == .status(0))
            let limited = try await Command.run("stats", site.directory).output
            #expect(limited.contains("\nLimit      50.0 MB  free on the disk: "), "\(limited)")
            let config = try await Command.run("config", site.directory).output
            let place = "# Cache: \(site.directory.path), 1.00 MB of 50.0 MB stored, "
            #expect(config.contains("\n" + place), "\(config)")
            let given = try await Command.run("config", site.directory, environment: ["REPRISE_LIMIT": "3GB"]).output
            #expect(given.contains(", 1.00 MB of 3.00 GB stored, "), "\(given)")
        }
    }
}
