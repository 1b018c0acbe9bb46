import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// HEAD must not change a stored media type.
@Suite(.limit(minutes: 1)) struct HeadTests {
    private static let bytes = TestPattern.bytes(in: 0..<10_000, seed: 1)

    /// The stored media's type and usability after their origin answered HEAD with `fields`, a minute and a half later.
    private static func afterHead(_ fields: HTTPFields, isShared: Bool = true) async throws
        -> (mediaType: String?, isUsable: Bool)
    {
        let clock = ShiftableClock()
        let origin = ScriptedOrigin { request, _ in
            request.method == .head
                ? ScriptedOrigin.Answer(200, fields) : .media(request, bytes, [.cacheControl: "max-age=60"])
        }
        var result: (mediaType: String?, isUsable: Bool) = (nil, false)
        try await origin.run(configure: {
            $0.clock = clock.cacheClock
            $0.reuse.isShared = isShared
        }) { cache async throws in
            let film = try cache.resource(for: "http://origin/film.mp4")
            _ = try await film.read().drain()
            clock.shift(by: .seconds(90))
            _ = try await film.head()
            let stored = film.storedInMemory()
            result = (stored?.information.mediaType, stored?.isUsable() ?? false)
        }
        return result
    }

    @Test("HEAD without a validator, as of a log-in page, freshens nothing and changes no type (RFC 9111 §4.3.5)")
    func portal() async throws {
        let (type, isUsable) = try await Self.afterHead([.contentType: "text/html", .cacheControl: "max-age=600"])
        #expect(type == "video/mp4")
        #expect(!isUsable)
    }

    @Test("HEAD with the same validator freshens, but never the type") func sameValidator() async throws {
        let (type, isUsable) = try await Self.afterHead([
            .eTag: "\"v1\"", .contentType: "text/plain", .cacheControl: "max-age=600",
        ])
        #expect(type == "video/mp4")
        #expect(isUsable)
    }
}
