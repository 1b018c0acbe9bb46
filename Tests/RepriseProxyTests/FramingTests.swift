import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// How answers end, and how their heads announce it: RFC 9110 §8.6, §14.4, §15.3.7, RFC 9112 §6.3.
@Suite(.limit(minutes: 2)) struct FramingTests {
    @Test(
        "204 and 304 end with their head, 205 with an empty body, whatever their source",
        arguments: [204, 205, 304], ["GET", "HEAD", "POST"])
    func noBody(status: Int, method: String) async throws {
        for fields in [[:], [.contentLength: "5"], [.transferEncoding: "chunked"]] as [HTTPFields] {
            let origin = CannedOrigin { _ in .init(status: status, fields: fields, body: "stray") }
            try await origin.serve { server async throws in
                for version in ["1.0", "1.1"] where !(status == 304 && method == "GET") {
                    let answer = try await server.raw([
                        "\(method) /http/h/a HTTP/\(version)", "Host: localhost", "Content-Length: 0",
                        "Connection: close",
                    ])
                    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(version)")
                    #expect(answer.hasSuffix("\r\n\r\n"))
                    #expect(!answer.contains("stray"))
                    #expect(!answer.lowercased().contains("transfer-encoding"))
                    #expect(answer.contains("Content-Length") == (status == 205))
                    if status == 205 { #expect(answer.contains("Content-Length: 0\r\n")) }
                }
            }
        }
    }

    @Test("the connection continues after a 204 without a byte in between") func keptConnection() async throws {
        let origin = CannedOrigin { $0.url.target == "/none" ? .init(status: 204) : .init(status: 404) }
        try await origin.serve { server async throws in
            let client = try RawClient(port: server.port)
            for (target, status) in [("/none", 204), ("/else", 404), ("/none", 204)] {
                try await client.get("/http/h" + target)
                #expect(try await client.head().status == status)
            }
        }
    }

    @Test("the 204 to OPTIONS has no length and no type") func options() async throws {
        try await ProxyBench.run { proxy async throws in
            let head = try await proxy.get("/a", method: "OPTIONS").head
            #expect(head.status == 204)
            #expect(head.fields["content-length"] == nil)
            #expect(head.fields["content-type"] == nil)
            #expect(head.fields["allow"]?.contains("GET") == true)
        }
    }

    @Test("no 206 without Content-Range: while the length is unknown the whole is sent (RFC 9110 §14.4)")
    func unknownLength() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/live", length: 5000) {
                $0.framing = .chunked
                $0.ignoresRange = true
            }
            proxy.bench.origin.hold("/live", at: 3000)
            let first = try RawClient(port: proxy.server.port)
            try await first.get(proxy.target("/live"), ["Range: bytes=100-1099"])
            #expect(try await first.head().status == 200)
            // The requested bytes are stored by now, but the end is not known yet: the same answer.
            _ = try await first.upTo(2000)
            let second = try RawClient(port: proxy.server.port)
            try await second.get(proxy.target("/live"), ["Range: bytes=0-999"])
            #expect(try await second.head().status == 200)
            proxy.bench.origin.release("/live")
            let whole = try await proxy.get("/live", ["Range: bytes=100-"])
            #expect(whole.head.status == 200 || whole.head.fields["content-range"] == "bytes 100-4999/5000")
        }
    }

    @Test("a part of a representation whose length the origin does not state is answered with the whole")
    func starredLength() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 5000) { $0.statedLength = .unknown }
            for _ in 0..<2 {
                let answer = try await proxy.get("/a", ["Range: bytes=100-1099"])
                #expect(answer.head.status == 200 || answer.head.fields["content-range"] == "bytes 100-1099/5000")
            }
        }
    }

    @Test("several ranges that bypass the store are answered with the whole: never two versions under one head")
    func severalRangesWithoutAStore() async throws {
        let origin = CannedOrigin { request in
            let isWhole = request.fields[.range] == nil
            var fields: HTTPFields = [.contentType: "video/mp4", .contentLength: isWhole ? "20" : "10"]
            if !isWhole { fields[.contentRange] = "bytes 0-9/20" }
            return .init(
                status: isWhole ? 200 : 206, fields: fields,
                body: String(repeating: "A", count: isWhole ? 20 : 10))
        }
        try await origin.serve { server async throws in
            let answer = try await RawClient.exchange(port: server.port, "/http/h/a", ["Range: bytes=0-9, 15-19"])
            #expect(answer.head.status == 200)
            #expect(answer.body.count == 20)
        }
    }

    @Test("several ranges without a strong validator are answered with the whole, unless all of them are stored")
    func severalRangesWithoutAValidator() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000, etag: nil)
            let miss = try await proxy.get("/a", ["Range: bytes=0-9, 500-509"])
            #expect(miss.head.status == 200)
            #expect(miss.body == TestPattern.bytes(in: 0..<1000, seed: 1))
            let hit = try await proxy.get("/a", ["Range: bytes=0-9, 500-509"])
            #expect(hit.head.status == 206)
        }
    }

    @Test("the tag for media with a strong date is the same in every cache of it (RFC 9110 §8.8.2.2)")
    func stableTags() async throws {
        var tags: [String?] = []
        for _ in 0..<2 {
            try await ProxyBench.run { proxy async throws in
                proxy.bench.publish("/other", length: 10)
                _ = try await proxy.get("/other")
                proxy.bench.publish("/a", length: 1000, etag: "W/\"v1\"")
                tags.append(try await proxy.get("/a").head.fields["etag"])
                tags.append(try await proxy.get("/a").head.fields["etag"])
                proxy.bench.publish("/b", length: 999, etag: "W/\"v1\"")
                let other = try await proxy.get("/b").head.fields["etag"]
                #expect(other != tags[0], "another length")
                proxy.bench.publish("/c", length: 1000, etag: "W/\"v2\"")
                #expect(try await proxy.get("/c").head.fields["etag"] != tags[0], "another weak tag")
                let resumed = try await proxy.get("/a", ["If-Match: \(tags[0] ?? "")", "Range: bytes=1-2"])
                #expect(resumed.head.status == 206)
            }
        }
        #expect(Set(tags).count == 1)
        // 2025-01-01 and 1,000 bytes, in hexadecimal.
        #expect(tags[0] == "\"reprise-67748580-3e8-v1\"")
    }

    @Test("without a strong date there is no stable tag: it names the generation") func tagsOfOneStore()
        async throws
    {
        try await ProxyBench.run { proxy async throws in
            for path in ["/a", "/b"] { proxy.bench.publish(path, length: 1000, etag: nil) }
            let first = try await proxy.get("/a").head.fields["etag"]
            #expect(first != nil)
            #expect(try await proxy.get("/a").head.fields["etag"] == first)
            #expect(try await proxy.get("/b").head.fields["etag"] != first)
        }
    }
}
