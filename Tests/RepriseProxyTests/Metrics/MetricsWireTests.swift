import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Metrics as monitors and attackers get them.
@Suite(.limit(minutes: 2)) struct MetricsWireTests {
    @Test("Prometheus's text and OpenMetrics, whichever is asked for", arguments: [false, true])
    func formats(isOpenMetrics: Bool) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            _ = try await proxy.get("/a")
            let name = "application/openmetrics-text;version=1.0.0"
            let answer = try await RawClient.exchange(
                port: proxy.server.port, "/metrics", isOpenMetrics ? ["Accept: \(name)"] : [])
            #expect(answer.head.status == 200)
            #expect(
                answer.head.fields["content-type"]
                    == (isOpenMetrics
                        ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                        : "text/plain; version=0.0.4; charset=utf-8"))
            #expect(answer.head.fields["cache-control"] == "no-store")
            #expect(answer.head.fields["vary"]?.contains("Accept") == true)
            let text = String(decoding: answer.body, as: UTF8.self)
            let metrics = try MetricsReader(text, isOpenMetrics: isOpenMetrics)
            #expect(metrics.sum("reprise_served_bytes_total") == 1000)
            #expect(metrics.families.count > 25)
            let again = try await RawClient.exchange(port: proxy.server.port, "/-/metrics", method: "HEAD")
            #expect(again.head.status == 200)
            #expect(again.body.isEmpty)
        }
    }

    @Test("the real promtool finds nothing wrong, and no advice to give") func promtool() async throws {
        guard let promtool = ChildProcess.path(of: "promtool") else {
            return print("skipped: promtool is not installed (Debian: prometheus)")
        }
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            for path in ["/a", "/a", "/nothing"] { _ = try await proxy.get(path) }
            await proxy.becomeIdle()
            let answer = try await RawClient.exchange(port: proxy.server.port, "/metrics")
            let file = try proxy.bench.directory.write(answer.body, to: "metrics.txt")
            let outcome = try await ChildProcess.run(
                "/bin/sh", ["-c", "exec \"$0\" check metrics < \"$1\"", promtool, file])
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
        }
    }

    @Test func theControlSocketHasThemToo() async throws {
        let folder = try TemporaryDirectory()
        defer { folder.remove() }
        let place = ControlPlace(folder: folder.path, name: "reprise.sock", isMade: true)
        try await ProxyBench.run(configureProxy: { $0.controlPlaces = [place] }) { proxy async throws in
            for target in ["/metrics", "/-/metrics", "/-/api/metrics"] {
                let client = try RawClient(path: try #require(proxy.server.controlPath))
                try await client.get(target)
                #expect(try await client.head().status == 200)
            }
        }
    }

    @Test func wrongRequestsAreRefused() async throws {
        try await ProxyBench.run { proxy async throws in
            for (method, target, status) in [
                ("POST", "/metrics", 405), ("GET", "/metrics?name[]=x", 400), ("GET", "/metrics/", 400),
                ("GET", "/metric", 400),
            ] {
                let answer = try await RawClient.exchange(port: proxy.server.port, target, method: method)
                #expect(answer.head.status == status, "\(method) \(target)")
            }
        }
    }

    // MARK: - Hosts

    private static func answer(to request: OriginRequest) -> CannedOrigin.Answer {
        CannedOrigin.Answer(status: 200, fields: [.contentType: "video/mp4", .contentLength: "10"], body: "0123456789")
    }

    @Test("a thousand hosts have twenty names; sums stay exact") func manyHosts() async throws {
        // However long it takes, the connection is not idle for too long.
        let clock = ShiftableClock().cacheClock
        try await CannedOrigin(Self.answer).serve(configure: { $0.clock = clock }) { server async throws in
            let client = try RawClient(port: server.port)
            for number in 0..<1000 {
                try await client.get("/http/h\(number).example/a")
                let head = try await client.head()
                #expect(head.status == 200)
                _ = try await client.body(try #require(head.length))
            }
            let metrics = try await server.metrics()
            for name in ["reprise_origin_host_bytes_total", "reprise_origin_host_first_byte_seconds_count"] {
                #expect(Set(metrics.samples(name).map { $0.labels["host"] }).count == 21)
            }
            for prefix in ["reprise_origin_", "reprise_origin_host_"] {
                #expect(metrics.sum(prefix + "bytes_total") == 10_000)
                #expect(metrics.sum(prefix + "requests_total") == 1000)
                #expect(metrics.sum(prefix + "first_byte_seconds_count") == 1000)
            }
            #expect(metrics.sum("reprise_origin_host_bytes_total", ["host": "other"]) >= 9800)
        }
    }

    @Test("hosts that are called as the others are, that clients make up, or that are no hosts") func hostileHosts()
        async throws
    {
        try await CannedOrigin(Self.answer).serve { server async throws in
            let long = String(repeating: "a", count: 255)
            for (host, status) in [
                ("other", 200), ("le", 200), ("_", 200), (long, 200), ("[::1]", 200), ("a%22%7D", 400), ("a\"}", 400),
                ("a\\", 400), ("a{b=", 400), (long + "a", 400), ("a@b", 400),
            ] {
                let answer = try await RawClient.exchange(port: server.port, "/http/\(host)/a")
                #expect(answer.head.status == status, "\(host)")
            }
            let metrics = try await server.metrics()
            #expect(metrics.sum("reprise_origin_host_bytes_total", ["host": "other"]) == 10)
            #expect(metrics.sum("reprise_origin_host_bytes_total", ["host": long]) == 10)
            #expect(metrics.sum("reprise_origin_host_bytes_total", ["host": "[::1]"]) == 10)
            #expect(metrics.sum("reprise_responses_total", ["method": "GET", "code": "4xx"]) == 6)
        }
    }

    @Test func hostsNeedNotBeNamed() async throws {
        try await CannedOrigin(Self.answer).serve(configure: { $0.namesHostsInMetrics = false }) {
            server async throws in
            for host in ["a.example", "b.example"] {
                _ = try await RawClient.exchange(port: server.port, "/http/\(host)/a")
            }
            let metrics = try await server.metrics()
            #expect(metrics.families.flatMap(\.samples).allSatisfy { $0.labels["host"] == nil })
            #expect(metrics.samples("reprise_origin_host_bytes_total").isEmpty)
            #expect(metrics.samples("reprise_origin_bytes_total").map(\.value) == [20])
            #expect(metrics.sum("reprise_origin_requests_total", ["outcome": "2xx"]) == 2)
        }
    }
}

extension ProxyServer {
    /// The metrics as Prometheus reads them.
    func metrics() async throws -> MetricsReader {
        let answer = try await RawClient.exchange(port: port, "/metrics")
        try #require(answer.head.status == 200)
        return try MetricsReader(String(decoding: answer.body, as: UTF8.self), isOpenMetrics: false)
    }
}
