import HTTPTypes
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// A playlist is known by its first bytes, whatever its type says, stored or not, and is asked for as a whole (RFC 9110
/// §14.2).
@Suite("Playlists that are not called so", .limit(minutes: 1)) struct RecognitionTests {
    private static let hls = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n/s.ts\n#EXT-X-ENDLIST\n"
    private static let written = hls.replacing("/s.ts", with: "/http/tv.test/s.ts")
    private static let mpd =
        "<?xml version=\"1.0\"?><MPD><BaseURL>https://cdn.test/</BaseURL><Period><AdaptationSet><Representation id=\"1\"/>"
        + "</AdaptationSet></Period></MPD>"

    /// An origin that sends `text` as `type`; to a request with a range, as many bytes of it as `text` has characters.
    private static func run(
        _ text: String, type: String?, control: String = "max-age=60", etag: String? = "\"1\"",
        _ body: (ProxyServer, ScriptedOrigin) async throws -> Void
    ) async throws {
        let origin = ScriptedOrigin { request, _ in
            let bytes = Array(text.utf8)
            var fields: HTTPFields = [.cacheControl: control]
            fields[.contentType] = type
            fields[.eTag] = etag
            fields[.contentLength] = "\(bytes.count)"
            guard request.fields[.range] != nil else { return .init(200, fields, body: bytes) }
            fields[.contentLength] = "\(text.count)"
            fields[.contentRange] = "bytes 0-\(text.count - 1)/\(text.count)"
            return .init(206, fields, body: Array(bytes.prefix(text.count)))
        }
        try await origin.run { cache async throws in
            try await CannedOrigin.serve(cache) { try await body($0, origin) }
        }
    }

    private static func get(_ target: String, _ fields: [String] = [], at server: ProxyServer) async throws -> String {
        String(decoding: try await RawClient.exchange(port: server.port, target, fields).body, as: UTF8.self)
    }

    @Test(
        "its links are written, whatever the type",
        arguments: [
            "text/html; charset=UTF-8", "application/json", "image/png", "video/mp2t", "audio/mpeg", "text/plain",
            "application/x-unknown", nil,
        ], ["max-age=60", "no-store"])
    func types(type: String?, control: String) async throws {
        try await Self.run(Self.hls, type: type, control: control) { server, _ async throws in
            for fields in [[], ["Range: bytes=0-"], []] {
                #expect(try await Self.get("/http/tv.test/live.php?id=1", fields, at: server) == Self.written)
            }
        }
        try await Self.run(Self.mpd, type: type, control: control) { server, _ async throws in
            let text = try await Self.get("/http/tv.test/manifest?id=1", at: server)
            #expect(text.contains("<BaseURL>http://localhost/https/cdn.test/</BaseURL>"))
        }
    }

    @Test(
        "what begins otherwise stays as it is, and so does a file that is named as media",
        arguments: [
            ("<html>#EXTM3U\n/s.ts</html>", "/live.php"), ("x#EXTM3U\n/s.ts\n", "/live.php"), ("{}", "/live.php"),
            ("#EXTM3U8\n/s.ts\n", "/live.php"), (hls, "/film.ts"), (hls, "/film.mp4?list=a.m3u8"),
        ])
    func others(text: String, path: String) async throws {
        for control in ["max-age=60", "no-store"] {
            try await Self.run(text, type: "text/html", control: control) { server, _ async throws in
                for _ in 0..<2 { #expect(try await Self.get("/http/tv.test\(path)", at: server) == text) }
            }
        }
    }

    @Test(
        "an origin that counts characters is asked for the whole",
        arguments: [
            ("/list.m3u8", "text/plain"), ("/list.M3U8?a=b", nil), ("/list.m3u", "audio/x-mpegurl"),
            ("/list", "application/vnd.apple.mpegurl"), ("/list", "Application/X-MpegURL; charset=utf-8"),
        ], ["max-age=60", "no-store", "no-cache"])
    func ranges(list: (path: String, type: String?), control: String) async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,Передача\ns.ts\n#EXT-X-ENDLIST\n"
        try await Self.run(text, type: list.type, control: control) { server, origin async throws in
            let target = "/http/tv.test\(list.path)"
            #expect(try await Self.get(target, ["Range: bytes=0-"], at: server) == text)
            #expect(try await Self.get(target, at: server) == text)
            #expect(try await Self.get(target, ["Range: bytes=0-6"], at: server) == "#EXTM3U")
            #expect(origin.requests.last?.fields[.range] == nil)
        }
    }

    @Test("a range of a list that names nothing but its own type is repeated without, once")
    func repetition() async throws {
        try await Self.run(Self.hls, type: "application/vnd.apple.mpegurl") { server, origin async throws in
            _ = try await Self.get("/http/tv.test/list", ["Range: bytes=0-"], at: server)
            #expect(origin.requests.map { $0.fields[.range] } == ["bytes=0-", nil])
        }
    }
}
