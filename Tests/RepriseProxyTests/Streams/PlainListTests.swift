import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Simple lists of stations or films (M3U) play in readers such as mpv, which take a path for a local file.
///
/// Links have a scheme and a host; RFC 3986 §4.2 allows both forms. All else stays, byte for byte.
@Suite("Simple lists through the proxy", .limit(minutes: 1)) struct PlainListTests {
    private func text(_ list: [UInt8], _ site: StreamSite, type: String = "audio/x-mpegurl") async throws -> [UInt8] {
        site.origin.set(
            TestOrigin.Resource(.bytes(list), mediaType: type, etag: "\"\(list.count)\""), at: "/tv/list.m3u")
        return try await site.get("/tv/list.m3u").body
    }

    @Test(
        "links that leave the proxy have its address",
        arguments: [
            ("https://cdn.example/1.mp3", "http://localhost/https/cdn.example/1.mp3"),
            ("//cdn.example/1.mp3", "http://localhost/http/cdn.example/1.mp3"),
            ("/radio/1.mp3?a=b", "http://localhost/http/ORIGIN/radio/1.mp3?a=b"),
            ("../1.mp3", "../1.mp3"), ("1.mp3", "1.mp3"), ("rtsp://cam.example/1", "rtsp://cam.example/1"),
        ])
    func links(link: String, expected: String) async throws {
        try await StreamSite.run { site async throws in
            let expected = expected.replacing("ORIGIN", with: "127.0.0.1:\(site.origin.port)")
            for head in ["#EXTM3U\n#EXTINF:-1 tvg-id=\"a\",One\n", "#EXTM3U\n", "#EXTM3U\r\n#EXTINF:-1,One\r\n"] {
                #expect(try await text(Array("\(head)\(link)\n".utf8), site) == Array("\(head)\(expected)\n".utf8))
            }
            let hls = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(link)\n"
            let path = expected.replacing("http://localhost", with: "")
            #expect(try await text(Array(hls.utf8), site) == Array(hls.replacing(link, with: path).utf8))
        }
    }

    @Test("titles in any code page stay, and links are escaped byte by byte")
    func codePages() async throws {
        try await StreamSite.run { site async throws in
            let head = Array("#EXTM3U\n#EXTINF:-1,Caf".utf8) + [0xE9, 0x0A]
            let list = head + Array("http://cdn.example/caf".utf8) + [0xE9] + Array(".mp3\nrel".utf8) + [0xE9, 0x0A]
            let expected = head + Array("http://localhost/http/cdn.example/caf%E9.mp3\nrel".utf8) + [0xE9, 0x0A]
            #expect(try await text(list, site) == expected)
        }
    }

    @Test("a list in UTF-16 is sent as it came, and the answer says so", arguments: [false, true])
    func utf16(isBigEndian: Bool) async throws {
        try await ProxyBench.run { proxy async throws in
            let units = Array("\u{FEFF}#EXTM3U\nhttp://cdn.example/1.mp3\n".utf16)
            let list = units.flatMap {
                isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)]
            }
            proxy.bench.origin.set(TestOrigin.Resource(.bytes(list), mediaType: "audio/x-mpegurl"), at: "/list.m3u")
            let answer = try await proxy.get("/list.m3u")
            #expect(answer.body == list)
            #expect(answer.head.fields["cache-status"]?.contains("not edited: encoding") == true)
        }
    }
}
