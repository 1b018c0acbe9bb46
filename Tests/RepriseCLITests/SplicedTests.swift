import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// An episode whose host gives each request another file, behind `serve`, and what `show` says of it.
@Suite(.limit(minutes: 2)) struct SplicedTests {
    private static let length = 400_000

    private struct Shown: Decodable {
        let splicingHost: String?
    }

    /// Reads from 20 places; returns which renditions the responses were of.
    private static func play(_ path: String, seed: UInt64, in serving: Serving, of site: Site) async throws -> [Int] {
        var random = SeededGenerator(seed: seed)
        var renditions: [Int] = []
        for _ in 0..<20 {
            let start = Int.random(in: 0..<length - 60_000, using: &random)
            let end = start + Int.random(in: 1_000..<60_000, using: &random)
            let reply = try await serving.get(site.target(path), ["Range: bytes=\(start)-\(end - 1)"])
            #expect(reply.head.status == 206 && reply.body.count == end - start)
            let number = (1...site.origin.snapshot[path].requestCount).first {
                reply.body == TestPattern.bytes(in: Int64(start)..<Int64(end), seed: 20 + UInt64($0))
            }
            renditions.append(try #require(number, "bytes of two renditions in \(start)..<\(end)"))
        }
        return renditions
    }

    @Test("a host that splices is known after a restart: two readers at once get one file, and show names the host")
    func restartedServer() async throws {
        try await Site.run { site async throws in
            let host = "127.0.0.1:\(site.origin.port)"
            for path in ["/first.mp3", "/second.mp3"] {
                site.origin.splice(
                    TestOrigin.SplicedEpisode(.responses, seed: 21, length: Int64(Self.length)), at: path)
            }
            try await Serving.run(site.directory) { serving async throws in
                _ = try await serving.get(site.target("/first.mp3"), ["Range: bytes=0-999"])
                // The next file: its response ends the read of the first one, and tells that the host splices.
                let client = try RawClient(port: serving.port)
                try await client.get(site.target("/first.mp3"), ["Range: bytes=200000-200999"])
                await site.origin.waitUntil { $0["/first.mp3"].requestCount >= 2 }
                _ = try? await client.head()
                _ = try await serving.get(site.target("/first.mp3"), ["Range: bytes=200000-200999"])
            }
            let url = site.origin.url("/first.mp3")
            let show = try await Command.run("show", site.directory, [url])
            #expect(show.exit == .status(0) && show.output.contains("\nSpliced: \(host) gives each request"), "\(show)")
            let shown = try Command.json(Shown.self, try await Command.run("show", site.directory, ["--json", url]))
            #expect(shown.map(\.splicingHost) == [host])
            try await Serving.run(site.directory) { serving async throws in
                async let one = Self.play("/second.mp3", seed: 1, in: serving, of: site)
                async let other = Self.play("/second.mp3", seed: 2, in: serving, of: site)
                #expect(try await Set(one + other) == [1], "no reader jumps")
                #expect(site.origin.snapshot["/second.mp3"].requestCount == 1)
            }
        }
    }
}
