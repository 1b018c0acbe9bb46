import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct RangeTests {
    @Test("A request without Range gets the whole representation and its metadata")
    func wholeRepresentation() async throws {
        try await withClient { origin, client in
            let response = try await client.fetch("/a")
            #expect(response.status == 200)
            #expect(response.body == expected(0..<length))
            #expect(response["Content-Length"] == "1000")
            #expect(response["Accept-Ranges"] == "bytes")
            #expect(response["ETag"] == "\"v1\"")
            #expect(response["Last-Modified"] == "Wed, 01 Jan 2025 00:00:00 GMT")
            #expect(response["Content-Type"] == "audio/mpeg")
            #expect(response["Date"]?.utf8.count == 29)
            #expect(response["Content-Range"] == nil)
        }
    }

    @Test(
        "A satisfiable range gets 206 with exactly its bytes (RFC 9110 §15.3.7)",
        arguments: [
            ("bytes=0-0", 0, 1), ("bytes=0-499", 0, 500), ("bytes=500-999", 500, 1000), ("bytes=500-5000", 500, 1000),
            ("bytes=7-", 7, 1000), ("bytes=-1", 999, 1000), ("bytes=-5000", 0, 1000), ("BYTES=999-999", 999, 1000),
            ("bytes=3-99999999999999999999", 3, 1000),
        ] as [(String, Int64, Int64)])
    func satisfiableRange(field: String, start: Int64, end: Int64) async throws {
        try await withClient { origin, client in
            let response = try await client.fetch("/a", ["Range: \(field)"])
            #expect(response.status == 206)
            #expect(response["Content-Range"] == "bytes \(start)-\(end - 1)/1000")
            #expect(response["Content-Length"] == "\(end - start)")
            #expect(response.body == expected(start..<end))
            #expect(await origin.settledSnapshot().requests.first?.requestedRange == start..<end)
        }
    }

    @Test(
        "A range field that is not valid, or names several ranges, is ignored (RFC 9110 §14.2)",
        arguments: [
            "bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=1-2,4-5", "items=0-1", "bytes 0-1", "bytes=+1-2",
            "bytes=1--2", "bytes=0x1-2",
        ])
    func ignoredRange(field: String) async throws {
        try await withClient { origin, client in
            let response = try await client.fetch("/a", ["Range: \(field)"])
            #expect(response.status == 200)
            #expect(response.body.count == 1000)
        }
    }

    @Test(
        "A range beyond the end gets 416 with the length (RFC 9110 §15.5.17)", arguments: ["bytes=1000-", "bytes=-0"])
    func unsatisfiableRange(field: String) async throws {
        try await withClient { origin, client in
            let response = try await client.fetch("/a", ["Range: \(field)"])
            #expect(response.status == 416)
            #expect(response["Content-Range"] == "bytes */1000")
            #expect(response.body.isEmpty)
        }
    }

    @Test("HEAD gets the head of GET, ignores Range, and has no body (RFC 9110 §9.3.2, §14.2)")
    func head() async throws {
        try await withClient { origin, client in
            let response = try await client.fetch("/a", method: "HEAD", ["Range: bytes=0-1"])
            #expect(response.status == 200)
            #expect(response["Content-Length"] == "1000")
            // The next response follows at once: there was no body between them.
            #expect(try await client.fetch("/a", ["Range: bytes=1-1"]).body == expected(1..<2))
            #expect(await origin.settledSnapshot().bodyBytesSent == 1)
        }
    }

    @Test("Pipelined requests are answered in order")
    func pipelining() async throws {
        try await withClient { origin, client in
            let requests = (0..<5).map { "GET /a HTTP/1.1\r\nHost: a\r\nRange: bytes=\($0)-\($0)\r\n\r\n" }
            try await client.send(requests.joined())
            for index in 0..<5 {
                let offset = Int64(index)
                #expect(try await client.response().body == expected(offset..<offset + 1))
            }
            #expect(origin.snapshot.connectionsAccepted == 1)
        }
    }

    @Test("A file is served like any content, in every range")
    func file() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(TestPattern.bytes(in: 0..<200_000, seed: seed), to: "song.mp3")
        try await withClient { origin, client in
            origin.set(.init(.file(path: path)), at: "/file")
            let whole = try await client.fetch("/file")
            #expect(whole.body == TestPattern.bytes(in: 0..<200_000, seed: seed))
            let part = try await client.fetch("/file", ["Range: bytes=65530-131080"])
            #expect(part.body == TestPattern.bytes(in: 65_530..<131_081, seed: seed))
        }
    }

    @Test("Bytes are served like any content")
    func bytes() async throws {
        try await withClient { origin, client in
            origin.set(.init(.bytes(Array("Reprise".utf8)), mediaType: nil, etag: nil, lastModified: nil), at: "/text")
            let response = try await client.fetch("/text", ["Range: bytes=2-4"])
            #expect(response.body == Array("pri".utf8))
            #expect(response["ETag"] == nil)
            #expect(response["Last-Modified"] == nil)
            #expect(response["Content-Type"] == nil)
        }
    }

    @Test("A range at the end of a pattern of 5 GB is served at once")
    func hugePattern() async throws {
        let size: Int64 = 5_000_000_000
        try await withClient(length: size) { origin, client in
            let response = try await client.fetch("/a", ["Range: bytes=-10"])
            #expect(response["Content-Range"] == "bytes 4999999990-4999999999/5000000000")
            #expect(response.body == expected(size - 10..<size))
        }
    }

    @Test("Missing or unreadable resources and unsupported methods get 404, 500 or 405")
    func refusals() async throws {
        try await withClient { origin, client in
            origin.set(.init(.file(path: "/nowhere/at/all")), at: "/unreadable")
            #expect(try await client.fetch("/b").status == 404)
            #expect(try await client.fetch("/unreadable").status == 500)
            let refused = try await client.fetch("/a", method: "POST", ["Content-Length: 0"])
            #expect(refused.status == 405)
            #expect(refused["Allow"] == "GET, HEAD")
            origin.removeResource(at: "/a")
            #expect(try await client.fetch("/a").status == 404)
        }
    }
}
