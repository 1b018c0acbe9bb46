import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `show` and `list` of streams.
@Suite(.limit(minutes: 2)) struct StreamTests {
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=5200000,RESOLUTION=1920x1080,AUDIO="a"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a"
        low.m3u8

        """

    private static func media(_ name: String, _ count: Int) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
            + (0..<count).map { "#EXTINF:4,\n\(name)\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    private func publish(_ text: String, _ path: String, on site: Site) {
        site.origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl",
                fields: [.cacheControl: "max-age=600"]), at: path)
    }

    /// A stream of which four lists, two segments of the high variant and a third of the next are stored.
    private func run(_ body: (Site) async throws -> Void) async throws {
        try await Site.run { site async throws in
            publish(Self.master, "/show/master.m3u8", on: site)
            publish(Self.media("h", 4), "/show/high.m3u8", on: site)
            publish(Self.media("a", 2), "/show/audio.m3u8", on: site)
            for number in 0..<4 { site.publish("/show/h\(number).ts", length: 90_000) }
            site.publish("/other.mp4", length: 1500)
            try await Serving.run(site.directory) { serving async throws in
                for path in ["master.m3u8", "high.m3u8", "audio.m3u8", "h0.ts", "h1.ts"] {
                    #expect(try await serving.get(site.target("/show/\(path)")).head.status == 200)
                }
                _ = try await serving.get(site.target("/show/h2.ts"), ["Range: bytes=0-29999"])
                _ = try await serving.get(site.target("/other.mp4"))
            }
            try await body(site)
        }
    }

    @Test func showDrawsEachVariant() async throws {
        try await run { site async throws in
            let url = site.origin.url("/show/master.m3u8")
            let show = try await Command.run("show", site.directory, [url], environment: ["COLUMNS": "80"])
            #expect(show.exit == .status(0), "\(show)")
            let lines = show.output.split(separator: "\n").map(String.init)
            #expect(lines.first == url)
            #expect(lines.dropFirst().first?.hasPrefix("HLS, 210 kB in 6 files, 29 %") == true, "\(show.output)")
            #expect(lines.contains { $0.contains("video 1920x1080 5.2 Mbit/s") && $0.contains("2 of 4, 210 kB") })
            #expect(lines.contains { $0.contains("video 640x360 800 kbit/s") && $0.contains("not stored") })
            #expect(lines.contains { $0.contains("audio en \"English\"") && $0.contains("0 of 2") })
            let bar = try #require(lines.first { $0.contains("1920x1080") }?.firstMatch(of: /\[(.*)\]/)?.1)
            #expect(bar.prefix(bar.count / 2 - 1).allSatisfy { $0 == "█" })
            #expect(bar.suffix(bar.count / 4).allSatisfy { $0 == "·" })
        }
    }

    @Test func showTellsScriptsTheSame() async throws {
        struct Shown: Decodable {
            struct Stream: Decodable {
                struct Track: Decodable {
                    let kind: String
                    let height: Int?
                    let listed: Bool
                    let segments: Int
                    let storedSegments: Int
                    let storedBytes: Int64
                    let storedShare: Double?
                }
                let format: String
                let live: Bool
                let storedShare: Double?
                let tracks: [Track]
            }
            let complete: Bool
            let stream: Stream?
        }
        try await run { site async throws in
            let json = try await Command.run(
                "show", site.directory, ["--json", site.origin.url("/show/master.m3u8")])
            let stream = try #require(try Command.json(Shown.self, json).first?.stream)
            #expect(stream.format == "HLS" && !stream.live)
            #expect(abs((stream.storedShare ?? 0) - 7 / 24) < 0.001)
            #expect(try Command.json(Shown.self, json).first?.complete == false)
            #expect(stream.tracks.map(\.kind) == ["video", "video", "audio"])
            let high = try #require(stream.tracks.first)
            #expect(high.listed && high.segments == 4 && high.storedSegments == 2 && high.storedBytes == 210_000)
            #expect(abs((high.storedShare ?? 0) - 7 / 12) < 0.001)
            #expect(!stream.tracks[1].listed)
            let film = try await Command.run("show", site.directory, ["--json", site.origin.url("/other.mp4")])
            #expect(try Command.json(Shown.self, film).first?.stream == nil)
        }
    }

    @Test func aStreamIsOneLineOfTheList() async throws {
        try await run { site async throws in
            let list = try await Command.run("list", site.directory)
            #expect(list.exit == .status(0), "\(list)")
            let lines = list.output.split(separator: "\n")
            #expect(lines.count == 3, "\(list.output)")
            #expect(
                lines.contains { $0.hasSuffix("/show/master.m3u8  (HLS stream, 6 files)") && $0.contains("29 %") },
                "half of 58 %: no sound")
            #expect(lines.contains { $0.hasSuffix("/other.mp4") })
            #expect(lines.last == "2 titles, 212 kB", "\(list.output)")
            let files = try await Command.run("list", site.directory, ["--files"])
            #expect(files.output.split(separator: "\n").count == 8, "\(files.output)")
            let json = try await Command.run("list", site.directory, ["--json", "--files"])
            #expect(try Command.json(Entry.self, json).count == 7)
            let titles = try Command.json(ListedTitle.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(titles.map(\.files).sorted() == [1, 6])
            let stream = try #require(titles.first { $0.files == 6 })
            #expect(stream.format == "HLS" && !stream.complete && stream.ownBytes > 210_000)
            let complete = try await Command.run("list", site.directory, ["--complete"])
            #expect(complete.output.split(separator: "\n").count == 2, "\(complete.output)")
            #expect(complete.output.contains("/other.mp4"))
        }
    }

    @Test func aPlaylistThatIsTooLargeToReadIsShownAndRemoved() async throws {
        struct Listed: Decodable {
            let complete: Bool
            let problem: String?
        }
        try await Site.run { site async throws in
            let deep = "<MPD>" + String(repeating: "<x>", count: 70) + String(repeating: "</x>", count: 70) + "</MPD>"
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(deep.utf8)), mediaType: "application/dash+xml",
                    fields: [.cacheControl: "max-age=600"]), at: "/deep.mpd")
            try await Serving.run(site.directory) { serving async throws in
                #expect(try await serving.get(site.target("/deep.mpd")).head.status == 200)
            }
            let url = site.origin.url("/deep.mpd")
            let list = try await Command.run("list", site.directory)
            #expect(list.output.contains("? %") && list.output.contains("too large a playlist to read"), "\(list)")
            let titles = try Command.json(Listed.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(titles.map(\.complete) == [false])
            #expect(titles.first?.problem?.contains("nested deeper") == true)
            let show = try await Command.run("show", site.directory, [url])
            #expect(show.exit == .status(0) && show.output.contains("nested deeper"), "\(show)")
            let remove = try await Command.run("remove", site.directory, [url])
            #expect(remove.exit == .status(0), "\(remove)")
            #expect(try await Command.run("list", site.directory).output.hasPrefix("Nothing is stored"))
        }
    }

    private struct ListedTitle: Decodable {
        let url: String
        let files: Int
        let format: String?
        let complete: Bool
        let name: String?
        let tag: String?
        let kept: String?
        let ownBytes: Int64
    }

    private func titles(_ site: Site, _ arguments: String...) async throws -> [ListedTitle] {
        let list = try await Command.run("list", site.directory, ["--json"] + arguments)
        return try Command.json(ListedTitle.self, list)
    }

    @Test func aTitleHasANameATagAndAPin() async throws {
        try await run { site async throws in
            let (url, film) = (site.origin.url("/show/master.m3u8"), site.origin.url("/other.mp4"))
            let named = try await Command.run("title", site.directory, [url, "--name", "Pilot", "--tag", "show"])
            #expect(named.exit == .status(0) && named.output.hasSuffix("/show/master.m3u8  Pilot  #show\n"), "\(named)")
            let retagged = try await Command.run("title", site.directory, [url, "--tag", "series"])
            #expect(retagged.output.hasSuffix("  Pilot  #series\n"), "\(retagged)")
            #expect(try await titles(site, "--tag", "series").map(\.name) == ["Pilot"])
            #expect(try await titles(site, "--tag", "show").isEmpty)
            let line = try await Command.run("list", site.directory, ["--tag", "series"])
            #expect(
                line.output.contains("master.m3u8  Pilot  #series  (HLS stream, 6 files)\n1 title, 210 kB"), "\(line)")
            let pin = try await Command.run("pin", site.directory, [url])
            #expect(pin.exit == .status(0) && pin.output.hasSuffix(", 210 kB stored\n"), "\(pin)")
            let prune = try await Command.run("prune", site.directory, ["--to", "0"])
            #expect(prune.exit == .status(0), "\(prune)")
            let left = try await titles(site)
            #expect(left.map(\.files) == [6] && left.first?.kept == "pinned", "\(left)")
            let cleared = try await Command.run("title", site.directory, [url, "--clear"])
            #expect(cleared.output.hasSuffix("has no name and no tag now.\n"), "\(cleared)")
            #expect(try await titles(site).first?.tag == nil)
            let later = try await Command.run("title", site.directory, [film, "--tag", "later"])
            #expect(later.exit == .status(0), "\(later)")
            #expect(try await titles(site, "--tag", "later").map(\.files) == [0])
            let vain = try await Command.run("title", site.directory, [url])
            #expect(vain.exit == .status(64), "\(vain)")
        }
    }

    @Test("a name that is no UTF-8 is refused, and one that turns text around is shown without that")
    func namesThatTurnTheLine() async throws {
        try await run { site async throws in
            let url = site.origin.url("/show/master.m3u8")
            for arguments in [["--name", "Pil\u{FFFD}t"], ["--name", "Pilot", "--tag", "\u{FFFD}"]] {
                let refused = try await Command.run("title", site.directory, [url] + arguments)
                #expect(refused.exit == .status(64) && refused.errors.contains("is no UTF-8"), "\(refused)")
            }
            #expect(try await titles(site).allSatisfy { $0.name == nil })
            let (name, tag) = ("Pi\u{202E}lot\u{2069}", "\u{2066}show\u{202C}")
            let named = try await Command.run("title", site.directory, [url, "--name", name, "--tag", tag])
            #expect(named.output.hasSuffix("/show/master.m3u8  Pilot  #show\n"), "\(named)")
            let list = try await Command.run("list", site.directory)
            #expect(list.output.contains("master.m3u8  Pilot  #show  (HLS stream, 6 files)\n"), "\(list)")
            #expect(try await titles(site, "--tag", tag).map(\.name) == [name], "JSON has it as it is")
        }
    }

    @Test func removingAStreamRemovesItsFiles() async throws {
        try await run { site async throws in
            let segment = try await Command.run("remove", site.directory, [site.origin.url("/show/h0.ts")])
            #expect(segment.output == "Removed 1 file, 90.0 kB.\n", "\(segment)")
            let stream = try await Command.run("remove", site.directory, [site.origin.url("/show/master.m3u8")])
            #expect(stream.output.hasPrefix("Removed 5 files, 120 kB"), "\(stream)")
            #expect(try await titles(site).map(\.url) == [site.origin.url("/other.mp4")])
        }
    }

    @Test func onlyTitlesWithATagArePruned() async throws {
        try await run { site async throws in
            let url = site.origin.url("/show/master.m3u8")
            _ = try await Command.run("title", site.directory, [url, "--tag", "show"])
            let prune = try await Command.run("prune", site.directory, ["--tag", "show", "--to", "0"])
            #expect(prune.exit == .status(0) && prune.output.hasSuffix("; 0 B are left.\n"), "\(prune)")
            #expect(try await titles(site).filter { $0.files > 0 }.map(\.url) == [site.origin.url("/other.mp4")])
            #expect(try await titles(site, "--tag", "show").map(\.url) == [url])
        }
    }

    @Test("download takes what its options say of a stream, and says what there is instead")
    func download() async throws {
        try await Site.run { site async throws in
            publish(Self.master, "/show/master.m3u8", on: site)
            for (name, count) in [("high", 1), ("low", 2), ("audio", 1)] {
                publish(Self.media(name, count), "/show/\(name).m3u8", on: site)
                for number in 0..<count { site.publish("/show/\(name)\(number).ts", length: 30_000) }
            }
            let url = site.origin.url("/show/master.m3u8")
            let arguments = ["--quality", "360p", url]
            let first = try await Command.run("download", site.directory, arguments)
            #expect(first.exit == .status(0) && first.output.hasPrefix("Downloaded: \(url), 9"), "\(first)")
            #expect(site.origin.snapshot["/show/high.m3u8"].requestCount == 0)
            let again = try await Command.run("download", site.directory, arguments)
            #expect(again.exit == .status(0) && site.origin.snapshot["/show/low0.ts"].requestCount == 1, "\(again)")
            let list = try await Command.run("downloads", site.directory)
            #expect(list.output.hasPrefix("done "), "\(list)")
            let voice = try await Command.run("download", site.directory, ["--audio", "fr"] + arguments)
            #expect(voice.exit == .status(1) && voice.errors.contains("no sound in fr; it has en"), "\(voice)")
            let after = try await Command.run("downloads", site.directory)
            #expect(after.output == list.output, "\(after)")
            for (option, value) in [("--quality", "big"), ("--audio", "e n,"), ("--codec", "")] {
                let wrong = try await Command.run("download", site.directory, [option, value, url])
                #expect(wrong.exit == .status(64) && wrong.errors.contains("\(option) is"), "\(wrong)")
            }
        }
    }
}
