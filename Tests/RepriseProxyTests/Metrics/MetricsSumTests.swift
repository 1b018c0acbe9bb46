import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// That metrics are true to the byte: to what clients received, and to what the origin has counted itself.
@Suite(.limit(minutes: 3)) struct MetricsSumTests {
    private static let length: Int64 = 3_000_000

    @Test(arguments: [true, false]) func sumsAreThoseOfClientsAndOrigin(_ usesSendfile: Bool) async throws {
        try await ProxyBench.run(configureProxy: {
            $0.usesSendfile = usesSendfile
            // However long a busy machine takes, no deadline passes.
            $0.clock = ShiftableClock().cacheClock
        }) { proxy async throws in
            for file in 0..<4 { proxy.bench.publish("/\(file)", length: Self.length, seed: UInt64(file)) }
            proxy.bench.publish("/private", length: 70_000) { $0.fields = [.cacheControl: "no-store"] }
            var generator = SeededGenerator(seed: 3)
            var received = 0
            var (answers, media) = (0, 0)
            for _ in 0..<120 {
                let file = Int.random(in: 0..<4, using: &generator)
                let start = Int64.random(in: 0..<Self.length, using: &generator)
                let end = min(Self.length, start + Int64.random(in: 1...400_000, using: &generator))
                let answer = try await proxy.get("/\(file)", ["Range: bytes=\(start)-\(end - 1)"])
                #expect(answer.head.status == 206)
                received += answer.body.count
                (answers, media) = (answers + 1, media + 1)
            }
            for path in ["/0", "/private", "/private"] {
                received += try await proxy.get(path).body.count
                (answers, media) = (answers + 1, media + 1)
            }
            let metrics = try await Self.settled(proxy)
            #expect(metrics.sum("reprise_served_bytes_total") == Double(received))
            #expect(metrics.sum("reprise_responses_total", ["method": "GET", "code": "2xx"]) == Double(answers))
            #expect(metrics.sum("reprise_responses_total") == Double(answers))
            #expect(metrics.sum("reprise_first_byte_seconds_count") == Double(media))
            #expect(metrics.sum("reprise_reads_total") == Double(media))
            let statistics = proxy.bench.cache.statistics
            #expect(
                metrics.sum("reprise_served_bytes_total", ["source": "store"]) == Double(statistics.bytesFromStore))
            let origin = await proxy.bench.origin.settledSnapshot()
            #expect(metrics.sum("reprise_origin_bytes_total") == Double(origin.bodyBytesSent))
            #expect(metrics.sum("reprise_origin_requests_total") == Double(origin.requestCount))
            #expect(metrics.sum("reprise_readers") == 0)
            #expect(metrics.sum("reprise_fetches") == 0)
        }
    }

    /// The metrics when nothing goes on any more.
    private static func settled(_ proxy: ProxyBench) async throws -> MetricsReader {
        await proxy.becomeIdle()
        return try await proxy.server.metrics()
    }

    @Test("a look at the beginning fetches nothing, and counts neither as a read nor as bytes served")
    func looksAreNotServed() async throws {
        try await ProxyBench.run { proxy async throws in
            let type = "application/octet-stream"
            proxy.bench.publish("/stored.bin", length: 300_000, type: type)
            proxy.bench.publish("/part.bin", length: 300_000, seed: 2, type: type)
            #expect(try await proxy.get("/stored.bin").body.count == 300_000)
            await proxy.becomeIdle()
            for _ in 0..<5 {
                #expect(try await proxy.get("/stored.bin", ["Range: bytes=100-109"]).body.count == 10)
            }
            #expect(try await proxy.get("/part.bin", ["Range: bytes=20000-20009"]).body.count == 10)
            let metrics = try await Self.settled(proxy)
            #expect(metrics.sum("reprise_served_bytes_total") == 300_060)
            #expect(metrics.sum("reprise_origin_host_served_bytes_total") == 300_060)
            #expect(metrics.sum("reprise_reads_total") == 7)
            #expect(metrics.sum("reprise_readers") == 0)
            #expect(proxy.bench.cache.statistics.bytesServed == 300_060)
            #expect(proxy.bench.cache.statistics.reads == 7)
            let origin = await proxy.bench.origin.settledSnapshot()
            #expect(origin.bodyBytesSent == 300_010, "a look fetches nothing")
            #expect(metrics.sum("reprise_origin_bytes_total") == Double(origin.bodyBytesSent))
        }
    }

    @Test func manyClientsOfTheSameFile() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: Self.length)
            let received = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await proxy.get("/a").body.count } }
                return try await group.reduce(0, +)
            }
            let metrics = try await Self.settled(proxy)
            #expect(received == 20 * Int(Self.length))
            #expect(metrics.sum("reprise_served_bytes_total") == Double(received))
            #expect(metrics.sum("reprise_responses_total") == 20)
            #expect(metrics.sum("reprise_first_byte_seconds_count") == 20)
            let origin = await proxy.bench.origin.settledSnapshot()
            #expect(metrics.sum("reprise_origin_bytes_total") == Double(origin.bodyBytesSent))
        }
    }

    @Test("bytes are counted to the host of their file, also of hits that are sent together", arguments: [true, false])
    func servedBytesOfHosts(_ usesSendfile: Bool) async throws {
        try await ProxyBench.run(configureProxy: { $0.usesSendfile = usesSendfile }) { proxy async throws in
            let port = proxy.bench.origin.port
            let files: [(path: String, length: Int64)] = [("/small", 1000), ("/large", 900_000)]
            for file in files { proxy.bench.publish(file.path, length: file.length) }
            let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
            // Twice of one host, thrice of the other; the first time is a fetch.
            let targets = files.flatMap { file in [0, 1, 1, 0, 1].map { "/http/\(hosts[$0])\(file.path)" } }
            let client = try RawClient(port: proxy.server.port)
            for target in targets {
                try await client.get(target)
                _ = try await client.body(try #require(try await client.head().length))
                await proxy.becomeIdle()
            }
            let before = try await proxy.server.metrics()
            try await client.send(targets.map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined())
            for _ in targets { _ = try await client.body(try #require(try await client.head().length)) }
            let after = try await Self.settled(proxy)
            for (host, count) in zip(hosts, [2.0, 3.0]) {
                for (metrics, rounds) in [(before, 1.0), (after, 2.0)] {
                    let served = metrics.sum("reprise_origin_host_served_bytes_total", ["host": host])
                    #expect(served == rounds * count * 901_000, "\(host)")
                }
                #expect(after.sum("reprise_origin_host_bytes_total", ["host": host]) == 901_000)
            }
            #expect(
                after.sum("reprise_origin_host_served_bytes_total") == after.sum("reprise_served_bytes_total"))
        }
    }

    @Test func everyKindOfAnswerIsCountedOnce() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 100_000)
            let whole = try await proxy.get("/a")
            _ = try await proxy.get("/a")
            _ = try await proxy.get("/a", method: "HEAD")
            _ = try await proxy.get("/a", ["If-None-Match: \(try #require(whole.head.fields["etag"]))"])
            _ = try await proxy.get("/a", ["Range: bytes=200000-"])
            _ = try await proxy.get("/a", ["Range: bytes=0-0,5-9"])
            _ = try await proxy.get("/nothing")
            _ = try await proxy.get("/a", method: "OPTIONS")
            _ = try await RawClient.exchange(port: proxy.server.port, "/")
            _ = try await RawClient.exchange(port: proxy.server.port, "/nonsense")
            _ = try await RawClient.exchange(port: proxy.server.port, "/-/status.json")
            _ = try await proxy.server.raw(["what is this"])
            // These are about the server only.
            for target in ["/-/live", "/-/ready", "/metrics"] {
                _ = try await RawClient.exchange(port: proxy.server.port, target)
            }
            let metrics = try await Self.settled(proxy)
            func count(_ method: String, _ code: String) -> Double {
                metrics.sum("reprise_responses_total", ["method": method, "code": code])
            }
            #expect(count("GET", "2xx") == 5)
            #expect(count("GET", "3xx") == 1)
            #expect(count("GET", "4xx") == 3)
            #expect(count("HEAD", "2xx") == 1)
            #expect(count("OPTIONS", "2xx") == 1)
            #expect(count("other", "4xx") == 1)
            #expect(metrics.sum("reprise_responses_total") == 12)
        }
    }

    @Test func hitsCountWhenTheyAreDelivered() async throws {
        try await ProxyBench.run { proxy async throws in
            let length: Int64 = 24 << 20
            proxy.bench.publish("/film", length: length)
            _ = try await proxy.bench.bytes("/film")
            let before = try await Self.settled(proxy)
            let during = try await Self.middle(proxy)
            #expect(during.sum("reprise_readers") == 1)
            let sent = during.sum("reprise_served_bytes_total") - before.sum("reprise_served_bytes_total")
            #expect(sent >= Double(1 << 20), "a film may be sent for hours: what has left counts before its end")
            #expect(during.sum("reprise_responses_total") == before.sum("reprise_responses_total"))
            await eventually { proxy.server.connections == 0 }
            let after = try await proxy.server.metrics()
            let served = after.sum("reprise_served_bytes_total") - before.sum("reprise_served_bytes_total")
            #expect(served >= sent && served < Double(length), "24 MiB were begun, and 6 of them read")
            #expect(after.sum("reprise_readers") == 0)
            #expect(after.sum("reprise_responses_total") == before.sum("reprise_responses_total") + 1)
            #expect(after.sum("reprise_first_byte_seconds_count", ["source": "store"]) == 1)
        }
    }

    /// The metrics while a client has read 6 MiB of a film; then it closes its connection.
    private static func middle(_ proxy: ProxyBench) async throws -> MetricsReader {
        let client = try RawClient(port: proxy.server.port, receiveBufferSize: 16 << 10)
        try await client.get(proxy.target("/film"))
        #expect(try await client.head().status == 200)
        _ = try await client.body(6 << 20)
        return try await proxy.server.metrics()
    }

    @Test func aClientThatLeavesBeforeTheHeadHasNoStatus() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            proxy.bench.origin.hold("/a", at: 0)
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/a"))
            await eventually { proxy.server.answersUnderWay == 1 }
            client.disconnect()
            await eventually { proxy.server.answersUnderWay == 0 }
            proxy.bench.origin.release("/a")
            let metrics = try await proxy.server.metrics()
            #expect(metrics.sum("reprise_responses_total", ["method": "GET", "code": "none"]) == 1)
            #expect(metrics.sum("reprise_first_byte_seconds_count") == 0)
        }
    }

    @Test func connectionsBeyondTheLimitAreCounted() async throws {
        try await ProxyBench.run(configureProxy: { $0.maximumConnections = 1 }) { proxy async throws in
            let first = try RawClient(port: proxy.server.port)
            try await first.get("/")
            _ = try await first.head()
            let second = try await RawClient.exchange(port: proxy.server.port, "/")
            #expect(second.head.status == 503)
            first.disconnect()
            await eventually { proxy.server.connections == 0 }
            let metrics = try await proxy.server.metrics()
            #expect(metrics.sum("reprise_connections_refused_total") == 1)
            #expect(metrics.sum("reprise_responses_total", ["code": "5xx"]) == 1)
        }
    }
}
