import Foundation
import HTTPTypes
import Logging
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The access log beside what clients received, metrics and the origin's own count.
@Suite(.limit(minutes: 3)) struct AccessLogWireTests {
    private struct Line: Decodable {
        let time, method, url: String
        let client, range, cacheStatus, userAgent, trace: String?
        let status: Int
        let bytes, storeBytes, joinedBytes, originBytes: Int64
        let firstByteMilliseconds: Double?
        let milliseconds: Double
    }

    /// Runs `body` with a proxy that logs; returns the lines, and the metrics from before its end.
    private static func lines(
        configureProxy: (inout ProxyConfiguration) -> Void = { _ in }, _ body: (ProxyBench) async throws -> Void
    ) async throws -> (lines: [Line], metrics: MetricsReader, prefix: String) {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/access.log"
        let log = try AccessLog(path: path, format: .json, logger: Logger(label: "test"))
        var metrics: MetricsReader?
        var prefix = ""
        try await ProxyBench.run(configureProxy: {
            $0.accessLog = log
            // However long a busy machine takes, no deadline passes.
            $0.clock = ShiftableClock().cacheClock
            configureProxy(&$0)
        }) { proxy async throws in
            prefix = "http://127.0.0.1:\(proxy.bench.origin.port)"
            try await body(proxy)
            await proxy.becomeIdle()
            metrics = try await proxy.server.metrics()
        }
        await log.close(within: .seconds(300))
        #expect(log.droppedLines == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        return (lines, try #require(metrics), prefix)
    }

    @Test("bodies of refusals and of other methods are in all three counts") func answersWithoutMedia() async throws {
        var (received, sent): (Int, Int64) = (0, 0)
        let (lines, metrics, _) = try await Self.lines { proxy async throws in
            proxy.bench.publish("/gone", length: 1000) {
                $0.status = 410
                $0.statusBody = Array(repeating: 65, count: 5000)
            }
            proxy.bench.publish("/busy", length: 1000) {
                $0.status = 503
                $0.statusBody = Array(repeating: 66, count: 70_000)
                $0.fields = [.retryAfter: "100"]
            }
            proxy.bench.publish("/a", length: 1000)
            for path in ["/nothing", "/gone", "/busy"] { received += try await proxy.get(path).body.count }
            for method in ["POST", "DELETE"] { received += try await proxy.get("/a", method: method).body.count }
            await proxy.becomeIdle()
            sent = await proxy.bench.origin.settledSnapshot().bodyBytesSent
        }
        #expect(lines.map(\.status) == [404, 410, 503, 405, 405])
        #expect(sent > 75_000)
        #expect(Int64(received) == sent)
        #expect(lines.reduce(0) { $0 + $1.bytes } == sent)
        #expect(metrics.sum("reprise_origin_bytes_total") == Double(sent))
        #expect(metrics.sum("reprise_origin_host_bytes_total") == Double(sent))
    }

    @Test(arguments: [true, false]) func sumsAreThoseOfMetricsClientsAndOrigin(_ usesSendfile: Bool) async throws {
        var received = 0
        var originBytes: Int64 = 0
        let (lines, metrics, _) = try await Self.lines(configureProxy: { $0.usesSendfile = usesSendfile }) {
            proxy async throws in
            let length: Int64 = 2_000_000
            for file in 0..<3 { proxy.bench.publish("/\(file)", length: length, seed: UInt64(file)) }
            proxy.bench.publish("/private", length: 70_000) { $0.fields = [.cacheControl: "no-store"] }
            var generator = SeededGenerator(seed: 8)
            for _ in 0..<80 {
                let start = Int64.random(in: 0..<length, using: &generator)
                let end = min(length, start + Int64.random(in: 1...300_000, using: &generator))
                let path = "/\(Int.random(in: 0..<3, using: &generator))"
                received += try await proxy.get(path, ["Range: bytes=\(start)-\(end - 1)"]).body.count
            }
            for path in ["/0", "/1", "/private"] { received += try await proxy.get(path).body.count }
            received += try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 { group.addTask { try await proxy.get("/2").body.count } }
                return try await group.reduce(0, +)
            }
            await proxy.becomeIdle()
            originBytes = await proxy.bench.origin.settledSnapshot().bodyBytesSent
        }
        #expect(lines.count == 93)
        #expect(Double(lines.count) == metrics.sum("reprise_responses_total"))
        #expect(lines.reduce(0) { $0 + $1.bytes } == Int64(received))
        for (source, path) in [("store", \Line.storeBytes), ("joined", \.joinedBytes), ("origin", \.originBytes)] {
            let sum = lines.reduce(0) { $0 + $1[keyPath: path] }
            #expect(Double(sum) == metrics.sum("reprise_served_bytes_total", ["source": source]))
        }
        for line in lines { #expect(line.bytes == line.storeBytes + line.joinedBytes + line.originBytes) }
        #expect(Double(originBytes) == metrics.sum("reprise_origin_bytes_total"))
        #expect(
            lines.allSatisfy { $0.firstByteMilliseconds ?? -1 >= 0 && $0.milliseconds >= $0.firstByteMilliseconds ?? 0 }
        )
    }

    @Test("behind a trusted proxy each request of a connection has its own client, and origins get none of them")
    func behindAProxy() async throws {
        for trusts in [true, false] {
            let (lines, _, _) = try await Self.lines(configureProxy: {
                $0.trustsProxy = { trusts && $0 == "127.0.0.1" }
            }) { proxy async throws in
                proxy.bench.publish("/a", length: 100)
                let client = try RawClient(port: proxy.server.port)
                // A lookup, a hit, and one without a word.
                for field in [["X-Forwarded-For: 203.0.113.9, 192.0.2.7"], ["X-Forwarded-For: 192.0.2.8"], []] {
                    try await client.get(proxy.target("/a"), field)
                    #expect(try await client.head().status == 200)
                    _ = try await client.body(100)
                }
                let requests = proxy.bench.origin.snapshot.requests
                #expect(requests.count == 1)
                #expect(requests.allSatisfy { $0.fields.allSatisfy { !$0.value.contains("192.0.2") } })
            }
            let forwarded = trusts ? ["192.0.2.7", "192.0.2.8"] : ["127.0.0.1", "127.0.0.1"]
            #expect(lines.map(\.client) == forwarded + ["127.0.0.1"])
        }
    }

    @Test func eachKindOfAnswerHasALine() async throws {
        let (lines, metrics, prefix) = try await Self.lines { proxy async throws in
            proxy.bench.publish("/a", length: 100_000)
            // An answer is over after its client has it, and the next request comes on another connection.
            func settle() async throws {
                await proxy.becomeIdle()
                // Passes through each event loop.
                _ = try await proxy.server.metrics()
            }
            func get(
                _ path: String, _ fields: [String] = [], method: String = "GET"
            ) async throws -> (head: RawClient.Head, body: [UInt8]) {
                let answer = try await proxy.get(path, fields, method: method)
                try await settle()
                return answer
            }
            let whole = try await get(
                "/a?signature=secret", ["traceparent: 00-\(Self.trace)-b7ad6b7169203331-01"])
            let tag = try #require(whole.head.fields["etag"])
            _ = try await get("/a?signature=secret", ["Range: bytes=10-19", "User-Agent: \"x\"\\"])
            _ = try await get("/a?signature=secret", method: "HEAD")
            _ = try await get("/a?signature=secret", ["If-None-Match: \(tag)"])
            _ = try await get("/a?signature=secret", ["Range: bytes=200000-"])
            _ = try await get("/a?signature=secret", ["Range: bytes=0-0,5-9"])
            _ = try await get("/nothing?signature=secret")
            _ = try await get("/a", method: "OPTIONS")
            for target in ["/", "/nonsense?secret", "/-/status.json", "/-/live", "/-/ready", "/metrics"] {
                _ = try await RawClient.exchange(port: proxy.server.port, target)
                try await settle()
            }
            _ = try await proxy.server.raw(["what is secret here"])
        }
        let text = lines.map { "\($0.method) \($0.url.replacing(prefix, with: "")) \($0.status)" }
        #expect(
            text == [
                "GET /a 200", "GET /a 206", "HEAD /a 200", "GET /a 304", "GET /a 416", "GET /a 206", "GET /nothing 404",
                "OPTIONS /a 204", "GET / 200", "GET /nonsense 400", "GET /-/status.json 200", "- - 400",
            ])
        #expect(Double(lines.count) == metrics.sum("reprise_responses_total"))
        #expect(lines[0].trace == Self.trace)
        #expect(lines[0].client == "127.0.0.1")
        #expect(lines[0].originBytes == 100_000)
        #expect(lines[1].range == "bytes=10-19")
        #expect(lines[1].userAgent == "\"x\"\\")
        #expect(lines[1].cacheStatus == "reprise; hit")
        #expect(lines[1].bytes == 10 && lines[1].storeBytes == 10)
        #expect(lines[2].bytes == 0 && lines[3].bytes == 0)
        #expect(lines[5].storeBytes == 6 && lines[5].bytes > 6)
        #expect(lines[6].cacheStatus?.hasPrefix("reprise; fwd=uri-miss; fwd-status=404") == true)
    }

    @Test("a look at the beginning, whether it is a playlist, is in no line") func looksAreNotLogged() async throws {
        let (lines, _, _) = try await Self.lines { proxy async throws in
            proxy.bench.publish("/a.bin", length: 50_000, type: "application/octet-stream")
            for range in ["bytes=20000-20009", "bytes=0-", "bytes=100-109"] {
                _ = try await proxy.get("/a.bin", ["Range: \(range)"])
                await proxy.becomeIdle()
                // Passes through each event loop.
                _ = try await proxy.server.metrics()
            }
        }
        #expect(lines.map(\.bytes) == [10, 50_000, 10])
        for line in lines { #expect(line.bytes == line.storeBytes + line.joinedBytes + line.originBytes) }
        #expect(lines.last?.cacheStatus == "reprise; hit")
    }

    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    @Test func aTokenIsInNoLine() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/access.log"
        let log = try AccessLog(path: path, format: .combined, logger: Logger(label: "test"))
        try await ProxyBench.run(configureProxy: {
            $0.accessLog = log
            $0.token = "sesame"
        }) { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            for target in [
                "/sesame\(proxy.target("/a"))", "/sesane\(proxy.target("/a"))", "/sesame/metrics", "/sesame/",
            ] {
                _ = try await RawClient.exchange(port: proxy.server.port, target)
            }
        }
        await log.close(within: .seconds(300))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == 3)
        #expect(!text.contains("sesa"))
    }

    @Test func aClientThatLeavesIsLoggedAsInNginx() async throws {
        let (lines, _, _) = try await Self.lines { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            proxy.bench.origin.holdHeads("/a")
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/a"))
            await eventually { proxy.server.answersUnderWay == 1 }
            client.disconnect()
            await eventually { proxy.server.answersUnderWay == 0 }
            proxy.bench.origin.release("/a")
        }
        #expect(lines.map(\.status) == [499])
        #expect(lines.map(\.bytes) == [0])
    }

    @Test func ofAHitThatIsBrokenOffOnlyWhatLeftIsLogged() async throws {
        let length: Int64 = 24 << 20
        let (lines, metrics, _) = try await Self.lines { proxy async throws in
            proxy.bench.publish("/film", length: length)
            #expect(try await proxy.get("/film").body.count == length)
            try await Self.leave(proxy, after: 4 << 20)
            await eventually { proxy.server.connections == 0 }
        }
        #expect(lines.count == 2)
        let line = try #require(lines.last)
        #expect(line.status == 200)
        #expect(line.bytes == line.storeBytes)
        #expect(line.bytes > 1 << 20 && line.bytes < length, "4 of 24 MiB were read, in regions of up to 4 MiB")
        #expect(metrics.sum("reprise_served_bytes_total", ["source": "store"]) == Double(line.storeBytes))
    }

    /// A client that reads `count` bytes of a film and closes its connection.
    private static func leave(_ proxy: ProxyBench, after count: Int) async throws {
        let client = try RawClient(port: proxy.server.port, receiveBufferSize: 16 << 10)
        try await client.get(proxy.target("/film"))
        #expect(try await client.head().status == 200)
        _ = try await client.body(count)
    }

    @Test("requests behind one another have a line each, with their own times") func pipelined() async throws {
        let (lines, metrics, _) = try await Self.lines { proxy async throws in
            proxy.bench.publish("/a", length: 40_000)
            _ = try await proxy.bench.bytes("/a")
            let client = try RawClient(port: proxy.server.port)
            let request = "GET \(proxy.target("/a")) HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-99\r\n\r\n"
            try await client.send(String(repeating: request, count: 50))
            for _ in 0..<50 {
                let head = try await client.head()
                #expect(head.status == 206)
                _ = try await client.body(100)
            }
        }
        #expect(lines.count == 50)
        #expect(lines.allSatisfy { $0.bytes == 100 && $0.storeBytes == 100 && $0.firstByteMilliseconds != nil })
        #expect(metrics.sum("reprise_first_byte_seconds_count", ["source": "store"]) == 50)
    }
}
