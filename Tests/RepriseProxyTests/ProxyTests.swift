import HTTPTypes
import Reprise
import RepriseHTTPClient
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The proxy on real sockets, as a client sees it.
@Suite(.limit(minutes: 2)) struct ProxyTests {
    private static func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

    @Test func aMissStreamsAndAHitNeedsNoOrigin() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a.mp4", length: 300_000)
            let miss = try await proxy.get("/a.mp4")
            #expect(miss.head.status == 200)
            #expect(miss.body == Self.pattern(0..<300_000))
            #expect(miss.head.fields["cache-status"] == "reprise; fwd=uri-miss; fwd-status=200; stored")
            #expect(miss.head.fields["content-type"] == "video/mp4")
            #expect(miss.head.fields["accept-ranges"] == "bytes")
            let hit = try await proxy.get("/a.mp4", ["Range: bytes=100-199"])
            #expect(hit.head.status == 206)
            #expect(hit.head.fields["content-range"] == "bytes 100-199/300000")
            #expect(hit.head.fields["cache-status"] == "reprise; hit")
            #expect(hit.head.fields["age"] != nil)
            #expect(hit.body == Self.pattern(100..<200))
            #expect(proxy.bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test(
        "ranges of every form (RFC 9110 §14.1.2)",
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=500-", 500..<1000), ("bytes=-10", 990..<1000), ("bytes=990-5000", 990..<1000),
            ("bytes=-5000", 0..<1000), ("BYTES=1-2", 1..<3),
        ] as [(String, Range<Int64>)])
    func rangeForms(field: String, expected: Range<Int64>) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            for _ in 0..<2 {
                let answer = try await proxy.get("/a", ["Range: \(field)"])
                #expect(answer.head.status == 206)
                #expect(
                    answer.head.fields["content-range"]
                        == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/1000")
                #expect(answer.body == Self.pattern(expected))
            }
        }
    }

    @Test(
        "conditions of HEAD apply to unstored responses (RFC 9110 §13.1)",
        arguments: [
            ("If-Match: \"x\"", 412), ("If-Match: \"v1\"", 200), ("If-None-Match: \"v1\"", 304),
            ("If-None-Match: \"x\"", 200),
        ])
    func conditionsOfHead(condition: String, status: Int) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            #expect(try await proxy.get("/a", [condition], method: "HEAD").head.status == status)
        }
    }

    @Test("an unsatisfiable range is 416 with the length, cold and warm (RFC 9110 §15.5.17)")
    func unsatisfiable() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            for _ in 0..<2 {
                let answer = try await proxy.get("/a", ["Range: bytes=1000-"])
                #expect(answer.head.status == 416)
                #expect(answer.head.fields["content-range"] == "bytes */1000")
                _ = try await proxy.get("/a")
            }
        }
    }

    @Test("an invalid Range is ignored (RFC 9110 §14.2)", arguments: ["bytes=5-2", "lines=1-2", "bytes=x"])
    func invalidRange(field: String) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            let answer = try await proxy.get("/a", ["Range: \(field)"])
            #expect(answer.head.status == 200)
            #expect(answer.body.count == 1000)
        }
    }

    @Test func bothFormsOfTheAddressAndTheQueryWork() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a b", length: 10)
            proxy.bench.publish("/a", length: 1000)
            let origin = "127.0.0.1:\(proxy.bench.origin.port)"
            for target in [
                "/http/\(origin)/a?x=1&y=%2F", "/http://\(origin)/a?x=1&y=%2F", "/HTTP:/\(origin)/a?x=1&y=%2F",
            ] {
                let answer = try await RawClient.exchange(port: proxy.server.port, target)
                #expect(answer.head.status == 200, "\(target)")
            }
            #expect(proxy.bench.origin.snapshot.requests.map(\.target) == ["/a?x=1&y=%2F"])
        }
    }

    @Test(
        "invalid addresses are 400 with a hint",
        arguments: [
            "/ftp/example.com/a", "/example.com/a", "/http/", "/http/exa mple/a", "/https/user:pw@host/a",
            "/http/host:99999/a",
            "/http/host:x/a", "/http/%2Fetc/passwd", "/http/[::1/a", "/http/host/../../etc/passwd",
            "/http/host/%2e%2e/a", "/http/host/./a", "/http/host/a%2f..%2Fb", "/http/host/a/.%2e", "/http/host/a%2F.",
        ])
    func badAddresses(target: String) async throws {
        try await ProxyBench.run { proxy async throws in
            let answer = try await RawClient.exchange(port: proxy.server.port, target)
            #expect(answer.head.status == 400)
            #expect(String(decoding: answer.body, as: UTF8.self).count > 20)
        }
    }

    @Test("a file that was truncated is fetched again", arguments: [300_000, 20_000])
    func aFileCutShort(length: Int64) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: length)
            _ = try await proxy.get("/a")
            #expect(try await proxy.get("/a").head.fields["cache-status"] == "reprise; hit")
            for file in DiskUse.mediaFiles(of: proxy.bench.directory.path) { #expect(truncate(file, 1000) == 0) }
            let answer = try await proxy.get("/a")
            #expect(answer.head.status == 200)
            #expect(answer.body == Self.pattern(0..<length))
            #expect(try await proxy.get("/a").head.fields["cache-status"] == "reprise; hit")
            #expect(proxy.bench.cache.storedBytes == length)
        }
    }

    @Test("an origin that is too slow is 504, and asked once (RFC 9110 §15.6.5)")
    func anOriginThatIsTooSlow() async throws {
        var configuration = NIOOrigin.Configuration()
        // Long enough for the other answers, even on a busy machine.
        configuration.responseTimeout = .seconds(5)
        try await ProxyBench.run(client: NIOOrigin(configuration: configuration)) { proxy async throws in
            proxy.bench.publish("/a", length: 300_000)
            #expect(try await proxy.get("/a", ["Range: bytes=0-99999"]).head.status == 206)
            proxy.bench.origin.holdHeads("/a")
            proxy.bench.publish("/b", length: 10)
            proxy.bench.origin.holdHeads("/b")
            let slow = try await proxy.get("/b")
            #expect(slow.head.status == 504)
            #expect(String(decoding: slow.body, as: UTF8.self).contains("within"))
            #expect(try await proxy.get("/a", ["Range: bytes=200000-200099"]).head.status == 504)
            #expect(proxy.bench.origin.snapshot.requestCount == 3)
            #expect(try await proxy.get("/a", ["Range: bytes=0-99"]).body.count == 100, "stored bytes are served")
        }
    }

    @Test func aServerWithoutTLSBehindAnHTTPSAddressIs502WithTheReason() async throws {
        try await ProxyBench.run { proxy async throws in
            let answer = try await RawClient.exchange(
                port: proxy.server.port, "/https/127.0.0.1:\(proxy.bench.origin.port)/a")
            #expect(answer.head.status == 502)
            #expect(String(decoding: answer.body, as: UTF8.self).contains("TLS"))
        }
    }

    @Test func anOriginThatIsNotThereIs502() async throws {
        try await ProxyBench.run { proxy async throws in
            let gone = try await RawClient.exchange(port: proxy.server.port, "/http/127.0.0.1:1/a")
            #expect(gone.head.status == 502)
            #expect(String(decoding: gone.body, as: UTF8.self).contains("127.0.0.1:1"))
            let unknown = try await RawClient.exchange(port: proxy.server.port, "/http/no-such-host.invalid/a")
            #expect(unknown.head.status == 502)
        }
    }

    @Test func errorsOfTheOriginPassThroughWithTheirFieldsAndAreNotStored() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/gone", length: 10) {
                $0.status = 410
                $0.statusBody = Array("moved out".utf8)
            }
            let answer = try await proxy.get("/gone")
            #expect(answer.head.status == 410)
            #expect(answer.body == Array("moved out".utf8))
            #expect(answer.head.fields["cache-status"]?.contains("fwd-status=410") == true)
            #expect(proxy.bench.cache.storedBytes == 0)
        }
    }

    @Test func unknownFieldsPassBothWaysAndHopByHopOnesStay() async throws {
        try await ProxyBench.run { proxy async throws in
            let name = try #require(HTTPField.Name("X-Whatever"))
            let fields: HTTPFields = [name: "42", .connection: "keep-alive"]
            proxy.bench.origin.set(TestOrigin.Resource(.pattern(seed: 1, length: 10), fields: fields), at: "/a")
            let answer = try await proxy.get(
                "/a", ["X-Asked: yes", "TE: trailers", "Icy-MetaData: 1", "Authorization: Bearer x"])
            #expect(answer.head.fields["x-whatever"] == "42")
            let asked = try #require(proxy.bench.origin.snapshot.requests.first)
            #expect(asked.fields[try #require(HTTPField.Name("X-Asked"))] == "yes")
            #expect(asked.fields[.authorization] == "Bearer x")
            #expect(asked.fields[try #require(HTTPField.Name("TE"))] == nil)
            #expect(asked.fields[try #require(HTTPField.Name("Icy-MetaData"))] == nil)
        }
    }

    @Test func headAnswersFromTheStoreOrAsksTheOrigin() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            let cold = try await proxy.get("/a", method: "HEAD")
            #expect(cold.head.status == 200)
            #expect(cold.head.length == 1000)
            _ = try await proxy.get("/a")
            let warm = try await proxy.get("/a", method: "HEAD")
            #expect(warm.head.length == 1000)
            #expect(warm.head.fields["cache-status"] == "reprise; hit")
            #expect(proxy.bench.origin.snapshot.requests.map(\.method) == ["HEAD", "GET"])
        }
    }

    @Test func oneConnectionTakesManyRequestsAlsoPipelined() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            let client = try RawClient(port: proxy.server.port)
            let request = { (range: String) in
                "GET \(proxy.target("/a")) HTTP/1.1\r\nHost: localhost\r\nRange: bytes=\(range)\r\n\r\n"
            }
            try await client.send(request("0-9") + request("10-19") + request("20-29"))
            for start in [0, 10, 20] as [Int64] {
                #expect(try await client.head().status == 206)
                #expect(try await client.body(10) == Self.pattern(start..<start + 10))
            }
        }
    }

    @Test("If-Range, If-None-Match and If-Match decide (RFC 9110 §13.2.2)")
    func conditions() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000, etag: "\"v1\"")
            for _ in 0..<2 {
                #expect(try await proxy.get("/a", ["Range: bytes=0-9", "If-Range: \"v1\""]).head.status == 206)
                #expect(try await proxy.get("/a", ["Range: bytes=0-9", "If-Range: \"v0\""]).head.status == 200)
                #expect(try await proxy.get("/a", ["If-None-Match: \"v1\""]).head.status == 304)
                #expect(try await proxy.get("/a", ["If-Match: \"v0\""]).head.status == 412)
            }
        }
    }

    @Test func aWeakTagBecomesAStrongAndStableOne() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 1000, etag: "W/\"v1\"")
            let first = try await proxy.get("/a").head.fields["etag"]
            #expect(first?.hasPrefix("\"") == true)
            #expect(try await proxy.get("/a", ["If-Match: \(first ?? "")"]).head.status == 200)
        }
    }

    @Test func anUnknownLengthIsChunkedAndNeverAsStarTotal() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/live", length: 5000) {
                $0.framing = .chunked
                $0.ignoresRange = true
            }
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/live"), ["Range: bytes=0-", "Connection: close"])
            let head = try await client.head()
            #expect(head.status == 200)
            #expect(head.fields["transfer-encoding"] == "chunked")
            #expect(head.fields["content-range"] == nil)
            #expect(String(decoding: try await client.upTo(1 << 20).suffix(5), as: UTF8.self) == "0\r\n\r\n")
            #expect(try await proxy.get("/live", ["Range: bytes=10-19"]).body == Self.pattern(10..<20))
        }
    }

    @Test func aBodyThatCannotBeWholeBreaksTheConnection() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: 500_000, etag: nil) { $0.truncateAfter = 100_000 }
            let answer = try await proxy.get("/a")
            #expect(answer.head.length == 500_000)
            #expect(answer.body.count < 500_000)
            #expect(answer.body == Self.pattern(0..<Int64(answer.body.count)))
        }
    }

    @Test func aClientThatVanishesLeavesNothingBehindButItsBytes() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/film", length: 64 << 20)
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/film"))
            _ = try await client.head()
            _ = try await client.body(100_000)
            client.disconnect()
            await proxy.bench.origin.waitUntil { $0.openConnections == 0 }
            #expect(proxy.bench.cache.storedBytes >= 100_000)
            let sent = proxy.bench.origin.snapshot["/film"].bodyBytesSent
            let again = try await proxy.get("/film", ["Range: bytes=0-99999"])
            #expect(again.body == Self.pattern(0..<100_000))
            #expect(proxy.bench.origin.snapshot["/film"].bodyBytesSent == sent)
        }
    }

    @Test func methodsThatAreNotServedAreRefusedClearly() async throws {
        try await ProxyBench.run { proxy async throws in
            for method in ["CONNECT", "TRACE"] {
                let refused = try await proxy.get("/a", method: method)
                #expect(refused.head.status == 405)
                #expect(refused.head.fields["allow"] == "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE")
            }
            #expect(try await proxy.get("/a", ["Content-Length: 5"]).head.status == 413)
            #expect(try await proxy.get("/a", ["Content-Length: 2000000"], method: "POST").head.status == 413)
            #expect(try await proxy.get("/a", ["Content-Length: 5, 5"], method: "POST").head.status == 400)
            #expect(try await proxy.get("/a", ["Transfer-Encoding: gzip"], method: "POST").head.status == 501)
            #expect(try await proxy.get("/a", method: "OPTIONS").head.status == 204)
            let crossSite = try await proxy.get("/a", ["Origin: https://evil.example"], method: "DELETE")
            #expect(crossSite.head.status == 403)
            #expect(proxy.bench.origin.snapshot.requestCount == 0)
        }
    }

    @Test func aPageElsewhereCannotUseTheProxyThroughAnotherName() async throws {
        try await ProxyBench.run { proxy async throws in
            let client = try RawClient(port: proxy.server.port)
            try await client.send("GET \(proxy.target("/a")) HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            #expect(try await client.head().status == 403)
        }
    }

    @Test(
        "a Host that is no host is refused, also with a token",
        arguments: ["localhost\"><x", "a/b", "a b", "a@b", "\u{e9}"])
    func noHost(host: String) async throws {
        for token in [nil, "secret"] {
            try await ProxyBench.run(configureProxy: { $0.token = token }) { proxy async throws in
                let answer = try await proxy.server.raw(["GET / HTTP/1.1", "Host: \(host)", "Connection: close"])
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            }
        }
    }

    @Test func tokensAndListsOfHostsAreKept() async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "s3cret" }) { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            #expect(try await proxy.get("/a").head.status == 401)
            let answer = try await RawClient.exchange(port: proxy.server.port, "/s3cret" + proxy.target("/a"))
            #expect(answer.head.status == 200)
        }
        try await ProxyBench.run(configureProxy: { $0.allowedHosts = ["media.example"] }) { proxy async throws in
            #expect(try await proxy.get("/a").head.status == 403)
        }
    }

    @Test(
        "an address to listen at is an address or a name",
        arguments: [
            ("127.0.0.1", true), ("0.0.0.0", true), ("::", true), ("::1", true), ("fe80::1%eth0", true),
            ("localhost", true), ("nas.lan", true), ("", false), ("evil name", false), ("http://nas.lan", false),
            ("nas.lan:80", false), ("[::1]", false), (".lan", false), ("1.2.3", false), ("256.0.0.1", false),
            ("fe80::1%", false), ("fe80::1%a b", false), ("127.0.0.1%lo", false), ("*", false),
        ])
    func listeningAddresses(text: String, isOne: Bool) { #expect(ProxyConfiguration.isHost(text) == isOne) }

    @Test func listeningForOthersNeedsATokenOrAList() async throws {
        let cache = MediaCache.withoutStore(origin: NoOrigin())
        var configuration = ProxyConfiguration()
        configuration.host = "0.0.0.0"
        let error = await #expect(throws: RepriseError.self) {
            try await ProxyServer.start(cache, configuration: configuration)
        }
        #expect(error?.code == .invalidArgument)
        for host in ["", ".", "http://foo", "*.example.com", "127.0.0.1:80", "[::1]", "ä.example", "..", "1.2.3"] {
            configuration.allowedHosts = [host]
            let error = await #expect(throws: RepriseError.self, "\(host)") {
                try await ProxyServer.start(cache, configuration: configuration)
            }
            #expect(error?.code == .invalidArgument, "\(host)")
        }
        configuration.allowedHosts = []
        configuration.token = "t"
        let server = try await ProxyServer.start(cache, configuration: configuration)
        await server.stop()
    }

    @Test func aPortThatIsTakenIsSaid() async throws {
        try await ProxyBench.run { proxy async throws in
            var configuration = ProxyConfiguration()
            configuration.port = proxy.server.port
            let error = await #expect(throws: RepriseError.self) {
                try await ProxyServer.start(proxy.bench.cache, configuration: configuration)
            }
            #expect(error?.message.contains("\(proxy.server.port)") == true)
        }
    }

    private struct NoOrigin: Origin {
        func send(_ request: OriginRequest) async throws -> OriginResponse {
            throw RepriseError(.originUnreachable, "There is no origin.")
        }
    }
}
