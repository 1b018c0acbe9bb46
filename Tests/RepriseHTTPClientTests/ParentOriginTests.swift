import Foundation
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// Which parent is asked after one has not answered.
@Suite(.limit(minutes: 1)) struct ParentOriginTests {
    private static let answer: [ScriptedServer.Step] = [
        .send(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Status: node; fwd=uri-miss; fwd-status=200\r\n\r\nok")
    ]

    /// An edge that waits for five seconds, for each parent.
    private static func edge(
        of parents: [Parent], _ fallback: ParentOrigin.Fallback, _ clock: ManualClock
    ) -> ParentOrigin {
        var configuration = ParentOrigin.Configuration(name: "edge", via: "1.1 edge")
        configuration.parents = parents
        configuration.fallback = fallback
        configuration.margin = .zero
        configuration.clock = CacheClock(clock) { Date(timeIntervalSince1970: 0) }
        var direct = NIOOrigin.Configuration()
        direct.responseTimeout = .seconds(5)
        return ParentOrigin(configuration, direct: direct)
    }

    @Test("a parent that takes a request and does not answer is asked last for 10 seconds, then first again")
    func silent() async throws {
        try await ScriptedServer.run({ _, _ in [] }) { silent async throws in
            try await ScriptedServer.run({ _, _ in Self.answer }) { live async throws in
                let parents = try [silent, live].map { try Parent("http://127.0.0.1:\($0.port)") }
                let urls = try (0..<64).map { try ResourceURL("http://a.example/\($0).mp4") }
                let first = urls.first { parents[0].weight(for: $0) > parents[1].weight(for: $0) }
                let url = try #require(first)
                let clock = ManualClock()
                let edge = Self.edge(of: parents, .none, clock)
                var counts: [[Int]] = []
                for pause in [0, 0, 9, 1] {
                    clock.advance(by: .seconds(pause))
                    let response = try await edge.send(OriginRequest(url: url))
                    #expect(try await response.body.text() == "ok")
                    counts.append([silent.requests.count, live.requests.count])
                }
                await edge.shutdown()
                #expect(counts == [[1, 1], [1, 2], [1, 3], [2, 4]])
            }
        }
    }

    @Test("where origins can be asked, one request in 10 seconds waits for a parent that hangs, until it answers")
    func silentBesideOrigin() async throws {
        // The connections of the first request and of the first try get no answer.
        let hangs: ScriptedServer.Script = { connection, _ in connection < 2 ? [] : Self.answer }
        try await ScriptedServer.run(hangs) { parent async throws in
            try await ScriptedServer.run({ _, _ in Self.answer }) { origin async throws in
                let clock = ManualClock()
                let edge = Self.edge(of: [try Parent("http://127.0.0.1:\(parent.port)")], .direct, clock)
                let url = try ResourceURL(origin.url("/a.mp4"))
                var counts: [[Int]] = []
                for pause in [0, 0, 9, 1, 0, 10, 0] {
                    clock.advance(by: .seconds(pause))
                    let response = try await edge.send(OriginRequest(url: url))
                    #expect(try await response.body.text() == "ok")
                    counts.append([parent.requests.count, origin.requests.count])
                }
                await edge.shutdown()
                #expect(counts == [[1, 1], [1, 2], [1, 3], [2, 4], [2, 5], [3, 5], [4, 5]])
            }
        }
    }
}
