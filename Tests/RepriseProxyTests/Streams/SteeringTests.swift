import HTTPTypes
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Content steering: taken out of playlists, because its manifest names hosts that a player would put in place of the
/// proxy's (case 69).
@Suite("Content steering", .limit(minutes: 1)) struct SteeringTests {
    private static let variants =
        "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"A\"\nhttps://a.example/a.m3u8\n"
        + "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"B\"\r\nhttps://b.example/b.m3u8\n"

    @Test(
        "case 69: the tag goes with its line, and the pathways stay",
        arguments: [
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"https://s.example/m?a=b\",PATHWAY-ID=\"A\"\n",
            "#EXT-X-CONTENT-STEERING:PATHWAY-ID=\"A\",SERVER-URI=\"/m\"\r\n",
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"data:application/vnd.apple.steering-list,%7B%7D\"\r",
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"m\"\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"n\"\n",
            "#EXT-X-CONTENT-STEERING\n",
        ])
    func tag(line: String) async throws {
        try await StreamSite.run { site async throws in
            for (path, text) in [
                ("/first.m3u8", "#EXTM3U\n" + line + Self.variants), ("/last.m3u8", "#EXTM3U\n" + Self.variants + line),
            ] {
                site.publish(text, at: path)
                let reply = try await site.get(path)
                #expect(reply.text == "#EXTM3U\n" + Self.variants.replacing("https://", with: "/https/"))
                #expect(reply.head.length == reply.body.count)
            }
        }
    }

    @Test("case 69: in an MPD the elements go, with everything in them")
    func elements() async throws {
        try await StreamSite.run { site async throws in
            let base = "<BaseURL serviceLocation=\"a\">X</BaseURL>"
            let period = "<Period><BaseURL>p/</BaseURL></Period>"
            func mpd(_ steering: String) -> String {
                "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">\(base)\(steering)\(period)\(steering)</MPD>"
            }
            for steering in [
                "<ContentSteering defaultServiceLocation=\"a\">https://s.example/m</ContentSteering>",
                "<ContentSteering queryBeforeStart=\"true\"/>",
                "<ContentSteering><BaseURL>https://s.example/</BaseURL><ContentSteering>/m</ContentSteering>\n"
                    + "</ContentSteering >",
            ] {
                site.publish(
                    mpd(steering).replacing("X", with: "https://a.example/"), at: "/list.mpd",
                    type: "application/dash+xml", etag: "\"\(steering.count)\"", control: "no-cache")
                let expected = mpd("").replacing("X", with: "http://localhost/https/a.example/")
                #expect(try await site.get("/list.mpd").text == expected)
            }
        }
    }

    @Test("case 69: nothing of a manifest is fetched, and one that is asked for is handed on as it came")
    func manifest() async throws {
        let manifest = "{\"VERSION\":1,\"TTL\":300,\"RELOAD-URI\":\"https://s.example/n\",\"PATHWAY-PRIORITY\":[\"B\"]}"
        let origin = CannedOrigin { request in
            let isList = request.url.target == "/main.m3u8"
            let body =
                isList
                ? "#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"https://s.example/m\"\n" + Self.variants : manifest
            let type = isList ? StreamSite.hls : "application/vnd.apple.steering-list"
            return CannedOrigin.Answer(
                status: 200, fields: [.contentType: type, .contentLength: "\(body.utf8.count)"], body: body)
        }
        try await origin.serve { server async throws in
            _ = try await RawClient.exchange(port: server.port, "/https/a.example/main.m3u8")
            #expect(origin.requests.map(\.url.description) == ["https://a.example/main.m3u8"])
            let (_, body) = try await RawClient.exchange(port: server.port, "/https/s.example/m")
            #expect(String(decoding: body, as: UTF8.self) == manifest)
        }
    }
}
