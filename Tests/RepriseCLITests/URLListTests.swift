import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `reprise fetch --from`: lists of URLs.
@Suite(.limit(minutes: 2)) struct URLListTests {
    private struct Report: Decodable {
        let url: String
        let state: String
        let number, count: Int?
        let error: String?
    }

    @Test("a line is a URL, unless it is blank or a comment", arguments: ["\n", "\r\n"])
    func lines(end: String) {
        let text = ["\u{FEFF}#EXTM3U", "", "#EXTINF:183,A song", "  https://a.example/1.mp3 ", "\t", "b.mp3"]
        let items = URLList.items(in: text.joined(separator: end) + end, named: "a.m3u")
        #expect(
            items == [
                URLList.Item(url: "https://a.example/1.mp3", place: "a.m3u, line 4"),
                URLList.Item(url: "b.mp3", place: "a.m3u, line 6"),
            ])
    }

    @Test("a playlist of songs is fetched after the URLs of the command line, and each says which of how many it is")
    func playlist() async throws {
        try await Site.run { site async throws in
            for name in ["a", "b", "c"] { site.publish("/\(name).mp3", length: 1000) }
            let urls = ["a", "b", "c"].map { site.origin.url("/\($0).mp3") }
            let text = "#EXTM3U\n#EXTINF:183,Song B\n\(urls[1])\n\n#EXTINF:12,Song C\n\(urls[2])\n"
            let list = try site.directory.write(Array(text.utf8), to: "album.m3u")
            let outcome = try await Command.run("fetch", site.directory, ["--json", urls[0], "--from", list])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let done = try Command.json(Report.self, outcome).filter { $0.state == "done" }
            #expect(done.map(\.url) == urls)
            #expect(done.map(\.number) == [1, 2, 3] && done.map(\.count) == [3, 3, 3])
            let again = try await Command.run("fetch", site.directory, ["--from", list])
            #expect(
                again.output == """
                    1/2  b.mp3  1.00 kB: 0 B fetched, 1.00 kB from the store
                    2/2  c.mp3  1.00 kB: 0 B fetched, 1.00 kB from the store

                    """)
        }
    }

    @Test func aListMayComeFromStandardInput() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp3", length: 1000)
            let list = try site.directory.write(Array("\(site.origin.url("/a.mp3"))".utf8), to: "list")
            let outcome = try await Command.run(
                "fetch", site.directory, ["--from", "-"],
                prefix: ["/bin/sh", "-c", "list=$0; exec \"$@\" < \"$list\"", list])
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(outcome.output == "a.mp3  1.00 kB: 1.00 kB fetched, 0 B from the store\n")
        }
    }

    @Test("an invalid line is named, and nothing is fetched", arguments: [false, true])
    func invalidLine(isJSON: Bool) async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp3", length: 1000)
            let text = "\(site.origin.url("/a.mp3"))\n# songs\nmusic/b.mp3\n"
            let list = try site.directory.write(Array(text.utf8), to: "list")
            let outcome = try await Command.run(
                "fetch", site.directory, (isJSON ? ["--json"] : []) + ["--from", list])
            #expect(outcome.exit == .status(64), "\(outcome)")
            #expect(outcome.errors.hasPrefix("reprise: \(list), line 3: "), "\(outcome)")
            if isJSON {
                let report = try #require(try Command.json(Report.self, outcome).last)
                #expect(report.state == "failed" && report.error?.contains("line 3: ") == true, "\(outcome.output)")
            }
            #expect(site.origin.snapshot.requestCount == 0)
        }
    }

    @Test("a list that cannot be read, is no text, or names nothing is 64 and says so")
    func unusableLists() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let none = directory.path(of: "none")
        let empty = try directory.write(Array("# nothing yet\n".utf8), to: "empty")
        let film = try directory.write([0xFF, 0xD8, 0xFF], to: "film")
        let long = try directory.write([UInt8](repeating: 0x23, count: URLList.largestFile + 1), to: "long")
        for (path, message) in [
            (none, "Cannot read \(none): No such file or directory."), (empty, "There is no URL in \(empty)."),
            (directory.path, "Cannot read \(directory.path): Is a directory."),
            (film, "\(film) is no text in UTF-8; it takes a URL on each line."),
            (long, "\(long) is longer than 16 MiB; it takes a URL on each line."),
        ] {
            let outcome = try await Command.run("fetch", directory, ["--from", path])
            #expect(outcome.exit == .status(64), "\(outcome)")
            #expect(outcome.errors == "reprise: \(message)\n")
        }
    }

    @Test func aSignalEndsTheWaitForAList() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let pipe = directory.path(of: "pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let child = try ChildProcess(
            Command.path, ["fetch", "--cache-dir", directory.path, "--from", pipe], environment: Command.environment())
        // Opens as soon as the command reads.
        let writer = try await onThread { open(pipe, O_WRONLY) }
        child.send(SIGTERM)
        #expect(await child.outcome().exit == .signal(SIGTERM))
        close(writer)
    }
}
