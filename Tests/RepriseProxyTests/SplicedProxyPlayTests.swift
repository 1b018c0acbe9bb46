import HTTPSemantics
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Players behind the proxy, of an episode whose host gives each request another file.
@Suite(.limit(minutes: 2)) struct SplicedProxyPlayTests {
    private static let length = 400_000

    /// Plays from the beginning and after 20 seeks; returns how often what came was of another rendition than before.
    private static func play(_ proxy: ProxyBench, seed: UInt64) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        let starts = [0] + (0..<20).map { _ in Int.random(in: 0..<length - 70_000, using: &random) }
        var renditions: [Int] = []
        for start in starts {
            let end = start + Int.random(in: 1_000..<60_000, using: &random)
            var position = start
            // A change ends the response; the player asks for the rest.
            for _ in 0..<4 where position < end {
                let answer = try await proxy.get("/episode.mp3", ["Range: bytes=\(position)-\(end - 1)"])
                #expect(answer.head.status == 206)
                renditions.append(
                    try #require(rendition(of: answer.body, at: position, proxy), "bytes of two renditions"))
                position += answer.body.count
            }
            #expect(position == end)
        }
        return zip(renditions, renditions.dropFirst()).count { $0 != $1 }
    }

    private static func rendition(of bytes: [UInt8], at position: Int, _ proxy: ProxyBench) -> Int? {
        let range = Int64(position)..<Int64(position + bytes.count)
        return (1...max(proxy.bench.origin.snapshot["/episode.mp3"].requestCount, 1)).first { number in
            bytes == TestPattern.bytes(in: range, seed: 20 + UInt64(number))
        }
    }

    @Test(arguments: TestOrigin.SplicedEpisode.Delivery.allCases, [false, true])
    func aPlayWithTwentySeeksJumpsOnceAtMost(
        delivery: TestOrigin.SplicedEpisode.Delivery, isSealed: Bool
    ) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "0c", count: 32)))
        try await ProxyBench.run(configure: { if isSealed { $0.encryption = CacheEncryption(key: key) } }) {
            proxy async throws in
            proxy.bench.origin.splice(
                TestOrigin.SplicedEpisode(delivery, seed: 21, length: Int64(Self.length)), at: "/episode.mp3")
            let jumps = try await Self.play(proxy, seed: 3)
            #expect(jumps <= (delivery == .redirects ? 0 : 1))
            #expect(try await Self.play(proxy, seed: 4) == 0, "the host is known, or its file is kept")
        }
    }
}
