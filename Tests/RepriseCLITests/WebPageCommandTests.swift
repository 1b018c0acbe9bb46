import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// What `fetch` and `pin` say of addresses that lead to no media file: web pages and playlists.
@Suite(.limit(minutes: 3)) struct WebPageCommandTests {
    private static func run(isServing: Bool, _ body: (Site) async throws -> Void) async throws {
        try await Site.run { site async throws in
            guard isServing else { return try await body(site) }
            try await Serving.run(site.directory) { _ async throws in try await body(site) }
        }
    }

    private static func publish(_ text: String, type: String, at path: String, _ site: Site) {
        site.origin.set(TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: type), at: path)
    }

    @Test(
        "a web page is an error of each command that keeps something, beside a server, too", arguments: [false, true])
    func pages(isServing: Bool) async throws {
        try await Self.run(isServing: isServing) { site async throws in
            let page = "<!DOCTYPE html><html>Watch</html>"
            let types = ["/watch.html": "text/html", "/watch": "application/octet-stream", "/list.m3u8": "text/html"]
            for (path, type) in types { Self.publish(page, type: type, at: path, site) }
            let file = site.directory.path(of: "film.mp4")
            for path in types.keys.sorted() {
                let url = site.origin.url(path)
                var commands = [["download", url], ["pin", "--first", "5s", url], ["fetch", url]]
                if path == "/watch.html" { commands.append(["fetch", url, "--output", file]) }
                for command in commands {
                    let outcome = try await Command.run(
                        command[0], site.directory, Array(command.dropFirst()))
                    #expect(outcome.exit == .status(1) && outcome.output.isEmpty, "\(command): \(outcome)")
                    let words = ["That is a web page, not a film: \(url). Give the address", "sent a page or an error"]
                    #expect(words.contains { outcome.errors.contains($0) }, "\(command): \(outcome)")
                }
            }
            #expect(!FileManager.default.fileExists(atPath: file))
            let list = try await Command.run("list", site.directory)
            #expect(!list.output.contains("watch"), "\(list)")
        }
    }

    @Test(
        "a list of songs is fetched as a file, and so is the playlist of a stream with --playlist-only or an output",
        arguments: [false, true])
    func playlists(isServing: Bool) async throws {
        try await Self.run(isServing: isServing) { site async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ns1.ts\n#EXT-X-ENDLIST\n"
            Self.publish(list, type: "application/vnd.apple.mpegurl", at: "/show.m3u8", site)
            Self.publish("#EXTM3U\n#EXTINF:9,Song\na.mp3\n", type: "audio/x-mpegurl", at: "/album.m3u", site)
            let url = site.origin.url("/show.m3u8")
            let outcome = try await Command.run("fetch", site.directory, ["--playlist-only", url])
            #expect(outcome.exit == .status(0) && outcome.output.hasPrefix("show.m3u8  "), "\(outcome)")
            let album = try await Command.run("fetch", site.directory, [site.origin.url("/album.m3u")])
            #expect(album.exit == .status(0) && !album.errors.contains("playlist"), "\(album)")
            let film = site.directory.path(of: "film.mp4")
            let refused = try await Command.run("fetch", site.directory, [url, "-o", film])
            #expect(refused.exit == .status(64) && refused.errors.contains("show.m3u8 is a playlist"), "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: film))
            let text = site.directory.path(of: "show.m3u8")
            let written = try await Command.run("fetch", site.directory, [url, "-o", text])
            #expect(written.exit == .status(0), "\(written)")
            #expect(try String(contentsOfFile: text, encoding: .utf8) == list)
        }
    }
}
