import HTTPTypes
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// What the proxy hands on as it came, in bounded time, and what it does not fetch unasked.
@Suite("Handed on as it came", .limit(minutes: 1)) struct HandedOnTests {
    private static let list = "/https/a.example/list.m3u8"

    @Test("a line beyond the bound comes as it is, and 200,000 variants are written (case 39)")
    func longLists() async throws {
        for body in [
            "#EXTM3U\n/" + String(repeating: "x", count: 12_000_000),
            "#EXTM3U\n" + String(repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1\n/v\n", count: 200_000),
        ] {
            let expected = body.replacing("\n/v\n", with: "\n/https/a.example/v\n")
            let origin = CannedOrigin { _ in
                CannedOrigin.Answer(
                    status: 200, fields: [.contentType: StreamSite.hls, .contentLength: "\(body.utf8.count)"],
                    body: body)
            }
            try await origin.serve { server async throws in
                let client = try RawClient(port: server.port)
                try await client.send("GET \(Self.list) HTTP/1.0\r\nHost: localhost\r\n\r\n")
                #expect(try await client.head().status == 200)
                #expect(try await client.upTo(64 << 20) == Array(expected.utf8))
                #expect(origin.requests.count == 1)
            }
        }
    }

    @Test(
        "a list is asked for without a coding, and what comes coded is never edited, not at the live edge either (case 40)",
        arguments: ["", "?_HLS_msn=5"])
    func coded(query: String) async throws {
        let text = StreamSite.list(["/1.ts"])
        for (coding, isEdited) in [
            ("gzip", false), ("br", false), ("gzip, identity", false), ("aws-chunked", true), ("none", true),
            ("identity", true),
            ("Identity , identity", true), (nil, true),
        ] {
            let origin = CannedOrigin { _ in
                var fields: HTTPFields = [.contentType: StreamSite.hls, .contentLength: "\(text.utf8.count)"]
                fields[.contentEncoding] = coding
                return CannedOrigin.Answer(status: 200, fields: fields, body: text)
            }
            try await origin.serve { server async throws in
                let (head, body) = try await RawClient.exchange(
                    port: server.port, Self.list + query, ["Accept-Encoding: gzip, br"])
                #expect(origin.requests.allSatisfy { $0.fields[.acceptEncoding] ?? "identity" == "identity" })
                let served = String(decoding: body, as: UTF8.self)
                #expect(served == (isEdited ? text.replacing("/1.ts", with: "/https/a.example/1.ts") : text))
                #expect(head.fields["content-encoding"] == coding)
            }
        }
    }

    @Test("elements that lie elsewhere lead through the proxy, and nothing is fetched ahead (case 74)")
    func remoteElements() async throws {
        let mpd = """
            <MPD xmlns:xlink="http://www.w3.org/1999/xlink"><Period xlink:href="https://b.example/0.xml"/>
            <Period xlink:href="urn:mpeg:dash:resolve-to-zero:2013"/>
            <Period><EventStream schemeIdUri="urn:mpeg:dash:event:callback:2015" value="1">
            <Event id="1">https://beacon.example/a</Event></EventStream></Period></MPD>
            """
        let origin = CannedOrigin { request in
            // Each element leads to the next one, without an end.
            let number = Int(request.url.lastPathComponent.dropLast(4)) ?? 0
            let element = "<Period xlink:href=\"https://b.example/\(number + 1).xml\"/>"
            let body = request.url.target == "/list.mpd" ? mpd : element
            return CannedOrigin.Answer(
                status: 200, fields: [.contentType: "application/dash+xml", .contentLength: "\(body.utf8.count)"],
                body: body)
        }
        try await origin.serve { server async throws in
            let (_, body) = try await RawClient.exchange(port: server.port, "/https/a.example/list.mpd")
            #expect(
                String(decoding: body, as: UTF8.self)
                    == mpd.replacing("https://b.example/0", with: "http://localhost/https/b.example/0"))
            #expect(origin.requests.count == 1)
            for number in 0..<3 {
                let (head, element) = try await RawClient.exchange(port: server.port, "/https/b.example/\(number).xml")
                #expect(head.status == 200)
                #expect(String(decoding: element, as: UTF8.self).contains("b.example/\(number + 1).xml"))
                #expect(origin.requests.count == number + 2, "one request for each that a player asks for")
            }
        }
    }
}
