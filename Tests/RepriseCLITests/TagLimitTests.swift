import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `reprise limit`.
@Suite(.limit(minutes: 2)) struct TagLimitTests {
    private struct Tag: Decodable {
        let tag: String
        let limit: Int64?
        let titles: Int
        let storedBytes, allocatedBytes, keptBytes: Int64
    }

    private static func limit(_ site: Site, _ arguments: String...) async throws -> ChildProcess.Outcome {
        try await Command.run("limit", site.directory, arguments)
    }

    private static func tags(_ site: Site, _ arguments: String...) async throws -> [Tag] {
        let outcome = try await Command.run("limit", site.directory, ["--json"] + arguments)
        #expect(outcome.exit == .status(0), "\(outcome)")
        return try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Tag.self, from: Data($0.utf8))
        }
    }

    /// A site with three stored files tagged `news`, the first of which is the least recently used, and one `films`.
    private static func run(_ body: (Site) async throws -> Void) async throws {
        try await Site.run { site async throws in
            for name in ["a", "b", "c", "d"] {
                site.publish("/\(name)", length: 102_400)
                let url = site.origin.url("/\(name)")
                for command in [["title", url, "--tag", name == "d" ? "films" : "news"], ["fetch", url]] {
                    let outcome = try await Command.run(command[0], site.directory, Array(command.dropFirst()))
                    #expect(outcome.exit == .status(0), "\(outcome)")
                }
            }
            try await body(site)
        }
    }

    private static func stored(_ site: Site) async throws -> String {
        let list = try await Command.run("list", site.directory, ["--files"])
        let words = Set(list.output.split(whereSeparator: \.isWhitespace).map(String.init))
        return ["a", "b", "c", "d"].filter { words.contains(site.origin.url("/\($0)")) }.joined()
    }

    @Test func tagsAreListedWithTheirLimits() async throws {
        try await Self.run { site async throws in
            let before = try await Self.tags(site)
            #expect(before.map(\.tag) == ["films", "news"] && before.allSatisfy { $0.limit == nil })
            #expect(before.map(\.titles) == [1, 3] && before.map(\.storedBytes) == [102_400, 307_200])
            let set = try await Self.limit(site, "news", "250kB")
            #expect(set.exit == .status(0), "\(set)")
            #expect(set.output.hasSuffix("   205 kB     250 kB        0 B       3  #news\n"), "\(set)")
            #expect(try await Self.stored(site) == "bcd")
            let table = try await Self.limit(site)
            #expect(table.output.split(separator: "\n").count == 3 && table.output.contains("none"), "\(table)")
            #expect(try await Self.tags(site, "news").map(\.limit) == [250_000])
            let gone = try await Self.limit(site, "news", "NONE")
            #expect(gone.exit == .status(0), "\(gone)")
            #expect(try await Self.tags(site, "news").map(\.limit) == [nil])
            let unknown = try await Self.limit(site, "musik")
            #expect(unknown.output == "No title is tagged #musik, and it has no limit.\n", "\(unknown)")
        }
    }

    @Test("--dry-run says what would go under a limit, and changes nothing") func dryRun() async throws {
        try await Self.run { site async throws in
            let forecast = try await Self.limit(site, "news", "250kB", "--dry-run")
            #expect(forecast.exit == .status(0), "\(forecast)")
            let url = site.origin.url("/a")
            #expect(forecast.output == "\(url)\nWould free 102 kB and leave 205 kB.\n", "\(forecast)")
            #expect(try await Self.tags(site, "news").map(\.limit) == [nil])
            #expect(try await Self.stored(site) == "abcd")
            #expect(try await Self.limit(site, "news", "--dry-run").exit == .status(64))
        }
    }

    @Test func whatIsFetchedLaterIsHeldToTheLimit() async throws {
        try await Self.run { site async throws in
            _ = try await Self.limit(site, "news", "320000B")
            site.publish("/a2", length: 102_400)
            let url = site.origin.url("/a2")
            _ = try await Command.run("title", site.directory, [url, "--tag", "news"])
            let fetch = try await Command.run("fetch", site.directory, [url])
            #expect(fetch.exit == .status(0), "\(fetch)")
            let tag = try #require(try await Self.tags(site, "news").first)
            #expect(tag.allocatedBytes <= 320_000 && tag.titles == 4)
            #expect(try await Self.stored(site) == "bcd")
        }
    }

    @Test("a limit below what is pinned is refused with 74, and tells both sizes")
    func pinned() async throws {
        try await Self.run { site async throws in
            _ = try await Command.run("pin", site.directory, [site.origin.url("/a")])
            let refused = try await Self.limit(site, "news", "100kB")
            #expect(refused.exit == .status(74) && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains("102400 of the limit of 100000 bytes for this tag"), "\(refused)")
            #expect(try await Self.stored(site) == "abcd")
            let fits = try await Self.limit(site, "news", "102400B")
            #expect(fits.exit == .status(0), "\(fits)")
            #expect(try await Self.stored(site) == "ad")
        }
    }

    @Test(arguments: [
        ["", "1GB"], ["news", "much"], ["news", "-1"], ["news", "1GB", "2GB"], ["two\nlines", "1GB"],
    ])
    func wrongUsage(arguments: [String]) async throws {
        try await Site.run { site async throws in
            let outcome = try await Command.run("limit", site.directory, arguments)
            #expect(outcome.exit == .status(64) && outcome.output.isEmpty, "\(outcome)")
        }
    }

    @Test func aDownloadThatIsTooLargeForItsTagNamesTheTag() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 3_000_000)
            let url = site.origin.url("/film.mp4")
            _ = try await Command.run("title", site.directory, [url, "--tag", "big"])
            _ = try await Self.limit(site, "big", "1MB")
            let pin = try await Command.run("download", site.directory, [url])
            #expect(pin.exit == .status(74), "\(pin)")
            let message = pin.errors.split(separator: "\n").last.map(String.init) ?? ""
            #expect(
                message
                    == "reprise: film.mp4 cannot be stored as a whole: it does not fit the limit of titles tagged big, "
                    + "which is 1.00 MB. Raise it with: reprise limit big SIZE")
        }
    }

    @Test func aDownloadBesideOthersOfItsTagWaitsAndNamesTheirBytes() async throws {
        try await Site.run { site async throws in
            for (path, length) in [("/pinned", 614_400), ("/film.mp4", 800_000)] {
                site.publish(path, length: Int64(length))
                _ = try await Command.run("title", site.directory, [site.origin.url(path), "--tag", "big"])
            }
            _ = try await Self.limit(site, "big", "1MB")
            let first = try await Command.run("download", site.directory, [site.origin.url("/pinned")])
            #expect(first.exit == .status(0), "\(first)")
            let pin = try await Command.run("download", site.directory, [site.origin.url("/film.mp4")])
            #expect(pin.exit == .status(74), "\(pin)")
            let words =
                "titles tagged big may occupy 1.00 MB; pinned ones, downloads and kept beginnings occupy 614 kB, and "
            #expect(pin.errors.contains(words) && pin.errors.contains("\nThe download waits"), "\(pin)")
        }
    }

    @Test("a limit is removed by null only, not by a request without one") func limitLeftOut() async throws {
        try await Self.run { site async throws in
            try await Serving.run(site.directory) { serving async throws in
                #expect(try await serving.post("limit", #"{"tag":"news","limit":1000000}"#).status == 200)
                let answer = try await serving.post("limit", #"{"tag":"news"}"#)
                #expect(answer.status == 400 && answer.line.contains("limit"), "\(answer)")
                #expect(try await Self.tags(site, "news").first?.limit == 1_000_000)
                #expect(try await serving.post("limit", #"{"tag":"news","limit":null}"#).status == 200)
                #expect(try await Self.tags(site, "news").first?.limit == nil)
            }
        }
    }
}
