import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `verify`, `prune`, `pin`, `unpin`, `export` and encrypted caches, as processes.
@Suite(.limit(minutes: 2)) struct MaintenanceTests {
    private static func fetch(_ site: Site, _ paths: [String], _ more: [String] = []) async throws {
        for path in paths {
            let outcome = try await Command.run("fetch", site.directory, [site.origin.url(path)] + more)
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
    }

    @Test func verifyFindsAndRepairsDamage() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 300_000)
            try await Self.fetch(site, ["/a.mp4"])
            let sound = try await Command.run("verify", site.directory)
            #expect(sound.exit == .status(0), "\(sound)")
            #expect(sound.output == "1 entry, 300 kB sound, 0 B damaged, 0 without their file.\n")
            let file = try #require(DiskUse.mediaFiles(of: site.directory.path).first)
            let handle = try #require(FileHandle(forUpdatingAtPath: file))
            try handle.seek(toOffset: 70_000)
            try handle.write(contentsOf: Data(repeating: 0, count: 8))
            try handle.close()
            let damaged = try await Command.run("verify", site.directory)
            #expect(damaged.exit == .status(1))
            #expect(damaged.output.contains("bytes 65536-131071"), "\(damaged.output)")
            let again = try await Command.run("verify", site.directory)
            #expect(again.exit == .status(0), "\(again)")
            let list = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(list.map(\.storedBytes) == [234_464])
        }
    }

    @Test("pin --first fetches the beginning, keeps it, and list says so")
    func aBeginningIsKept() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 300_000)
            let url = site.origin.url("/a.mp4")
            let pin = try await Command.run("pin", site.directory, ["--first", "100kB", url])
            #expect(pin.exit == .status(0) && pin.output.hasPrefix("First 100 kB kept: \(url), "), "\(pin)")
            let list = try await Command.run("list", site.directory)
            #expect(list.output.contains("[first 100 kB kept]"), "\(list)")
            let entry = try #require(
                try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"])).first)
            #expect(entry.kept == "first" && entry.keptFirst == "100 kB" && entry.storedBytes >= 100_000)
            let prune = try await Command.run("prune", site.directory, ["--to", "1B"])
            #expect(prune.exit == .status(0), "\(prune)")
            let show = try #require(
                try Command.json(Entry.self, try await Command.run("show", site.directory, ["--json", url])).first)
            #expect((show.spans?.first?.last ?? 0) >= 100_000, "\(show)")
            let unpin = try await Command.run("unpin", site.directory, [url])
            #expect(unpin.exit == .status(0), "\(unpin)")
            #expect(unpin.output.contains(/Released: \S+ \[first 100 kB kept\], \d+ kB stored\n$/), "\(unpin)")
            #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0))
            let whole = try await Command.run("pin", site.directory, ["--first", "100kB", url])
            #expect(
                whole.output
                    == "First 100 kB kept: \(url). All of it is stored (300 kB); the rest may be evicted.\n", "\(whole)"
            )
            let both = try await Command.run("pin", site.directory, ["--first", "1MB", url, "--for", "3d"])
            #expect(both.exit == .status(64) && both.errors.contains("--first"), "\(both)")
            let nothing = try await Command.run("pin", site.directory, ["--first", "0s", url])
            #expect(nothing.exit == .status(64), "\(nothing)")
            _ = try await Command.run("pin", site.directory, [url])
            let less = try await Command.run("pin", site.directory, ["--first", "1kB", url])
            #expect(less.exit == .status(0) && less.output.contains("It was pinned as a whole"), "\(less)")
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 1000), mediaType: "video/mp4",
                    personality: TestOrigin.Personality { $0.fields[.cacheControl] = "no-store" }), at: "/secret.mp4")
            for command in ["pin", "fetch"] {
                let refused = try await Command.run(
                    command, site.directory, ["--first", "10B", site.origin.url("/secret.mp4")])
                #expect(
                    refused.exit == .status(74) && refused.errors.contains("secret.mp4 cannot be stored"), "\(refused)")
            }
        }
    }

    /// A damaged index keeps so many bytes; `nil` for one that is removed.
    @Test(arguments: [2000, 0, nil] as [Int?]) func aDamagedIndexIsFoundAndTold(bytes: Int?) async throws {
        for json in [false, true] {
            try await Site.run { site async throws in
                site.publish("/a.mp4", length: 300_000)
                try await Self.fetch(site, ["/a.mp4"])
                let index = URL(fileURLWithPath: site.directory.path(of: "catalogue.sqlite"))
                for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: index.path + suffix) }
                if let bytes {
                    try Data(contentsOf: index).prefix(bytes).write(to: index)
                } else {
                    try FileManager.default.removeItem(at: index)
                }
                let verify = try await Command.run("verify", site.directory, json ? ["--json"] : [])
                #expect(verify.exit == .status(1), "\(verify)")
                #expect(verify.errors.contains("could not be used"), "\(verify)")
                #expect(verify.errors.contains("starts empty"), "\(verify)")
                if json { #expect(verify.output.contains("\"reset\":\""), "\(verify)") }
                let again = try await Command.run("verify", site.directory)
                #expect(again.exit == .status(0), "\(again)")
            }
        }
    }

    @Test func pruneKeepsWhatIsPinned() async throws {
        try await Site.run { site async throws in
            for path in ["/a.mp4", "/b.mp4"] { site.publish(path, length: 100_000) }
            try await Self.fetch(site, ["/a.mp4", "/b.mp4"])
            let pin = try await Command.run("pin", site.directory, [site.origin.url("/a.mp4")])
            #expect(pin.exit == .status(0), "\(pin)")
            #expect(pin.output == "Pinned: \(site.origin.url("/a.mp4")), 100 kB stored\n")
            let list = try await Command.run("list", site.directory).output
            #expect(list.contains("/a.mp4  [pinned]\n"), "\(list)")
            let prune = try await Command.run("prune", site.directory, ["--to", "0"])
            #expect(prune.output == "Freed 102 kB; 102 kB are left.\n", "\(prune)")
            #expect(prune.errors.contains("What is left is pinned"), "\(prune)")
            let unpin = try await Command.run("unpin", site.directory, [site.origin.url("/a.mp4")])
            #expect(unpin.exit == .status(0))
            let all = try await Command.run("prune", site.directory, ["--to", "0"])
            #expect(all.output == "Freed 102 kB; 0 B are left.\n", "\(all)")
        }
    }

    @Test("a dry run of prune does not name what stays, and says of what the beginning stays")
    func pruneOfKeptBeginnings() async throws {
        try await Site.run { site async throws in
            for (path, length) in [("/long.mp4", 6_000_000), ("/short.mp4", 100_000)] as [(String, Int64)] {
                site.publish(path, length: length)
                try await Self.fetch(site, [path])
                let pin = try await Command.run("pin", site.directory, ["--first", "10kB", site.origin.url(path)])
                #expect(pin.exit == .status(0), "\(pin)")
            }
            let dry = try await Command.run("prune", site.directory, ["--to", "0", "--dry-run"])
            let lines = dry.output.split(separator: "\n").map(String.init)
            #expect(lines.first == "\(site.origin.url("/long.mp4"))  [its beginning stays]", "\(dry)")
            #expect(lines.count == 2 && lines.last?.hasPrefix("Would free ") == true, "\(dry)")
            let prune = try await Command.run("prune", site.directory, ["--to", "0"])
            let said = { (outcome: ChildProcess.Outcome) in
                outcome.output.split(whereSeparator: { !$0.isNumber && $0 != "." }).prefix(2).map(String.init)
            }
            let forecast = dry.output.split(separator: "\n").last.map { line in
                line.split(whereSeparator: { !$0.isNumber && $0 != "." }).prefix(2).map(String.init)
            }
            #expect(said(prune) == forecast, "\(prune)")
            #expect(prune.errors.contains("or of a title whose beginning is kept"), "\(prune)")
        }
    }

    @Test("a stream that alone is larger than the limit is refused; one that others leave no room waits for that")
    func limitBelowTheStream() async throws {
        try await Site.run { site async throws in
            let lines = (1...6).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n".utf8)),
                    mediaType: "application/vnd.apple.mpegurl"), at: "/show.m3u8")
            for number in 1...6 { site.publish("/\(number).ts", length: 400_000) }
            for (path, length) in [("/other.mp4", 600_000), ("/film.mp4", 800_000)] as [(String, Int64)] {
                site.publish(path, length: length)
            }
            let arguments = ["--limit", "1MB", site.origin.url("/show.m3u8")]
            let alone = try await Command.run("download", site.directory, arguments)
            #expect(alone.exit == .status(74), "\(alone)")
            let raise = "it does not fit the limit of the cache, which is 1.00 MB. Raise it with --limit.\n"
            #expect(alone.errors.hasSuffix(raise), "\(alone)")
            let none = try await Command.run("downloads", site.directory)
            #expect(none.output.hasPrefix("There are no downloads."), "\(none)")
            let other = try await Command.run("download", site.directory, [site.origin.url("/other.mp4")])
            #expect(other.exit == .status(0), "\(other)")
            let beside = try await Command.run(
                "download", site.directory, ["--limit", "1MB", site.origin.url("/film.mp4")])
            #expect(beside.exit == .status(74) && beside.errors.contains("reprise unpin\n"), "\(beside)")
            let waits = "The download waits, and goes on in the next command that fetches when there is room.\n"
            #expect(beside.errors.hasSuffix(waits), "\(beside)")
            let queued = try await Command.run("downloads", site.directory)
            #expect(queued.output.contains(/queued .*film\.mp4\n/), "\(queued)")
            let film = [site.origin.url("/film.mp4")]
            let still = try await Command.run("download", site.directory, film)
            #expect(still.exit == .status(74), "the limit that was given is that of the cache: \(still)")
            let unpin = try await Command.run("unpin", site.directory, [site.origin.url("/other.mp4")])
            #expect(unpin.exit == .status(0), "\(unpin)")
            let again = try await Command.run("download", site.directory, film)
            #expect(again.exit == .status(0), "\(again)")
        }
    }

    @Test func pinDownloadsWhatIsMissing() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1_000_000)
            let pin = try await Command.run("download", site.directory, [site.origin.url("/a.mp4")])
            #expect(pin.exit == .status(0), "\(pin)")
            let list = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(list.first?.complete == true)
        }
    }

    @Test func exportWritesWhatIsWholeAndNothingElse() async throws {
        try await Site.run { site async throws in
            for path in ["/a.mp4", "/b.mp4"] { site.publish(path, length: 300_000) }
            try await Self.fetch(site, ["/a.mp4"])
            let output = site.directory.path(of: "out.mp4")
            let export = try await Command.run(
                "export", site.directory, [site.origin.url("/a.mp4"), "--output", output])
            #expect(export.exit == .status(0), "\(export)")
            #expect(
                try [UInt8](Data(contentsOf: URL(fileURLWithPath: output)))
                    == TestPattern.bytes(in: 0..<300_000, seed: 1))
            let file = try #require(DiskUse.mediaFiles(of: site.directory.path).first)
            #expect(truncate(file, 200_000) == 0)
            let missing = site.directory.path(of: "missing.mp4")
            let broken = try await Command.run(
                "export", site.directory, [site.origin.url("/a.mp4"), "--output", missing])
            #expect(broken.exit == .status(66))
            #expect(!FileManager.default.fileExists(atPath: missing))
            let unknown = try await Command.run(
                "export", site.directory, [site.origin.url("/b.mp4"), "--output", missing])
            #expect(unknown.exit == .status(66))
        }
    }

    @Test func anEncryptedCacheServesWithItsKeyOnly() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 300_000)
            let key = try site.directory.write(Array(String(repeating: "7f", count: 32).utf8), to: "key")
            let environment = ["REPRISE_ENCRYPT_KEY_FILE": key]
            for _ in 0..<2 {
                let fetch = try await Command.run(
                    "fetch", site.directory, ["--encrypt-key-file", key, site.origin.url("/film.mp4")])
                #expect(fetch.exit == .status(0), "\(fetch)")
            }
            #expect(site.origin.snapshot.requestCount == 1)
            let without = try await Command.run("list", site.directory)
            #expect(without.exit == .status(78), "\(without)")
            let list = try await Command.run("list", site.directory, environment: environment)
            #expect(list.output.contains("/film.mp4"), "\(list)")
            let output = site.directory.path(of: "out.mp4")
            let export = try await Command.run(
                "export", site.directory, [site.origin.url("/film.mp4"), "--output", output], environment: environment)
            #expect(export.exit == .status(0), "\(export)")
            #expect(
                try [UInt8](Data(contentsOf: URL(fileURLWithPath: output)))
                    == TestPattern.bytes(in: 0..<300_000, seed: 1))
            let verify = try await Command.run("verify", site.directory, environment: environment)
            #expect(verify.exit == .status(0), "\(verify)")
        }
    }

    @Test func unpinFindsWhatPinKeptAndSaysWhatItDidNot() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 100_000)
            let options = ["--drop-query-item", "signature"]
            let url = site.origin.url("/a.mp4")
            let pin = try await Command.run("pin", site.directory, options + [url + "?signature=1"])
            #expect(pin.exit == .status(0), "\(pin)")
            let other = try await Command.run("unpin", site.directory, [url + "?signature=2"])
            #expect(other.exit == .status(66), "\(other)")
            let unpin = try await Command.run("unpin", site.directory, options + [url + "?signature=2"])
            #expect(unpin.exit == .status(0), "\(unpin)")
            let again = try await Command.run("unpin", site.directory, options + [url + "?signature=2"])
            #expect(again.exit == .status(66), "\(again)")
            #expect(again.errors.contains("Nothing is kept under"))
        }
    }

    @Test func aPinThatFailsLeavesWhatWasKept() async throws {
        try await Site.run { site async throws in
            let url = site.origin.url("/gone.mp4")
            let unheard = try await Command.run("download", site.directory, [url])
            #expect(unheard.exit == .status(69), "\(unheard)")
            #expect(try await Command.run("unpin", site.directory, [url]).exit == .status(66))
            #expect(try await Command.run("pin", site.directory, [url]).exit == .status(0))
            #expect(try await Command.run("download", site.directory, [url]).exit == .status(69))
            #expect(try await Command.run("unpin", site.directory, [url]).exit == .status(0))
        }
    }

    @Test func theLimitThatWasGivenLastIsKept() async throws {
        try await Site.run { site async throws in
            for path in ["/a.mp4", "/b.mp4", "/c.mp4"] { site.publish(path, length: 700_000) }
            try await Self.fetch(site, ["/a.mp4"], ["--limit", "1MB"])
            try await Self.fetch(site, ["/b.mp4"])
            func stored() async throws -> [String] {
                try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"])).map(\.url)
            }
            #expect(try await stored() == [site.origin.url("/b.mp4")])
            try await Self.fetch(site, ["/c.mp4"], ["--limit", "9MB"])
            try await Self.fetch(site, ["/a.mp4"])
            #expect(try await stored().count == 3)
        }
    }

    @Test(arguments: [["fetch"], ["download"]])
    func whatMustNotBeStoredIsSaidAndIs74(command: [String]) async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 100_000, fields: [.cacheControl: "no-store"])
            let secret = try await Command.run(
                command[0], site.directory, Array(command.dropFirst()) + [site.origin.url("/a.mp4")])
            #expect(secret.exit == .status(74), "\(secret)")
            let reason = "reprise: a.mp4 cannot be stored as a whole: the response must not be stored.\n"
            #expect(secret.errors.hasSuffix(reason), "\(secret)")
        }
    }

    @Test func aPinThatFindsNoRoomSaysWhatHelps() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 300_000)
            try await Self.fetch(site, ["/a.mp4"])
            let pin = try await Command.run("pin", site.directory, ["--limit", "100kB", site.origin.url("/a.mp4")])
            #expect(pin.exit == .status(74), "\(pin)")
            #expect(pin.errors.contains("it has 300 kB, and the limit of the cache is 100 kB. Raise it with --limit."))
        }
    }

    @Test func aPinOfAnUnknownURLSaysThatNothingIsStoredAndIsListed() async throws {
        try await Site.run { site async throws in
            let url = site.origin.url("/nothere.mp4")
            let pin = try await Command.run("pin", site.directory, ["--for", "1h", url])
            #expect(pin.exit == .status(0), "\(pin)")
            #expect(pin.output.contains(/Pinned until \d{4}-\d\d-\d\d \d\d:\d\d: http/), "\(pin)")
            #expect(pin.output.contains("Nothing of it is stored yet, and nothing was fetched"), "\(pin)")
            #expect(site.origin.snapshot.requestCount == 0)
            let list = try await Command.run("list", site.directory)
            #expect(list.output.contains(/0 B    \? %  http:.*nothere\.mp4  \[pinned until \d{4}-/), "\(list.output)")
            #expect(list.output.hasSuffix("\n0 titles, 0 B; of 1 more nothing is stored yet\n"), "\(list.output)")
            let json = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(json.map(\.url) == [url] && json.map(\.kept) == ["pinned"] && json.first?.keptUntil != nil)
            #expect(try await Command.run("unpin", site.directory, [url]).exit == .status(0))
            #expect(try await Command.run("list", site.directory).output.hasPrefix("Nothing is stored in"))
        }
    }

    @Test func oneDownloadThatFailsDoesNotStopTheOthers() async throws {
        try await Site.run { site async throws in
            for path in ["/a.mp4", "/b.mp4"] { site.publish(path, length: 100_000) }
            site.publish("/large.mp4", length: 3_000_000)
            let urls = ["/a.mp4", "/gone.mp4", "/large.mp4", "/b.mp4"].map { site.origin.url($0) }
            let pin = try await Command.run("download", site.directory, ["--limit", "1MB"] + urls)
            #expect(pin.exit == .status(69), "\(pin)")
            #expect(pin.errors.contains("The origin answered 404 for \(urls[1])"), "\(pin)")
            let large =
                "reprise: large.mp4 cannot be stored as a whole: it has 3.00 MB, and the limit of the cache is 1.00 MB."
            #expect(pin.errors.contains(large), "\(pin)")
            #expect(
                pin.output == "Downloaded: \(urls[0]), 100 kB stored\nDownloaded: \(urls[3]), 100 kB stored\n", "\(pin)"
            )
            let list = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(Set(list.filter { $0.kept == "download" }.map(\.url)) == [urls[0], urls[3]])
            #expect(list.count == 2)
        }
    }

    @Test("a pin does not end a download, and one that has to says so")
    func aPinOfADownload() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 100_000)
            let url = site.origin.url("/a.mp4")
            #expect(try await Command.run("download", site.directory, [url]).exit == .status(0))
            let pin = try await Command.run("pin", site.directory, [url])
            #expect(pin.exit == .status(0))
            #expect(pin.output == "Kept as a download already: \(url), 100 kB stored\n", "\(pin)")
            #expect(try await Command.run("list", site.directory).output.contains("[download]"))
            let limited = try await Command.run("pin", site.directory, ["--for", "1h", url])
            #expect(limited.exit == .status(0))
            #expect(limited.output.contains("It was a download and is a pin now"), "\(limited)")
            #expect(try await Command.run("list", site.directory).output.contains("[pinned until "))
        }
    }

    @Test("a download of unknown length that finds no room does not blame its own bytes")
    func aDownloadThatOutgrowsTheLimit() async throws {
        try await Site.run { site async throws in
            site.publish("/loose.mp4", length: 600_000)
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 3_000_000), mediaType: "video/mp4",
                    personality: TestOrigin.Personality { $0.framing = .chunked }), at: "/a.mp4")
            try await Self.fetch(site, ["/loose.mp4"], ["--limit", "1MB"])
            let pin = try await Command.run("download", site.directory, [site.origin.url("/a.mp4")])
            #expect(pin.exit == .status(74), "\(pin)")
            let reason = "a.mp4 cannot be stored as a whole: it does not fit the limit of the cache, which is 1.00 MB."
            #expect(pin.errors.contains(reason), "\(pin)")
        }
    }

    @Test func removeReleasesAPinOfWhichNothingIsStored() async throws {
        try await Site.run { site async throws in
            let (a, b) = (site.origin.url("/a.mp4"), site.origin.url("/b.mp4"))
            for (url, names) in [(a, [a]), (b, ["--all"])] {
                #expect(try await Command.run("pin", site.directory, [url]).exit == .status(0))
                let remove = try await Command.run("remove", site.directory, names)
                #expect(remove.exit == .status(0), "\(remove)")
                #expect(remove.output == "Removed 1 pin.\n", "\(remove.output)")
                #expect(try await Command.run("list", site.directory, ["--json"]).output == "")
                #expect(try await Command.run("unpin", site.directory, [url]).exit == .status(66))
            }
            #expect(try await Command.run("remove", site.directory, [a]).exit == .status(66))
        }
    }

    @Test func aDownloadShowsItsProgress() async throws {
        try await Site.run(sendBufferSize: 1 << 16) { site async throws in
            // A line comes every 2 s.
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 3_000_000), mediaType: "video/mp4",
                    personality: TestOrigin.Personality { $0.bytesPerSecond = 800_000 }), at: "/a.mp4")
            let pin = try await Command.run("download", site.directory, [site.origin.url("/a.mp4")])
            #expect(pin.exit == .status(0), "\(pin)")
            #expect(pin.errors.contains(/a\.mp4  \d.* of 3\.00 MB/), "\(pin)")
        }
    }

    @Test func verifyRefusesAnotherKey() async throws {
        try await Site.run { site async throws in
            try await Self.fetchSealed(site)
            let other = ["REPRISE_ENCRYPT_KEY": String(repeating: "11", count: 32)]
            for subcommand in ["verify", "list", "stats"] {
                let refused = try await Command.run(subcommand, site.directory, environment: other)
                #expect(refused.exit == .status(78), "\(refused)")
            }
            let right = ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)]
            let verify = try await Command.run("verify", site.directory, environment: right)
            #expect(verify.exit == .status(0), "\(verify)")
            #expect(verify.output.hasPrefix("1 entry, 300 kB sound"), "\(verify)")
        }
    }

    private static func fetchSealed(_ site: Site) async throws {
        site.publish("/film.mp4", length: 300_000)
        let fetch = try await Command.run(
            "fetch", site.directory, [site.origin.url("/film.mp4")],
            environment: ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)])
        #expect(fetch.exit == .status(0), "\(fetch)")
    }

    @Test(
        "a time that no calendar has is refused with the longest that is taken", arguments: ["999999999d", "365001d"])
    func pinForTooLong(time: String) async throws {
        try await Site.run { site async throws in
            let pin = try await Command.run("pin", site.directory, ["--for", time, site.origin.url("/film.mp4")])
            #expect(pin.exit == .status(64) && pin.errors.contains("--for takes at most 365000d"), "\(pin)")
            let longest = try await Command.run(
                "pin", site.directory, ["--for", "365000d", site.origin.url("/film.mp4")])
            #expect(longest.exit == .status(0), "\(longest)")
        }
    }

    @Test("a beginning for which the disk has no room is told in sizes and options")
    func beginningOnAFullDisk() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1_000_000)
            for command in ["fetch", "pin"] {
                let outcome = try await Command.run(
                    command, site.directory,
                    ["--first", "500kB", "--minimum-free", "8000TB", site.origin.url("/film.mp4")])
                #expect(outcome.exit == .status(74), "\(outcome)")
                #expect(outcome.errors.contains("The beginning of film.mp4 cannot be kept: "), "\(outcome)")
                #expect(outcome.errors.contains("are to stay free (--minimum-free"), "\(outcome)")
                #expect(!outcome.errors.contains("minimumFree"), "\(outcome)")
            }
        }
    }
}
