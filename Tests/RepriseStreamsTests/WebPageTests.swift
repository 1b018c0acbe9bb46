import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A web page is no film: what is fetched to be kept may have any name, and is never one.
@Suite(.limit(minutes: 2)) struct WebPageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var path = "/watch"
        var type = "text/html"
        var control: String?
        var word = "That is a web page, not a film: "

        var testDescription: String { "\(path) \(type) \(control ?? "")" }
    }

    private static let page = "\n<!DOCTYPE html>\n<html>Watch it here</html>"
    static let cases = [
        Case(), Case(path: "/watch.html", type: "text/html; charset=utf-8"), Case(path: "/watch.php?v=1"),
        Case(type: "application/xhtml+xml"), Case(control: "no-store"),
        Case(path: "/film.mp4", word: "sent a page in place of "),
        // Only the text says that it is one.
        Case(type: "application/octet-stream"), Case(type: "text/plain"),
    ]

    private static func run(_ item: Case, _ body: (Bench, MediaResource) async throws -> Void) async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            bench.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(page.utf8)), mediaType: item.type,
                    personality: TestOrigin.Personality { $0.fields[.cacheControl] = item.control ?? "max-age=3600" }),
                at: item.path)
            try await body(bench, try bench.cache.resource(for: bench.origin.url(item.path)))
        }
    }

    @Test("a download of one fails, and nothing of it is kept", arguments: cases)
    func download(_ item: Case) async throws {
        try await Self.run(item) { bench, resource async throws in
            try await bench.cache.downloads.add(resource)
            Refusal.check(try await bench.cache.endedDownload().state.error, saying: item.word)
            #expect(await resource.storedProgress().ranges.isEmpty)
            #expect(bench.cache.storedBytes == 0)
        }
    }

    @Test("its beginning is not kept", arguments: cases, [PreloadAmount.seconds(5), .bytes(20)])
    func beginning(_ item: Case, _ amount: PreloadAmount) async throws {
        try await Self.run(item) { bench, resource async throws in
            try await Refusal.checkBeginning(amount, of: resource, in: bench.cache, saying: item.word)
            #expect(bench.cache.storedBytes == 0)
        }
    }

    @Test("a player gets it as before") func play() async throws {
        try await Self.run(Case()) { bench, resource async throws in
            #expect(try await resource.read().collect() == Array(Self.page.utf8))
            try await bench.cache.downloads.add(resource)
            #expect(try await bench.cache.endedDownload().state.error?.code == .notDownloadable)
            #expect(try await resource.read().collect() == Array(Self.page.utf8))
        }
    }

    @Test("a playlist that its origin calls a page is a playlist") func sloppyOrigin() async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ns1.ts\n#EXT-X-ENDLIST\n"
            bench.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "text/html"), at: "/show.m3u8")
            bench.publish("/s1.ts", length: 50_000, type: "video/mp2t")
            let resource = try bench.cache.resource(for: bench.origin.url("/show.m3u8"))
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            #expect(download.state.error == nil && download.files?.stored == 2, "\(download.state)")
        }
    }
}
