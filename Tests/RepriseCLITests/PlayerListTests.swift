import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `list --m3u` and `list --strm`: titles for players.
@Suite(.limit(minutes: 2)) struct PlayerListTests {
    /// A cache with two files, of which one has a name and a tag; `body` gets their URLs.
    private func run(_ body: (Site, [String]) async throws -> Void) async throws {
        try await Site.run { site async throws in
            for path in ["/a.mp4", "/b.mp4"] { site.publish(path, length: 1000) }
            let urls = ["/a.mp4", "/b.mp4?x=1"].map { site.origin.url($0) }
            for url in urls { #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0)) }
            let title = try await Command.run(
                "title", site.directory, [urls[1], "--name", "Pilot: 1/2", "--tag", "show"])
            #expect(title.exit == .status(0), "\(title)")
            try await body(site, urls)
        }
    }

    private func files(_ folder: TemporaryDirectory) throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try Dictionary(
            uniqueKeysWithValues: names.filter { !$0.hasPrefix(".") }.map {
                ($0, try String(contentsOfFile: folder.path(of: $0), encoding: .utf8))
            })
    }

    @Test("the playlist has the names, and the addresses of the settings or of the running server")
    func playlist() async throws {
        try await run { site, urls async throws in
            func text(_ server: String) -> String {
                let paths = urls.map { $0.replacingOccurrences(of: "http://", with: "http/") }
                return
                    "#EXTM3U\n#EXTINF:-1,a.mp4\n\(server)/\(paths[0])\n#EXTINF:-1,Pilot: 1/2\n\(server)/\(paths[1])\n"
            }
            let options = ["--m3u", "--sort", "name"]
            #expect(try await Command.run("list", site.directory, options).output == text("http://127.0.0.1:8090"))
            let configured = try await Command.run(
                "list", site.directory, options,
                environment: ["REPRISE_HOST": "::", "REPRISE_PORT": "9000", "REPRISE_TOKEN": "t0ken-of-me"])
            #expect(configured.output == text("http://[::1]:9000/t0ken-of-me"), "\(configured)")
            let elsewhere = try await Command.run(
                "list", site.directory, options + ["--address", "http://tv.lan:8090/"])
            #expect(elsewhere.output == text("http://tv.lan:8090"), "\(elsewhere)")
            try await Serving.run(site.directory, ["--token", "secret-token"]) { serving async throws in
                let token = ["--token", "secret-token"]
                let beside = try await Command.run("list", site.directory, options + token)
                #expect(beside.output == text("http://127.0.0.1:\(serving.port)/secret-token"), "\(beside)")
                let line = try #require(beside.output.split(separator: "\n").last)
                let target = try #require(line.firstMatch(of: /^http:\/\/[^\/]*(.*)/)?.1)
                #expect(try await serving.get(String(target)).head.status == 200)
                for wrong in [[], ["--token", "other"]] {
                    let refused = try await Command.run("list", site.directory, options + wrong)
                    #expect(refused.exit == .status(64) && refused.errors.contains("--token"), "\(refused)")
                    #expect(refused.output.isEmpty)
                }
            }
            try await Serving.run(site.directory) { serving async throws in
                let open = try await Command.run(
                    "list", site.directory, options, environment: ["REPRISE_TOKEN": "t0ken-of-me"])
                #expect(open.output == text("http://127.0.0.1:\(serving.port)"), "a server without a token")
            }
            let tagged = try await Command.run("list", site.directory, ["--m3u", "--tag", "none"])
            #expect(tagged.output == "#EXTM3U\n")
        }
    }

    @Test("a file for each title is written, those of other titles are removed, and other files stay")
    func folder() async throws {
        try await run { site, urls async throws in
            let folder = try TemporaryDirectory()
            defer { folder.remove() }
            let other = "http://192.0.2.7:8090/https/a.example/film\n"
            let stale = "http://127.0.0.1:8090/old-token/https/a.example/gone\n"
            let before = [
                ("a.strm", other), ("gone.strm", stale), ("notes.txt", stale), ("mine.strm", stale),
                (".reprise", "gone.strm\na.strm\n../notes.txt\n"),
            ]
            for (name, text) in before {
                _ = try folder.write(Array(text.utf8), to: name)
            }
            let paths = urls.map { "http://127.0.0.1:8090/" + $0.replacingOccurrences(of: "http://", with: "http/") }
            let expected = [
                "a.strm": other, "notes.txt": stale, "mine.strm": stale, "a 2.strm": paths[0] + "\n",
                "Pilot- 1-2.strm": paths[1] + "\n",
            ]
            let first = try await Command.run("list", site.directory, ["--strm", folder.path])
            #expect(first.output == "2 files in \(folder.path), 1 of other titles removed\n", "\(first)")
            #expect(try files(folder) == expected)
            let again = try await Command.run("list", site.directory, ["--strm", folder.path])
            #expect(again.output == "2 files in \(folder.path)\n", "\(again)")
            #expect(try files(folder) == expected)
            let tagged = try await Command.run("list", site.directory, ["--tag", "show", "--strm", folder.path])
            #expect(tagged.output == "1 file in \(folder.path), 1 of other titles removed\n", "\(tagged)")
            #expect(try files(folder) == expected.filter { $0.key != "a 2.strm" })
            let file = try await Command.run("list", site.directory, ["--strm", folder.path(of: "notes.txt")])
            #expect(file.exit == .status(73), "\(file)")
        }
    }

    @Test(
        "names of files are safe and unique",
        arguments: [
            ("film.mp4", "film.strm"), ("show/season-1/e03", "show-season-1-e03.strm"), ("A%20b.m3u8", "A b.strm"),
            ("..", "title.strm"), (".hidden", "hidden.strm"), ("a\u{202E}b\n", "ab.strm"), ("Taken", "Taken 3.strm"),
            ("Mr. Robot", "Mr. Robot.strm"), ("", "title.strm"),
        ])
    func names(title: String, file: String) {
        #expect(TitleFolder.name(title, besides: ["taken.strm", "taken 2.strm"]) == file)
        let long = TitleFolder.name(String(repeating: "ä", count: 500), besides: [])
        #expect(long.utf8.count <= 210)
    }

    @Test(arguments: [
        ["--m3u", "--json"], ["--m3u", "--strm", "x"], ["--m3u", "--files"], ["--strm", ""], ["--token", "x"],
        ["--address", "http://tv.lan:8090"], ["--m3u", "--address", "tv.lan"],
    ])
    func wrongUsage(arguments: [String]) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        #expect(try await Command.run("list", directory, arguments).exit == .status(64))
    }
}
