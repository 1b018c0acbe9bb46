import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A response that must not be stored has no effect on others.
@Suite(.limit(minutes: 1)) struct UnstoredResponseTests {
    private static let length: Int64 = 300_000

    private static func isFile(_ bytes: [UInt8], seed: UInt64 = 1, from start: Int64 = 0) -> Bool {
        bytes == TestPattern.bytes(in: start..<start + Int64(bytes.count), seed: seed)
    }

    @Test("a request that must not be stored breaks off no reader of the same URL", arguments: [false, true])
    func otherReaders(isShared: Bool) async throws {
        try await Bench.run(configure: { $0.reuse.isShared = isShared }) { bench async throws in
            bench.publish("/a", length: Self.length, etag: nil, type: "text/plain")
            bench.origin.hold("/a", at: 100_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let first = try await resource.read()
            var bytes = try await first.nextBytes() ?? []
            let second = try await resource.read(directives: CacheControl("no-store"))
            bench.origin.release("/a")
            #expect(Self.isFile(try await second.collect()))
            bytes += try await first.collect()
            #expect(bytes.count == Int(Self.length))
            #expect(Self.isFile(bytes))
        }
    }

    @Test("fields of an answer to one user's credentials reach no other in a shared cache (RFC 9111 §3.5)")
    func privateFields() async throws {
        let who = try #require(HTTPField.Name("X-Who"))
        try await Bench.run(configure: { $0.reuse.isShared = true }) { bench async throws in
            bench.publish("/a", length: Self.length) { $0.fields = [.cacheControl: "max-age=60"] }
            _ = try await bench.bytes("/a")
            bench.publish("/a", length: Self.length) { $0.fields = [.cacheControl: "private", who: "alice"] }
            let url = bench.origin.url("/a")
            let alice = try bench.cache.resource(for: url, fields: [.authorization: "Bearer alice"])
            let bytes = try await alice.read(directives: CacheControl("no-cache")).collect()
            #expect(Self.isFile(bytes))
            _ = try await alice.head()
            let read = try await bench.cache.resource(for: url).read()
            #expect(read.information.fields[who] == nil)
            #expect(read.information.fields[.cacheControl] == "max-age=60")
        }
    }

    @Test("a file that may no longer be stored can be read again at once", arguments: [false, true])
    func replacedByUnstored(isShared: Bool) async throws {
        try await Bench.run(configure: { $0.reuse.isShared = isShared }) { bench async throws in
            bench.publish("/a", length: Self.length) { $0.fields = [.cacheControl: "max-age=60"] }
            _ = try await bench.bytes("/a", .bounded(0..<1000))
            bench.publish("/a", length: Self.length, seed: 2, etag: "\"v2\"") {
                $0.fields = [.cacheControl: "no-store"]
            }
            let error = await #expect(throws: RepriseError.self) { _ = try await bench.bytes("/a") }
            #expect(error?.code == .validatorChanged)
            await bench.cache.becomeIdle()
            let whole = try await bench.bytes("/a")
            #expect(whole.count == Int(Self.length))
            #expect(Self.isFile(whole, seed: 2))
            #expect(Self.isFile(try await bench.bytes("/a", .bounded(2000..<3000)), seed: 2, from: 2000))
        }
    }
}
