import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Request fields that are not part of a cache key must not affect what others get: RFC 9111 §4.1.
@Suite(.limit(minutes: 1)) struct UnkeyedFieldTests {
    private static func run(isShared: Bool, _ body: (ProxyBench) async throws -> Void) async throws {
        try await ProxyBench.run(configure: { $0.reuse.isShared = isShared }, body)
    }

    private static func sent(_ proxy: ProxyBench, _ name: String) throws -> [String?] {
        let name = try #require(HTTPField.Name(name))
        return proxy.bench.origin.snapshot.requests.map { $0.fields[name] }
    }

    @Test(
        "fields that pretend to be another address, method or client never go to the origin",
        arguments: [
            "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For", "X-Forwarded-Anything", "Forwarded",
            "X-Original-URL",
            "X-Rewrite-URL", "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Host", "X-Real-IP",
            "Sec-Fetch-Mode",
        ], [true, false])
    func forwarding(name: String, isShared: Bool) async throws {
        try await Self.run(isShared: isShared) { proxy async throws in
            proxy.bench.publish("/a", length: 10) { $0.fields = [.cacheControl: "max-age=60"] }
            for method in ["GET", "HEAD", "POST"] {
                _ = try await proxy.get("/a", ["\(name): evil.example", "Content-Length: 0"], method: method)
            }
            #expect(try Self.sent(proxy, name).allSatisfy { $0 == nil })
            #expect(try await proxy.get("/a").head.fields["cache-status"] == "reprise; hit")
        }
    }

    @Test("a shared cache stores no response that an unkeyed field may have changed")
    func unkeyedFieldsAreNotStored() async throws {
        try await Self.run(isShared: true) { proxy async throws in
            proxy.bench.publish("/a", length: 10) { $0.fields = [.cacheControl: "max-age=60"] }
            for name in ["X-Backend-Choice", "Base-Url", "Proxy-Host"] {
                let head = try await proxy.get("/a", ["\(name): evil.example"]).head
                #expect(head.status == 200)
                #expect(head.fields["cache-status"]?.contains("stored") == false)
            }
            #expect(
                try Self.sent(proxy, "X-Backend-Choice").first == "evil.example", "its sender is served all the same")
            #expect(proxy.bench.cache.storedBytes == 0)
            _ = try await proxy.get("/a", ["User-Agent: x", "X-Request-ID: 1", "Accept-Language: de", "Test-ID: 2"])
            #expect(
                try await proxy.get("/a", ["X-Backend-Choice: evil.example"]).head.fields["cache-status"]
                    == "reprise; hit")
        }
    }

    @Test("a stored response is validated and completed without unkeyed fields") func validation() async throws {
        let clock = ShiftableClock()
        try await ProxyBench.run(
            configureProxy: { $0.clock = clock.cacheClock },
            configure: {
                $0.clock = clock.cacheClock
                $0.reuse.isShared = true
            }
        ) { proxy async throws in
            proxy.bench.publish("/a", length: 1000) { $0.fields = [.cacheControl: "max-age=60"] }
            _ = try await proxy.get("/a", ["Range: bytes=0-99"])
            let hole = try await proxy.get("/a", ["X-Backend-Choice: evil", "Range: bytes=500-599"])
            #expect(hole.head.status == 206)
            clock.shift(by: .seconds(61))
            _ = try await proxy.get("/a", ["X-Backend-Choice: evil", "Range: bytes=0-99"])
            #expect(try Self.sent(proxy, "X-Backend-Choice") == [nil, nil, nil])
            #expect(proxy.bench.cache.storedBytes == 200)
        }
    }

    @Test("a field that Vary names is a key, and is sent (RFC 9111 §4.1)") func keyed() async throws {
        try await Self.run(isShared: true) { proxy async throws in
            for (seed, room) in [(1, "red"), (2, "blue")] as [(UInt64, String)] {
                proxy.bench.publish("/a", length: 100, seed: seed, etag: "\"\(room)\"") {
                    $0.fields = [.vary: "X-Room", .cacheControl: "max-age=60"]
                }
                let miss = try await proxy.get("/a", ["X-Room: \(room)"])
                #expect(miss.body == TestPattern.bytes(in: 0..<100, seed: seed))
            }
            let red = try await proxy.get("/a", ["X-Room: red"])
            #expect(red.head.fields["cache-status"] == "reprise; hit")
            #expect(red.body == TestPattern.bytes(in: 0..<100, seed: 1))
            #expect(try Self.sent(proxy, "X-Room") == ["red", "blue"])
        }
    }

    @Test("a private cache sends and stores as the client asks") func privateCache() async throws {
        try await Self.run(isShared: false) { proxy async throws in
            proxy.bench.publish("/a", length: 10)
            _ = try await proxy.get("/a", ["X-Api-Key: 1"])
            #expect(try Self.sent(proxy, "X-Api-Key") == ["1"])
            #expect(try await proxy.get("/a", ["X-Api-Key: 1"]).head.fields["cache-status"] == "reprise; hit")
        }
    }
}
