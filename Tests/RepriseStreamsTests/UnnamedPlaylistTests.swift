import HTTPTypes
import Reprise
import RepriseStreams
import TestLimits
import TestSupport
import Testing

/// A download knows a playlist by its text, reads all of it or fails, and has what its segments need.
@Suite("Downloads of playlists that are not called so", .limit(minutes: 2)) struct UnnamedPlaylistTests {
    private static let list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,Передача\ns.ts\n#EXT-X-ENDLIST\n"

    /// An origin of `text` and of segments that need the cookie that the text sets.
    ///
    /// It counts characters in place of bytes if a range is asked for.
    private static func run(
        _ text: String = list, type: String?, cookie: String? = nil, segmentHost: String = "tv.test",
        _ body: (MediaCache, ScriptedOrigin) async throws -> Void
    ) async throws {
        let origin = ScriptedOrigin { request, _ in
            guard request.url.lastPathComponent != "s.ts" else {
                guard cookie == nil || request.fields[.cookie] == "t=1" else { return .init(403) }
                return .init(200, [.contentType: "video/mp2t", .contentLength: "3", .eTag: "\"1\""], body: [71, 1, 2])
            }
            let bytes = Array(text.replacing("\ns.ts", with: "\nhttp://\(segmentHost)/s.ts").utf8)
            var fields: HTTPFields = [.eTag: "\"1\"", .contentLength: "\(bytes.count)"]
            fields[.contentType] = type
            fields[.setCookie] = cookie
            guard request.fields[.range] != nil else { return .init(200, fields, body: bytes) }
            let count = bytes.count - 20
            fields[.contentLength] = "\(count)"
            fields[.contentRange] = "bytes 0-\(count - 1)/\(count)"
            return .init(206, fields, body: Array(bytes.prefix(count)))
        }
        try await origin.run(configure: { $0.downloadsStreams = true }) { try await body($0, origin) }
    }

    private static func download(_ url: String, from cache: MediaCache) async throws -> Download {
        try await cache.downloads.add(try cache.resource(for: url))
        return try await cache.endedDownload()
    }

    @Test(
        "its segments are downloaded, whatever its type",
        arguments: ["text/html", "application/json", "video/mp2t", "text/plain", "application/vnd.apple.mpegurl", nil])
    func types(type: String?) async throws {
        try await Self.run(type: type) { cache, origin async throws in
            let download = try await Self.download("http://tv.test/live.php?id=1", from: cache)
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(await (try cache.resource(for: "http://tv.test/s.ts")).isCached)
        }
    }

    @Test("one that is too long to be read is no success", arguments: ["/list.m3u8", "/list.php"])
    func tooLong(path: String) async throws {
        let filler = String(repeating: "#" + String(repeating: "n", count: 999) + "\n", count: 9000)
        try await Self.run(Self.list + filler, type: "text/html") { cache, _ async throws in
            let download = try await Self.download("http://tv.test\(path)", from: cache)
            #expect(download.state.error?.code == .notDownloadable)
            #expect(download.state.error?.message.contains("longer than 8.39 MB") == true, "\(download.state)")
        }
    }

    @Test(
        "its cookies go to the segments that they are for, as a player's would (RFC 6265 §5.4)",
        arguments: [
            ("t=1; Path=/", "tv.test", true), ("t=1; Domain=tv.test", "cdn.tv.test", true),
            ("t=1; Path=/", "tv.test:8080", true), ("t=1; Path=/", "cdn.tv.test", false),
            ("t=1; Path=/", "evil.test", false),
        ])
    func cookies(cookie: String, host: String, isDone: Bool) async throws {
        try await Self.run(
            type: "application/vnd.apple.mpegurl", cookie: cookie, segmentHost: host
        ) { cache, _ async throws in
            let download = try await Self.download("http://tv.test/v.m3u8", from: cache)
            let isRight = if case .done = download.state { isDone } else { !isDone }
            #expect(isRight, "\(download.state)")
        }
    }

    @Test("the page and the program that the user names are named to all hosts, and nothing else is")
    func fields() async throws {
        try await Self.run(type: "application/vnd.apple.mpegurl", segmentHost: "cdn.test") {
            cache, origin async throws in
            let fields: HTTPFields = [.referer: "https://tv.test/", .userAgent: "mpv", .authorization: "Bearer x"]
            let resource = try cache.resource(for: "http://tv.test/v.m3u8", fields: fields)
            try await cache.downloads.add(resource)
            _ = try await cache.endedDownload()
            let segment = try #require(origin.requests.last { $0.url.lastPathComponent == "s.ts" })
            #expect(segment.fields[.referer] == "https://tv.test/" && segment.fields[.userAgent] == "mpv")
            #expect(segment.fields[.authorization] == nil)
        }
    }
}
