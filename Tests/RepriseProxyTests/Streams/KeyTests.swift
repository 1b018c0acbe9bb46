import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Decryption keys: in memory, as long as their origins allow (case 62).
@Suite("Keys of streams", .limit(minutes: 1)) struct KeyTests {
    private static let list = StreamSite.list(
        ["1.ts"], ended: true, more: "#EXT-X-KEY:METHOD=AES-128,URI=\"/key?id=1\"\n")

    private static func run(
        isShared: Bool = false, length: Int = 16, control: String? = nil, _ body: (StreamSite) async throws -> Void
    ) async throws {
        try await StreamSite.run(isShared: isShared) { site async throws in
            site.publish(list, at: "/list.m3u8")
            publish(site, length: length, control: control)
            _ = try await site.get("/list.m3u8")
            try await body(site)
            #expect(
                try await !site.proxy.bench.cache.entries().contains { $0.url.target == "/key?id=1" }, "never on disk")
        }
    }

    private static func publish(_ site: StreamSite, length: Int, control: String? = nil) {
        site.publish(
            String(repeating: "k", count: length), at: "/key?id=1", type: "application/octet-stream", control: control)
    }

    @Test("a key is held in a play (case 62)", arguments: [16, 32]) func held(length: Int) async throws {
        try await Self.run(length: length) { site async throws in
            for _ in 0..<2 { #expect(try await site.get("/key?id=1").body.count == length) }
            let part = try await site.get("/key?id=1", ["Range: bytes=0-"])
            #expect(part.status == 206)
            #expect(part.head.fields["content-range"] == "bytes 0-\(length - 1)/\(length)")
            #expect(part.cache == "reprise; hit")
            #expect(site.requests("/key?id=1") == 1)
            site.clock.shift(by: .seconds(300))
            _ = try await site.get("/key?id=1")
            #expect(site.requests("/key?id=1") == 2, "the play is over")
        }
    }

    @Test("a key without a lifetime is held for an hour at most") func longPlay() async throws {
        try await Self.run { site async throws in
            for _ in 0..<18 {
                _ = try await site.get("/key?id=1")
                site.clock.shift(by: .seconds(200))
            }
            #expect(site.requests("/key?id=1") == 1)
            _ = try await site.get("/key?id=1")
            #expect(site.requests("/key?id=1") == 2)
        }
    }

    @Test(
        "a key is fresh as long as its origin says (case 62)",
        arguments: [("max-age=10", 1, 2), ("no-cache", 2, 3), ("no-store", 2, 3), ("max-age=0", 2, 3)])
    func lifetimes(control: String, atOnce: Int, later: Int) async throws {
        try await Self.run(control: control) { site async throws in
            for _ in 0..<2 { _ = try await site.get("/key?id=1") }
            #expect(site.requests("/key?id=1") == atOnce)
            site.clock.shift(by: .seconds(10))
            _ = try await site.get("/key?id=1")
            #expect(site.requests("/key?id=1") == later)
        }
    }

    @Test("what has another length is no key, and is handed on (case 62)", arguments: [0, 15, 17, 33, 4000])
    func otherLengths(length: Int) async throws {
        try await Self.run(length: length) { site async throws in
            for _ in 0..<2 { #expect(try await site.get("/key?id=1").body.count == length) }
            #expect(site.requests("/key?id=1") == 2)
        }
    }

    @Test("a refusal is handed on (case 62)") func refused() async throws {
        try await Self.run { site async throws in
            site.origin.set(
                TestOrigin.Resource(
                    .bytes([]),
                    personality: TestOrigin.Personality {
                        $0.status = 401
                        $0.statusBody = Array("0123456789abcdef".utf8)
                    }), at: "/key?id=1")
            for _ in 0..<2 {
                let reply = try await site.get("/key?id=1")
                #expect(reply.status == 401)
                #expect(reply.text == "0123456789abcdef")
            }
            #expect(site.requests("/key?id=1") == 2)
        }
    }

    @Test(
        "a shared cache gives a key only to the same request, and if it may (case 62, RFC 9111 §3.5)",
        arguments: [
            (nil, "", "", 2), ("max-age=60", "", "", 1), ("private, max-age=60", "", "", 2),
            ("max-age=60", "Authorization: a", "Authorization: a", 2),
            ("public, max-age=60", "Authorization: a", "Authorization: a", 1),
            ("public, max-age=60", "Authorization: a", "Authorization: b", 2),
            ("max-age=60", "Cookie: a", "Cookie: b", 2),
        ] as [(String?, String, String, Int)])
    func shared(control: String?, first: String, second: String, requests: Int) async throws {
        try await Self.run(isShared: true, control: control) { site async throws in
            for field in [first, second] { _ = try await site.get("/key?id=1", field.isEmpty ? [] : [field]) }
            #expect(site.requests("/key?id=1") == requests)
        }
    }

    @Test("a key that was stored before its list was read is no longer served from disk") func storedBefore()
        async throws
    {
        try await StreamSite.run { site async throws in
            site.publish(Self.list, at: "/list.m3u8")
            Self.publish(site, length: 16)
            _ = try await site.get("/key?id=1")
            _ = try await site.get("/list.m3u8")
            _ = try await site.get("/key?id=1")
            #expect(site.requests("/key?id=1") == 2)
        }
    }

    @Test func fewKeysAreHeld() throws {
        let keys = HeldKeys(isShared: false, clock: .system)
        for number in 0..<1000 {
            keys.hold(
                [UInt8](repeating: 1, count: 16), head: HTTPResponse(status: .ok),
                at: try ResourceURL("http://origin/\(number)"), fields: [:])
        }
        #expect(keys.count == 256)
        #expect(keys.key(at: try ResourceURL("http://origin/0"), fields: [:], directives: .init()) == nil)
        #expect(keys.key(at: try ResourceURL("http://origin/999"), fields: [:], directives: .init()) != nil)
    }
}
