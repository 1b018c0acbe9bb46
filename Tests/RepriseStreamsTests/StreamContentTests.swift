import HTTPTypes
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What comes in place of a key or a segment is neither downloaded nor kept.
@Suite(.limit(minutes: 2)) struct StreamContentTests {
    /// A file of the stream, what its origin sends for it, and what is said of that.
    struct Case: Sendable, CustomTestStringConvertible {
        var path = "/key"
        var bytes = Array("please log in first".utf8)
        var type = "application/octet-stream"
        var framing = TestOrigin.Personality.Framing.contentLength
        var control = "max-age=3600"
        var word = "sent 19 bytes that are no key in place of the key "

        var testDescription: String { "\(path) \(type), \(bytes.count) bytes \(framing)" }
    }

    private static let list = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-KEY:METHOD=AES-128,URI="/key?token=secret"
        #EXTINF:4,
        /s1
        #EXTINF:4,
        /s2.ts
        #EXT-X-ENDLIST

        """
    private static let key = Case(bytes: Array(repeating: 7, count: 16))
    private static let page = Array("<!DOCTYPE html>\n<html>Log in</html>".utf8)
    private static let text = Array("FAILED TO CONNECT".utf8)
    private static let sentText = "sent a text in place of "
    private static let sentPage = "sent a page in place of "

    static let cases = [
        Case(),
        Case(control: "no-store"),
        Case(type: "text/html"),
        Case(framing: .chunked),
        Case(bytes: [1], word: "sent 1 byte that is no key"),
        Case(bytes: Array(repeating: 1, count: 200_000), word: "sent 200000 bytes that are no key"),
        Case(path: "/s1", bytes: page, type: "text/html; charset=utf-8", word: sentPage),
        Case(path: "/s1", bytes: page, type: "text/html", framing: .chunked, control: "no-store", word: sentPage),
        Case(path: "/s2.ts", bytes: page, type: "application/xhtml+xml", word: sentPage),
        // Only the bytes say so.
        Case(path: "/s1", bytes: page, type: "video/mp2t", word: sentPage),
        Case(path: "/s1", bytes: page, type: "text/plain", word: sentPage),
        Case(path: "/s1", bytes: text, type: "video/mp2t", word: sentText),
        Case(path: "/s1", bytes: text, framing: .chunked, word: sentText),
        Case(path: "/s2.ts", bytes: text, type: "text/plain", word: sentText),
        Case(path: "/s2.ts", bytes: [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0, 1], word: "sent a picture in place of "),
        Case(
            path: "/s2.ts", bytes: Array("<?xml version=\"1.0\"?><Error/>".utf8), type: "application/xml",
            word: sentText),
    ]

    private static func publish(_ item: Case, etag: String = "\"1\"", _ bench: Bench) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(item.bytes), mediaType: item.type, etag: etag,
                personality: TestOrigin.Personality {
                    ($0.framing, $0.fields[.cacheControl]) = (item.framing, item.control)
                }), at: item.path)
    }

    /// The file at the path of `item` as it should be.
    private static func publishRight(_ item: Case, _ bench: Bench) {
        guard item.path == "/key" else {
            return bench.publish(item.path, length: 50_000, seed: 5, etag: "\"2\"", type: "video/mp2t")
        }
        publish(key, etag: "\"2\"", bench)
    }

    /// A stream of a key and two segments, of which one file is as `item` says.
    private static func run(_ item: Case, _ body: (Bench, MediaResource) async throws -> Void) async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            bench.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                at: "/list.m3u8")
            publish(key, bench)
            for path in ["/s1", "/s2.ts"] { bench.publish(path, length: 50_000, seed: 5, type: "video/mp2t") }
            publish(item, bench)
            try await body(bench, try bench.cache.resource(for: bench.origin.url("/list.m3u8")))
        }
    }

    private static func stored(_ cache: MediaCache) async throws -> Set<String> {
        await cache.becomeIdle()
        return Set(try await cache.entries().map { String($0.url.target.prefix { $0 != "?" }) })
    }

    @Test(
        "a download of it fails, says what came and keeps none of it, and is whole once the origin is mended",
        arguments: cases)
    func refused(_ item: Case) async throws {
        try await Self.run(item) { bench, resource async throws in
            try await bench.cache.downloads.add(resource)
            let error = try await bench.cache.endedDownload().state.error
            #expect(error?.code == .notDownloadable, "\(error as Any)")
            #expect(error?.message.contains(item.word) == true, "\(error as Any)")
            #expect(error?.message.contains(item.path) == true && error?.remedy == .logIn, "\(error as Any)")
            #expect(error?.message.contains("secret") == false, "\(error as Any)")
            #expect(try await Self.stored(bench.cache).contains(item.path) == false)
            Self.publishRight(item, bench)
            try await bench.cache.downloads.add(resource)
            #expect(try await bench.cache.endedDownload().isDone)
            #expect(try await Self.stored(bench.cache) == ["/list.m3u8", "/key", "/s1", "/s2.ts"])
        }
    }

    @Test(
        "one that was stored before is not taken for the file, and the origin is asked again",
        arguments: cases.filter { $0.control != "no-store" && $0.path != "/s2.ts" && $0.type != "video/mp2t" },
        [false, true])
    func storedBefore(_ item: Case, isReopened: Bool) async throws {
        try await Self.run(item) { bench, resource async throws in
            let url = bench.origin.url(item.path == "/key" ? "/key?token=secret" : item.path)
            _ = try await bench.cache.resource(for: url).read().drain()
            #expect(try await Self.stored(bench.cache) == [item.path])
            Self.publishRight(item, bench)
            func download(in cache: MediaCache) async throws {
                try await cache.downloads.add(cache.resource(for: resource.url.description))
                let download = try await cache.endedDownload()
                #expect(download.isDone, "\(download.state)")
                let bytes = try await cache.resource(for: url).read().collect()
                #expect(bytes.count == (item.path == "/key" ? 16 : 50_000))
            }
            guard isReopened else { return try await download(in: bench.cache) }
            try await bench.reopened(configure: { $0.downloadsStreams = true }) { try await download(in: $0) }
        }
    }

    @Test(
        "keys of 16 and 32 bytes are keys whatever media type they have, and subtitles are no pages",
        arguments: [
            Case(bytes: Array(repeating: 3, count: 16), type: "text/html"),
            Case(bytes: Array(repeating: 3, count: 32), type: "text/html", framing: .chunked),
            Case(path: "/s1", bytes: Array("WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n".utf8), type: "text/vtt"),
            Case(
                path: "/s1", bytes: Array("<?xml version=\"1.0\"?>\n<tt xmlns=\"http://www.w3.org/ns/ttml\"/>".utf8),
                type: "application/ttml+xml"),
        ])
    func taken(_ item: Case) async throws {
        try await Self.run(item) { bench, resource async throws in
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            #expect(download.isDone, "\(download.state)")
        }
    }

    @Test("a beginning is kept without what came in place of a key, and not without a segment")
    func beginning() async throws {
        for item in [Case(), Case(path: "/s1", bytes: Self.page, type: "text/html", word: Self.sentPage)] {
            try await Self.run(item) { bench, resource async throws in
                if item.path == "/key" {
                    try await bench.cache.retain(resource, as: .first(.seconds(3)))
                } else {
                    let error = await #expect(throws: RepriseError.self) {
                        try await bench.cache.retain(resource, as: .first(.seconds(3)))
                    }
                    #expect(error?.message.contains(item.word) == true, "\(error as Any)")
                }
                #expect(try await Self.stored(bench.cache).contains(item.path) == false)
            }
        }
    }
}
