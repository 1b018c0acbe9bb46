import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Several ranges in one request: RFC 9110 §14.2, §14.6, §15.3.7.2.
@Suite(.limit(minutes: 1)) struct MultipartTests {
    private func parts(_ head: RawClient.Head, _ body: [UInt8]) throws -> [(range: String, bytes: [UInt8])] {
        let type = try #require(head.fields["content-type"])
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(type.hasPrefix("multipart/byteranges; boundary="))
        let text = String(decoding: body, as: Unicode.ASCII.self)
        var parts: [(String, [UInt8])] = []
        for part in text.components("--\(boundary)").dropFirst().dropLast() {
            let halves = part.components("\r\n\r\n")
            let range = halves[0].components("\r\n").first { $0.hasPrefix("Content-Range: ") }
            #expect(halves[0].contains("Content-Type: video/mp4"))
            let content = halves.dropFirst().joined(separator: "\r\n\r\n").utf8.dropLast(2)
            parts.append((String(try #require(range).dropFirst(15)), Array(content)))
        }
        #expect(text.hasSuffix("\r\n--\(boundary)--\r\n"))
        return parts
    }

    @Test("the parts are sent in the requested order, from the store and from the origin")
    func partsComeInOrder() async throws {
        try await ProxyBench.run { proxy async throws in
            let text = (0..<1000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(text), mediaType: "video/mp4", etag: "\"v1\""), at: "/a")
            for _ in 0..<2 {
                let (head, body) = try await proxy.get("/a", ["Range: bytes=500-509, 0-4, -3"])
                #expect(head.status == 206)
                #expect(head.fields["content-range"] == nil)
                #expect(head.length == body.count)
                let parts = try parts(head, body)
                #expect(parts.map(\.range) == ["bytes 500-509/1000", "bytes 0-4/1000", "bytes 997-999/1000"])
                #expect(parts.map(\.bytes) == [Array(text[500..<510]), Array(text[0..<5]), Array(text[997...])])
            }
            let sent = await proxy.bench.origin.settledSnapshot()["/a"]
            #expect(sent.bytesSentMoreThanOnce == 0)
            #expect(sent.bodyBytesSent <= 1000)
        }
    }

    @Test(
        "requests that would be wasted work are answered with the whole",
        arguments: [
            "bytes=0-99, 50-149", "bytes=0-, 5-6",
            "bytes=" + (0..<65).map { "\($0 * 2)-\($0 * 2)" }.joined(separator: ","),
        ])
    func abuseIsAnsweredWithTheWhole(field: String) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            for _ in 0..<2 {
                let (head, body) = try await proxy.get("/a", ["Range: \(field)"])
                #expect(head.status == 200)
                #expect(body.count == 1000)
            }
        }
    }

    @Test("parts of a stored variant are those of the variant that the request selects (RFC 9111 §4.1)")
    func partsOfAVariant() async throws {
        try await ProxyBench.run { proxy async throws in
            let rooms = ["red": UInt8(ascii: "r"), "blue": UInt8(ascii: "b")]
            for (room, letter) in rooms {
                // Without a validator, only a lookup can show that two parts are of one representation.
                proxy.bench.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(repeating: letter, count: 1000)), mediaType: "video/mp4", etag: nil,
                        lastModified: nil,
                        personality: TestOrigin.Personality { $0.fields = [.vary: "X-Room"] }), at: "/a")
                _ = try await proxy.get("/a", ["X-Room: \(room)"])
            }
            for (room, letter) in rooms {
                let (head, body) = try await proxy.get("/a", ["X-Room: \(room)", "Range: bytes=500-509, 0-4"])
                #expect(head.status == 206)
                let expected = [10, 5].map { Array(repeating: letter, count: $0) }
                #expect(try parts(head, body).map(\.bytes) == expected)
            }
            #expect(proxy.bench.origin.snapshot.requestCount == 2)
        }
    }

    @Test("one part of several that exists is an ordinary range; none is 416")
    func partsThatDoNotExist() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            _ = try await proxy.get("/a")
            let one = try await proxy.get("/a", ["Range: bytes=5000-, 10-19"])
            #expect(one.head.status == 206)
            #expect(one.head.fields["content-range"] == "bytes 10-19/1000")
            #expect(one.body == TestPattern.bytes(in: 10..<20, seed: 1))
            let none = try await proxy.get("/a", ["Range: bytes=5000-, 6000-"])
            #expect(none.head.status == 416)
            #expect(none.head.fields["content-range"] == "bytes */1000")
        }
    }
}

extension StringProtocol {
    /// The pieces between occurrences of `separator`.
    fileprivate func components(_ separator: String) -> [String] {
        var result: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            result.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return result + [String(rest)]
    }
}
