import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `reprise download`, as a process.
@Suite(.limit(minutes: 2)) struct DownloadCommandTests {
    private struct Report: Decodable {
        let state: String
        var bytes: Int64?
        var storedFiles, files: Int?
    }

    private func publishStream(on site: Site) {
        for (path, text) in [
            ("/show/master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nlow.m3u8\n"),
            (
                "/show/low.m3u8",
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
            ),
        ] {
            site.origin.set(
                TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl"), at: path)
        }
        for name in ["0", "1"] { site.publish("/show/\(name).ts", length: 30_000) }
    }

    @Test func aFileIsAlsoWrittenAndNotOverwritten() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 300_000)
            let (url, output) = (site.origin.url("/film.mp4"), site.directory.path(of: "copy.mp4"))
            let first = try await Command.run("download", site.directory, [url, "--output", output])
            #expect(first.exit == .status(0) && first.output.contains("copy.mp4  300 kB"), "\(first)")
            #expect(FileManager.default.contents(atPath: output)?.count == 300_000)
            site.publish("/other.mp4", length: 300_000)
            let exists = try await Command.run(
                "download", site.directory, [site.origin.url("/other.mp4"), "--output", output])
            #expect(exists.exit == .status(73) && exists.errors.contains("--force"), "\(exists)")
            #expect(site.origin.snapshot["/other.mp4"].requestCount == 0)
            let misplaced = try await Command.run(
                "download", site.directory, [site.origin.url("/other.mp4"), "--output", output + "/a.mp4"])
            #expect(misplaced.exit == .status(73) && misplaced.errors.contains("Cannot create"), "\(misplaced)")
            #expect(site.origin.snapshot["/other.mp4"].requestCount == 0)
            let replaced = try await Command.run("download", site.directory, [url, "--force", "--output", output])
            #expect(replaced.exit == .status(0), "\(replaced)")
        }
    }

    @Test func aStreamIsWrittenAsAFolderAndItsFilesAreCounted() async throws {
        try await Site.run { site async throws in
            publishStream(on: site)
            let url = site.origin.url("/show/master.m3u8")
            let json = try await Command.run("download", site.directory, [url, "--json"])
            #expect(json.exit == .status(0), "\(json)")
            let report = try #require(try Command.json(Report.self, json).last)
            #expect(report.state == "done" && report.storedFiles == 4 && report.files == 4, "\(json)")
            await site.origin.stop()
            let folder = site.directory.path(of: "show")
            let export = try await Command.run("download", site.directory, [url, "--output", folder])
            #expect(export.exit == .status(0), "\(export)")
            #expect(FileManager.default.fileExists(atPath: folder + "/master.m3u8"))
        }
    }

    @Test func aFailureIsReportedAsJSON() async throws {
        try await Site.run { site async throws in
            let outcome = try await Command.run("download", site.directory, [site.origin.url("/none.mp4"), "--json"])
            #expect(outcome.exit == .status(69), "\(outcome)")
            #expect(try Command.json(Report.self, outcome).last?.state == "failed", "\(outcome)")
        }
    }

    @Test("the URLs in a file are downloaded, and a wrong line is named") func from() async throws {
        try await Site.run { site async throws in
            let urls = ["/a.mp3", "/b.mp3"].map { path in
                site.publish(path, length: 1000)
                return site.origin.url(path)
            }
            let (file, wrong) = (site.directory.path(of: "urls.txt"), site.directory.path(of: "wrong.txt"))
            try urls.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
            let outcome = try await Command.run("download", site.directory, ["--from", file])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let list = try await Command.run("list", site.directory, ["--json"])
            #expect(Set(try Command.json(Entry.self, list).filter { $0.kept == "download" }.map(\.url)) == Set(urls))
            try "\n\(urls[0])\nfilm.mp4\n".write(toFile: wrong, atomically: false, encoding: .utf8)
            let refused = try await Command.run("download", site.directory, ["--from", wrong])
            #expect(refused.exit == .status(64) && refused.errors.contains("line 3"), "\(refused)")
        }
    }

    @Test(
        "--queued stands alone, and replaces URLs",
        arguments: [[], ["--queued", "http://a/b"], ["--queued", "--background"]])
    func queued(words: [String]) async throws {
        let outcome = try await Command.run(["download"] + words)
        #expect(outcome.exit == .status(64) && outcome.errors.contains("--queued"), "\(outcome)")
    }

    @Test("files of a plain list may have spaces, and a server queues them", arguments: [false, true])
    func spaces(isInBackground: Bool) async throws {
        try await Site.run { site async throws in
            site.origin.set(
                TestOrigin.Resource(.bytes(Array("01 - a.mp3\n".utf8)), mediaType: "audio/x-mpegurl"), at: "/a.m3u")
            site.publish("/01%20-%20a.mp3", length: 1000)
            let url = site.origin.url("/a.m3u")
            if isInBackground {
                try await Serving.run(site.directory) { _ async throws in
                    let queued = try await Command.run("download", site.directory, [url, "--background"])
                    #expect(queued.exit == .status(0) && queued.output.contains("Queued: "), "\(queued)")
                    await site.origin.waitUntil { $0["/01%20-%20a.mp3"].requestCount > 0 }
                }
            } else {
                let outcome = try await Command.run("download", site.directory, [url])
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
            let export = try await Command.run(
                "export", site.directory, [url, "--output", site.directory.path(of: "a.mkv")])
            #expect(export.exit == .status(64) && export.errors.contains("is a list of files"), "\(export)")
        }
    }

    @Test("of a plain list, all files are downloaded and kept") func list() async throws {
        try await Site.run { site async throws in
            let text = "\u{FEFF}#EXTM3U\n#EXTINF:30,One\none.mp3\n\n  /two.mp3\r\n"
            site.origin.set(
                TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "audio/x-mpegurl"), at: "/album/list.m3u")
            for path in ["/album/one.mp3", "/two.mp3"] { site.publish(path, length: 1000) }
            let outcome = try await Command.run("download", site.directory, [site.origin.url("/album/list.m3u")])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let entries = try Command.json(
                Entry.self, try await Command.run("list", site.directory, ["--files", "--json"]))
            #expect(entries.count == 3 && entries.allSatisfy { $0.complete && $0.kept == "download" }, "\(entries)")
            site.origin.set(
                TestOrigin.Resource(
                    .bytes(Array("gone.mp3\nother.m3u\nfile:///x\ntwo.mp3\n".utf8)), mediaType: "audio/x-mpegurl"),
                at: "/other.m3u")
            let broken = try await Command.run("download", site.directory, [site.origin.url("/other.m3u")])
            #expect(broken.exit == .status(69) && broken.errors.contains("gone.mp3"), "\(broken)")
            #expect(broken.output.contains("two.mp3") && broken.errors.contains("x: Only http"), "\(broken)")
            let written = try await Command.run(
                "download", site.directory, [site.origin.url("/other.m3u"), "-o", site.directory.path(of: "out")])
            #expect(written.exit == .status(64) && written.errors.contains("list of files"), "\(written)")
        }
    }

    @Test("fields go to the host of a list only") func fieldsOfLists() async throws {
        try await Site.run { site async throws in
            let text = "one.mp3\nhttp://localhost:\(site.origin.port)/two.mp3\n"
            site.origin.set(
                TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "audio/mpegurl; charset=utf-8"), at: "/list")
            for path in ["/one.mp3", "/two.mp3"] { site.publish(path, length: 1000) }
            let outcome = try await Command.run(
                "download", site.directory, ["--header", "Authorization: Bearer S", site.origin.url("/list")])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let origin = await site.origin.settledSnapshot()
            for (path, value) in [("/list", "Bearer S"), ("/one.mp3", "Bearer S"), ("/two.mp3", nil)] {
                #expect(origin[path].requests.map { $0.fields[.authorization] } == [value], "\(path)")
            }
        }
    }
}
