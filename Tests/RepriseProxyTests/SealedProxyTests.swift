import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// An encrypted cache behind the proxy: clients notice nothing, and no sealed byte is sent.
@Suite(.limit(minutes: 2)) struct SealedProxyTests {
    private static func run(_ body: (ProxyBench) async throws -> Void) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "0b", count: 32)))
        try await ProxyBench.run(configure: { $0.encryption = CacheEncryption(key: key) }, body)
    }

    @Test func missesHitsAndHolesAreServedInPlain() async throws {
        try await Self.run { proxy async throws in
            proxy.bench.publish("/a.mp4", length: 500_000)
            for (range, requests) in [
                (100..<200, 1), (100..<200, 1), (50..<300_000, 3), (0..<500_000, 5), (7..<499_999, 5),
            ] {
                let answer = try await proxy.get(
                    "/a.mp4", ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
                #expect(answer.head.status == 206)
                #expect(
                    answer.body == TestPattern.bytes(in: Int64(range.lowerBound)..<Int64(range.upperBound), seed: 1))
                #expect(proxy.bench.origin.snapshot.requestCount <= requests)
            }
            #expect(await proxy.bench.origin.settledSnapshot().bytesSentMoreThanOnce == 0)
        }
    }

    @Test func aBodyOfUnknownLengthIsServedInPlain() async throws {
        try await Self.run { proxy async throws in
            proxy.bench.publish("/live", length: 300_000) { $0.framing = .chunked }
            // The first answer is chunked; the length is known at its end.
            #expect(try await proxy.get("/live").head.fields["transfer-encoding"] == "chunked")
            #expect(try await proxy.get("/live").body == TestPattern.bytes(in: 0..<300_000, seed: 1))
            #expect(proxy.bench.origin.snapshot.requestCount == 1)
        }
    }
}
