import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A client's request costs its origin at most one, whatever has to be found out about the response.
@Suite("One request to the origin for each of a client", .limit(minutes: 5)) struct OneRequestTests {
    /// What bodies are made of.
    enum Text: String, CaseIterable, CustomTestStringConvertible {
        case playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n"
        case manifest = "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>\n"
        case comment = "# a comment that could come before a playlist\n"
        case other = "plain text that begins no playlist\n"

        var testDescription: String { "\(self)" }

        /// The first `count` bytes of a body.
        func bytes(_ count: Int) -> [UInt8] {
            let filler = self == .playlist ? "/segment.ts\n#EXTINF:6,\n" : "# nothing else follows\n"
            let rest = String(repeating: self == .other ? rawValue : filler, count: count / 20 + 1)
            return Array((rawValue + rest).utf8.prefix(count))
        }
    }

    private static let types: [String?] = [
        nil, "text/plain", "application/octet-stream", "video/mp4", "application/vnd.apple.mpegurl",
        "application/dash+xml", "text/html", "application/json",
    ]
    private static let freshness: [HTTPFields] = [
        [.cacheControl: "max-age=600"], [:], [.cacheControl: "no-cache"], [.cacheControl: "no-store"],
        [.cacheControl: "max-age=0"], [.cacheControl: "private, max-age=600"],
        [.expires: "Wed, 01 Jan 2025 00:00:00 GMT"],
    ]
    private static let sizes = [0, 1, 100, 5000]

    private enum Validator: CaseIterable {
        case none, strong, weak, date
    }

    private static func resource(
        _ bytes: [UInt8], _ type: String?, _ fields: HTTPFields, _ validator: Validator, isChunked: Bool
    ) -> TestOrigin.Resource {
        TestOrigin.Resource(
            .bytes(bytes), mediaType: type, etag: validator == .strong || validator == .weak ? "\"v\"" : nil,
            lastModified: validator == .date ? "Wed, 01 Jan 2025 00:00:00 GMT" : nil, fields: fields,
            personality: TestOrigin.Personality {
                $0.weakETag = validator == .weak
                if isChunked { $0.framing = .chunked }
            })
    }

    @Test(
        "of every type, freshness, validator, method and length", arguments: Array(types.indices), Text.allCases)
    func all(type: Int, text: Text) async throws {
        for isShared in [false, true] {
            try await ProxyBench.run(configure: { $0.reuse.isShared = isShared }) { proxy async throws in
                var number = 0
                for fields in Self.freshness {
                    for validator in Validator.allCases {
                        for (size, isChunked) in Self.sizes.flatMap({ [($0, false), ($0, true)] }) {
                            let resource = Self.resource(
                                text.bytes(size), Self.types[type], fields, validator, isChunked: isChunked)
                            for methods in [["GET", "GET", "HEAD"], ["HEAD", "GET", "GET"]] {
                                number += 1
                                let what = "\(fields) \(validator) \(size) \(isChunked) \(methods) \(isShared)"
                                proxy.bench.origin.set(resource, at: "/\(number)")
                                try await Self.check(methods, at: "/\(number)", of: proxy, what: what)
                            }
                        }
                    }
                }
            }
        }
    }

    private static func check(_ methods: [String], at path: String, of proxy: ProxyBench, what: String) async throws {
        for (number, method) in methods.enumerated() {
            let before = await proxy.bench.origin.settledSnapshot().requestCount
            let answer = try await proxy.get(path, method: method)
            let count = await proxy.bench.origin.settledSnapshot().requestCount - before
            #expect(answer.head.status == 200, "\(what)")
            #expect(number == 0 ? count == 1 : count <= 1, "\(count) for \(method) \(number) of \(what)")
        }
    }
}
