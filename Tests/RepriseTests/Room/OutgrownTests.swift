import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A response of unknown length that finds no more room on the way, from an origin that nothing can continue: no
/// validator, no ranges.
@Suite(.limit(minutes: 1)) struct OutgrownTests {
    private static let bytes = TestPattern.bytes(in: 0..<3_000_000, seed: 1)

    private static func run(
        isSealed: Bool, _ body: (MediaCache, MediaResource, ScriptedOrigin) async throws -> Void
    ) async throws {
        let origin = ScriptedOrigin { _, _ in .init(200, [.contentType: "video/mp4"], body: bytes) }
        try await origin.run { configuration in
            configuration.limit = 1_000_000
            if isSealed {
                configuration.encryption = KeyFile.key(hexadecimal: String(repeating: "7f", count: 32)).map {
                    CacheEncryption(key: $0)
                }
            }
        } _: { cache async throws in
            try await body(cache, cache.resource(for: "http://media.example/film.mp4"), origin)
        }
    }

    @Test("its reader gets the rest of that response, and the origin is asked once", arguments: [false, true])
    func oneReader(isSealed: Bool) async throws {
        try await Self.run(isSealed: isSealed) { cache, resource, origin async throws in
            let read = try await resource.read()
            var received: [UInt8] = []
            while let bytes = try await read.nextBytes() { received += bytes }
            let isRight = received == Self.bytes
            #expect(isRight)
            #expect(origin.requests.count == 1)
            #expect(cache.statistics.bytesFetched == Int64(Self.bytes.count))
            #expect(cache.storedBytes <= 1_000_000)
        }
    }

    @Test("a reader that leaves takes the rest along", arguments: [false, true])
    func reader(isSealed: Bool) async throws {
        try await Self.run(isSealed: isSealed) { cache, resource, origin async throws in
            let read = try await resource.read(.bounded(0..<2_000_000))
            for _ in 0..<3 { _ = try await read.nextBytes() }
            read.cancel()
            while !cache.isIdle { await Task.yield() }
            var received: [UInt8] = []
            let again = try await resource.read()
            while let bytes = try await again.nextBytes() { received += bytes }
            let isRight = received == Self.bytes
            #expect(isRight)
        }
    }
}
