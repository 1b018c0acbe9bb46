import HTTPTypes
import Playlists
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// A list that is too large to be read as a whole is edited line by line, and the result does not depend on how its
/// bytes arrive.
@Suite("Large lists", .limit(minutes: 2)) struct LineEditorTests {
    private static let limits: PlaylistLimits = {
        var limits = PlaylistLimits()
        limits.lineLength = 1000
        return limits
    }()

    /// The text of an editor that gets `text` in pieces of `size` bytes, and what it reported.
    private static func edited(
        _ text: [UInt8], piece size: Int, limits: PlaylistLimits = limits
    ) async throws -> (text: [UInt8], reports: [PlaylistError.Code]) {
        let reports = Mutex<[PlaylistError.Code]>([])
        let result = Mutex<[UInt8]>([])
        try await Bench.run { bench async throws in
            bench.publish("/tv/list.m3u", length: 10)
            let resource = try bench.cache.resource(for: "http://tv.test/tv/list.m3u")
            let information = try await bench.cache.resource(for: bench.origin.url("/tv/list.m3u")).read().information
            let body = GatheredBody(
                bytes: [], information: information, resource: resource, prefix: "", host: "localhost")
            var editor = LineEditor(body, imported: nil, limits: limits) { _, error in
                reports.withLock { $0.append(error.code) }
            }
            var edited: [UInt8] = []
            for start in stride(from: 0, to: text.count, by: size) {
                edited += editor.edit(Array(text[start..<min(start + size, text.count)]))
            }
            edited += editor.finish()
            result.withLock { $0 = edited }
        }
        return (result.withLock { $0 }, reports.withLock { $0 })
    }

    private static let through = "http://localhost/http/"

    @Test("links are written however the bytes arrive", arguments: [1, 2, 3, 7, 64, 100_000], ["\n", "\r\n", "\r"])
    func pieces(size: Int, end: String) async throws {
        let lines = [
            "#EXTM3U", "#EXTINF:-1 tvg-logo=\"/logo.png\",One", "/1.ts", "", "# comment", "//cdn.test/2.ts",
            "https://cdn.test/3.ts", "4.ts", "rtsp://cdn.test/5", "/6.ts",
        ]
        let expected = lines.map { line in
            switch line {
            case "/1.ts", "/6.ts": Self.through + "tv.test\(line)"
            case "//cdn.test/2.ts": Self.through + "cdn.test/2.ts"
            case "https://cdn.test/3.ts": "http://localhost/https/cdn.test/3.ts"
            default: line
            }
        }
        for tail in ["", end] {
            let text = Array((lines.joined(separator: end) + tail).utf8)
            let result = try await Self.edited(text, piece: size)
            #expect(String(decoding: result.text, as: UTF8.self) == expected.joined(separator: end) + tail)
            #expect(result.reports.isEmpty)
        }
    }

    @Test("variables and keys are read across blocks")
    func tags() async throws {
        let filler = String(repeating: "#EXTINF:1,\nx.ts\n", count: 10_000)
        let text =
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"cdn\",VALUE=\"https://cdn.test\"\n\(filler)#EXT-X-KEY:METHOD=AES-128,URI=\"/key\"\n{$cdn}/1.ts\n"
        let result = try await Self.edited(Array(text.utf8), piece: 50_000)
        let expected = text.replacing("\"/key\"", with: "\"\(Self.through)tv.test/key\"")
            .replacing("{$cdn}/1.ts", with: "http://localhost/https/cdn.test/1.ts")
        #expect(String(decoding: result.text, as: UTF8.self) == expected)
    }

    @Test("a line that is too long stays, the others are edited, and it is reported once", arguments: [10, 999, 5000])
    func longLines(size: Int) async throws {
        let long = "/" + String(repeating: "x", count: 3000)
        let text = "#EXTM3U\n/1.ts\n\(long)\n/2.ts\n\(long)\n/3.ts"
        let result = try await Self.edited(Array(text.utf8), piece: size)
        var expected = text
        for number in 1...3 {
            expected = expected.replacing("/\(number).ts", with: "\(Self.through)tv.test/\(number).ts")
        }
        #expect(String(decoding: result.text, as: UTF8.self) == expected)
        #expect(result.reports == [.lineTooLong])
    }

    @Test("through the proxy, with and without a length", arguments: [false, true], ["max-age=86400", "no-store"])
    func throughProxy(hasLength: Bool, control: String) async throws {
        let lines = (0..<9000).map { "#EXTINF:-1,\(String(repeating: "n", count: 960))\nhttp://cdn.test/\($0).ts\n" }
        let text = "#EXTM3U\n" + lines.joined()
        #expect(text.utf8.count > PlaylistLimits().size)
        let origin = ScriptedOrigin { _, _ in
            .init(
                200,
                hasLength
                    ? [.contentType: "audio/x-mpegurl", .contentLength: "\(text.utf8.count)", .cacheControl: control]
                    : [.contentType: "text/html", .cacheControl: control], body: Array(text.utf8))
        }
        try await origin.run { cache async throws in
            try await CannedOrigin.serve(cache) { server async throws in
                for count in 1...2 {
                    let client = try RawClient(port: server.port)
                    try await client.send("GET /http/tv.test/get.php?type=m3u HTTP/1.0\r\nHost: localhost\r\n\r\n")
                    let head = try await client.head()
                    #expect(head.status == 200 && head.length == nil && head.fields["etag"] == nil)
                    let body = try await client.upTo(64 << 20)
                    let expected = text.replacing("http://cdn.test/", with: "\(Self.through)cdn.test/")
                    #expect(body == Array(expected.utf8))
                    #expect(origin.requests.count == (control == "no-store" ? count : 1))
                }
            }
        }
    }

    @Test("more lines and links than are read at once are edited, too")
    func manyLines() async throws {
        try await ProxyBench.run { proxy async throws in
            let text = "#EXTM3U\n" + String(repeating: "/1.ts\n", count: 210_000)
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "audio/x-mpegurl", etag: "\"1\""),
                at: "/list.m3u")
            let body = try await proxy.get("/list.m3u").body
            let link = "http://localhost\(proxy.target("/1.ts"))"
            #expect(body == Array(text.replacing("/1.ts", with: link).utf8))
        }
    }
}
