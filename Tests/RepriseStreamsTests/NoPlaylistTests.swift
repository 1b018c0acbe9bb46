import HTTPTypes
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What comes in place of a playlist is no media: a download of it fails, and says what came.
@Suite(.limit(minutes: 2)) struct NoPlaylistTests {
    /// A text at a URL, and a word of the error.
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        var path = "/film.m3u8"
        var type = "application/vnd.apple.mpegurl"
        var control: String?
        let word: String

        var testDescription: String { "\(path) \(type): \(word)" }
    }

    private static let end = "#EXT-X-ENDLIST\n"
    private static let page = "<!DOCTYPE html>\n<html>Log in</html>"
    static let cases = [
        Case(text: page, type: "text/html", word: "sent a page"),
        Case(text: "\n" + page, word: "sent a page"),
        Case(text: page, type: "text/html", control: "no-store", word: "sent a page"),
        Case(text: page, path: "/film.mpd", type: "text/html; charset=utf-8", word: "sent a page"),
        Case(text: page, path: "/film", type: "application/dash+xml", word: "sent a page"),
        Case(text: "{\"error\": 7}", type: "application/json", word: "sent a page or an error"),
        Case(text: "", word: "sent nothing"),
        Case(text: "not found", type: "text/plain", word: "neither with #EXTM3U"),
        Case(text: "#EXTM3U", word: "names neither"),
        Case(text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(end)", word: "names neither"),
        Case(text: "#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n", word: "names neither"),
        Case(text: "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>", path: "/film.mpd", word: "names no"),
    ]

    private static func publish(_ item: Case, _ bench: Bench, etag: String = "\"1\"") {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(item.text.utf8)), mediaType: item.type, etag: etag,
                personality: TestOrigin.Personality { $0.fields[.cacheControl] = item.control ?? "max-age=3600" }),
            at: item.path)
    }

    private static func run(_ item: Case, _ body: (Bench, MediaResource) async throws -> Void) async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            publish(item, bench)
            bench.publish("/s1.ts", length: 50_000, seed: 1, type: "video/mp2t")
            try await body(bench, try bench.cache.resource(for: bench.origin.url(item.path)))
        }
    }

    @Test("a download fails, also in the next process", arguments: cases)
    func download(_ item: Case) async throws {
        try await Self.run(item) { bench, resource async throws in
            try await bench.cache.downloads.add(resource)
            Refusal.check(try await bench.cache.endedDownload().state.error, saying: item.word)
            try await bench.reopened(configure: { $0.downloadsStreams = true }) { cache async throws in
                Refusal.check(try await cache.endedDownload().state.error, saying: item.word)
            }
        }
    }

    @Test("a beginning is not kept", arguments: cases, [PreloadAmount.seconds(5), .bytes(20)])
    func beginning(_ item: Case, _ amount: PreloadAmount) async throws {
        try await Self.run(item) { bench, resource async throws in
            try await Refusal.checkBeginning(amount, of: resource, in: bench.cache, saying: item.word)
        }
    }

    @Test("the origin is asked once more when it is mended, though the page is fresh", arguments: [false, true])
    func mended(asDownload: Bool) async throws {
        try await Self.run(Self.cases[0]) { bench, resource async throws in
            _ = try await resource.read().collect()
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ns1.ts\n\(Self.end)"
            Self.publish(Case(text: text, word: ""), bench, etag: "\"2\"")
            if asDownload {
                try await bench.cache.downloads.add(resource)
                let download = try await bench.cache.endedDownload()
                #expect(download.state.error == nil && download.files?.stored == 2, "\(download.state)")
            } else {
                try await bench.cache.retain(resource, as: .first(.seconds(3)))
                #expect(bench.origin.snapshot["/s1.ts"].requestCount > 0)
            }
        }
    }

    @Test("a list of stations is a file, and so is a plain .m3u", arguments: ["/all.m3u8", "/all.m3u"])
    func plainList(path: String) async throws {
        let text = path == "/all.m3u" ? "a.mp3\nb.mp3\n" : "#EXTM3U\n#EXTINF:-1,One\nhttp://example.com/one\n"
        try await Self.run(Case(text: text, path: path, type: "audio/x-mpegurl", word: "")) { bench, resource in
            try await bench.cache.downloads.add(resource)
            let state = try await bench.cache.endedDownload().state
            #expect(state.error == nil, "\(state)")
        }
    }

    @Test("a stream with a file that cannot be fetched says what is wrong with its address")
    func otherScheme() async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nfile:///etc/hosts\n\(Self.end)"
        try await Self.run(Case(text: text, word: "")) { bench, resource in
            try await bench.cache.downloads.add(resource)
            let message = try await bench.cache.endedDownload().state.error?.message
            #expect(message?.hasSuffix("over HTTP: its address begins with file:.") == true, "\(message ?? "")")
        }
    }

    private static let twoSegments =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ns1.ts\n#EXTINF:4,\ns2.ts\n\(end)"

    @Test(
        "a downloaded list stays if the origin sends nothing, or a list that names nothing",
        arguments: ["", "#EXTM3U\n", "#EXTM3U\n#EXT-X-ENDLIST\n"])
    func emptiedList(text: String) async throws {
        let item = Case(text: Self.twoSegments, word: "")
        try await Self.run(item) { bench, resource async throws in
            bench.publish("/s2.ts", length: 50_000, type: "video/mp2t")
            try await bench.cache.downloads.add(resource)
            _ = try await bench.cache.endedDownload()
            Self.publish(Case(text: text, word: ""), bench, etag: "\"2\"")
            _ = try await resource.readValidated(.from(0)).collect()
            let stored = try await resource.storedBeginning(atMost: 4096, fields: [:])
            #expect(String(decoding: stored, as: UTF8.self) == Self.twoSegments)
        }
    }

    @Test("nothing in place of a segment does not make a stream whole, without a validator") func noSegment()
        async throws
    {
        try await Self.run(Case(text: Self.twoSegments, word: "")) { bench, resource async throws in
            bench.publish("/s2.ts", length: 0, etag: nil, type: "video/mp2t")
            try await bench.cache.downloads.add(resource)
            let error = try await bench.cache.endedDownload().state.error
            #expect(error?.code == .originMisbehaved, "\(error as Any)")
        }
    }

    @Test("a segment that is an empty file is stored as one, also in the next process") func emptySegment()
        async throws
    {
        try await Self.run(Case(text: Self.twoSegments, word: "")) { bench, resource async throws in
            bench.publish("/s2.ts", length: 0, type: "video/mp2t")
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            #expect(download.state.error == nil && download.files?.stored == 3, "\(download.state)")
            try await bench.reopened(configure: {
                $0.downloadsStreams = true
                $0.reuse.isOffline = true
            }) { cache async throws in
                let state = try await cache.endedDownload().state
                #expect(state.error == nil, "\(state)")
                let segment = try cache.resource(for: bench.origin.url("/s2.ts"))
                #expect(try await segment.read().collect().isEmpty)
                let error = await #expect(throws: RepriseError.self) { try await segment.read(.from(0)) }
                #expect(error?.code == .rangeNotSatisfiable, "each range lies outside of it")
            }
            #expect(bench.origin.snapshot["/s2.ts"].requestCount == 1)
        }
    }

    @Test(
        "an empty segment is looked up when its download runs again, and stays while the origin fails",
        arguments: [(false, false), (false, true), (true, false), (true, true)])
    func repairedSegment(isRepaired: Bool, lacksAnother: Bool) async throws {
        try await Self.run(Case(text: Self.twoSegments, word: "")) { bench, resource async throws in
            bench.publish("/s2.ts", length: 0, type: "video/mp2t")
            try await bench.cache.downloads.add(resource)
            _ = try await bench.cache.endedDownload()
            await bench.cache.becomeIdle()
            let length: Int64 = isRepaired ? 50_000 : 0
            bench.publish("/s2.ts", length: length, seed: 2, etag: "\"v2\"", type: "video/mp2t") {
                $0.status = isRepaired ? nil : 404
            }
            if lacksAnother {
                let other = try bench.cache.resource(for: bench.origin.url("/s1.ts"))
                try await bench.cache.remove(other.key)
            }
            try await bench.reopened(configure: { $0.downloadsStreams = true }) { cache async throws in
                let download = try await cache.endedDownload()
                #expect(download.state.error == nil && download.files?.stored == 3, "\(download.state)")
                await cache.becomeIdle()
                let stored = try await cache.entries().first { $0.url.target == "/s2.ts" }
                #expect(stored?.storedBytes ?? 0 == length)
            }
            #expect(bench.origin.snapshot["/s2.ts"].requestCount >= 2)
        }
    }

    @Test("nothing in place of the rest of a segment leaves its stored bytes") func nothingForTheRest() async throws {
        try await Self.run(Case(text: Self.twoSegments, word: "")) { bench, resource async throws in
            bench.publish("/s2.ts", length: 50_000, seed: 2, type: "video/mp2t")
            let segment = try bench.cache.resource(for: bench.origin.url("/s2.ts"))
            _ = try await segment.read(.bounded(0..<30_000)).drain()
            await bench.cache.becomeIdle()
            bench.publish("/s2.ts", length: 0, etag: "\"v2\"", type: "video/mp2t") { $0.ignoresRange = true }
            try await bench.cache.downloads.add(resource)
            let error = try await bench.cache.endedDownload().state.error
            #expect(error?.code == .originMisbehaved, "\(error as Any)")
            let stored = try await bench.cache.entries().first { $0.url.target == "/s2.ts" }
            #expect(stored?.storedBytes ?? 0 >= 30_000)
        }
    }
}

/// Checks that a file is refused because it is not what it should be.
enum Refusal {
    /// The error of a download, which contains `word`.
    static func check(_ error: RepriseError?, saying word: String) {
        #expect(error?.code == .notDownloadable, "\(error as Any)")
        #expect(error?.message.contains(word) == true, "\(error as Any)")
    }

    /// A beginning is neither fetched nor kept.
    static func checkBeginning(
        _ amount: PreloadAmount, of resource: MediaResource, in cache: MediaCache, saying word: String
    ) async throws {
        let error = await #expect(throws: RepriseError.self) { try await cache.retain(resource, as: .first(amount)) }
        check(error, saying: word)
        #expect(try await cache.retention(of: resource) == .cached)
    }
}
