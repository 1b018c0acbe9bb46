import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A client's request costs its origin at most one, whatever has to be found out about the response.
@Suite("One request to the origin for each of a client", .limit(minutes: 5)) struct OneRequestTests {
    /// A media type, and what its bodies are made of.
    struct Kind: Sendable, CustomTestStringConvertible {
        let type: String?
        let start: String
        var testDescription: String { "\(type ?? "no type"): \(start.prefix(10))" }

        /// Whether another text may be sent in place of the body.
        var isPlaylist: Bool { start == playlist || start == manifest }

        /// The first `count` bytes of a body.
        func bytes(_ count: Int) -> [UInt8] {
            let rest = String(repeating: start.hasPrefix("#") ? "# comment\n" : "others\n", count: count / 6 + 1)
            return Array((start + rest).utf8.prefix(count))
        }
    }

    private static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n/segment.ts\n"
    private static let manifest = "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>\n<!-- "
    private static let kinds =
        // A comment may come before a playlist.
        [playlist, "# comment\n", "other\n"].map { Kind(type: nil, start: $0) }
        + [
            Kind(type: "text/plain", start: "# comment\n"), Kind(type: "application/octet-stream", start: "other\n"),
            Kind(type: "video/mp4", start: "other"), Kind(type: "application/vnd.apple.mpegurl", start: playlist),
            Kind(type: "application/dash+xml", start: manifest), Kind(type: "text/html", start: "<html>"),
            Kind(type: "application/json", start: "{}"),
        ]
    private static let freshness: [HTTPFields] = [
        [.cacheControl: "max-age=600"], [:], [.cacheControl: "no-cache"], [.cacheControl: "no-store"],
        [.expires: "Wed, 01 Jan 2025 00:00:00 GMT"],
    ]
    private static let lengths: [(length: Int, isChunked: Bool)] = [
        (0, false), (1, false), (100, true), (5000, false),
    ]
    private static let methods = [["GET", "GET", "HEAD"], ["HEAD", "GET"]]

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

    @Test("of every type, freshness, validator, method and length", arguments: kinds, [false, true])
    func all(kind: Kind, isShared: Bool) async throws {
        try await ProxyBench.run(configure: { $0.reuse.isShared = isShared }) { proxy async throws in
            var number = 0
            for fields in Self.freshness {
                for validator in Validator.allCases {
                    for (length, isChunked) in Self.lengths {
                        let resource = Self.resource(
                            kind.bytes(length), kind.type, fields, validator, isChunked: isChunked)
                        for methods in Self.methods {
                            number += 1
                            proxy.bench.origin.set(resource, at: "/\(number)")
                            try await Self.check(
                                methods, at: "/\(number)", of: proxy,
                                body: kind.isPlaylist ? nil : kind.bytes(length),
                                what: "\(fields) \(validator) \(length) \(isChunked) \(methods)")
                        }
                    }
                }
            }
        }
    }

    private static func check(
        _ methods: [String], at path: String, of proxy: ProxyBench, body: [UInt8]?, what: String
    ) async throws {
        for (number, method) in methods.enumerated() {
            proxy.bench.origin.resetCounters()
            let answer = try await proxy.get(path, method: method)
            let count = await proxy.bench.origin.settledSnapshot().requestCount
            #expect(answer.head.status == 200, "\(what)")
            let isFramed = answer.head.fields["transfer-encoding"] != nil
            if method == "GET", let body, !isFramed { #expect(answer.body == body, "\(what)") }
            #expect(number == 0 ? count == 1 : count <= 1, "\(count) for \(method) \(number) of \(what)")
        }
    }
}
