import Foundation
import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// How often a failing origin is retried.
@Suite(.limit(minutes: 1)) struct RetryTests {
    private static let bytes = TestPattern.bytes(in: 0..<1_000_000, seed: 1)

    @Test(
        "an origin that always breaks off at the same offset is retried `attempts` times", arguments: [true, false])
    func noProgress(hasRanges: Bool) async throws {
        let origin = ScriptedOrigin { request, number in
            // It recovers in the end, so that a failing test ends as well.
            let isBroken = number <= 40
            if hasRanges {
                var answer = ScriptedOrigin.Answer.media(request, Self.bytes)
                let start = request.fields[.range] == nil ? 0 : 400_000
                answer.breaksAfter = isBroken ? 400_000 - start : nil
                return answer
            }
            return ScriptedOrigin.Answer(
                200, [.contentType: "video/mp4", .eTag: "\"v1\""], body: Self.bytes,
                breaksAfter: isBroken ? 400_000 : nil)
        }
        try await origin.run { cache async throws in
            let read = try await cache.resource(for: "http://origin/film.mp4").read()
            var count: Int64 = 0
            await #expect {
                while let piece = try await read.next() { count += Int64(piece.count) }
            } throws: {
                ($0 as? RepriseError)?.code == .originBodyTruncated
            }
            #expect(count == 400_000)
            // One more if the first error came before its reader had taken the bytes that had arrived.
            let attempts = RetryPolicy().attempts
            #expect((1 + attempts...2 + attempts).contains(origin.requests.count))
        }
    }

    @Test("a body that gets a little further each time is complete in the end") func progress() async throws {
        let origin = ScriptedOrigin { request, number in
            ScriptedOrigin.Answer(
                200, [.contentType: "video/mp4", .eTag: "\"v1\""], body: Self.bytes,
                breaksAfter: number < 12 ? number * 80_000 : nil)
        }
        try await origin.run { cache async throws in
            #expect(try await cache.resource(for: "http://origin/film.mp4").read().collect() == Self.bytes)
            #expect(origin.requests.count == 12)
        }
    }

    // MARK: - Failing origins

    @Test("a failing origin is not asked for at most a second, longer with each failure") func backOff() throws {
        let url = try ResourceURL("http://origin/film.mp4")
        let pauses = (1...6).map { Backoff.pause(after: 503, failures: $0, of: url, policy: ReusePolicy()) }
        #expect(pauses == [250, 500, 1000, 1000, 1000, 1000].map { .milliseconds($0) })
        var shared = ReusePolicy()
        shared.isShared = true
        #expect(Backoff.pause(after: 503, failures: 1, of: url, policy: shared) == nil)
    }

    /// An origin that fails until the clock has reached a time; it counts its requests.
    private static func run(isHole: Bool, _ body: (MediaCache, ScriptedOrigin, ShiftableClock) async throws -> Void)
        async throws
    {
        let clock = ShiftableClock()
        let start = clock.wallClock
        let origin = ScriptedOrigin { request, number in
            let fails = clock.wallClock < start + 10 && !(isHole && number == 1)
            return fails ? ScriptedOrigin.Answer(503) : .media(request, Self.bytes)
        }
        try await origin.run(configure: {
            $0.clock = clock.cacheClock
            $0.retry.refusals = 0
        }) { cache async throws in
            if isHole {
                _ = try await cache.resource(for: "http://origin/film.mp4").read(.bounded(0..<1000)).drain()
                await cache.becomeIdle()
            }
            try await body(cache, origin, clock)
        }
    }

    @Test("a failing origin is asked rarely, and again a second after it has recovered", arguments: [false, true])
    func recovery(isHole: Bool) async throws {
        try await Self.run(isHole: isHole) { cache, origin, clock in
            let film = try cache.resource(for: "http://origin/film.mp4")
            let before = origin.requests.count
            for _ in 0..<100 {
                await #expect(throws: RepriseError.self) { try await film.read(.from(5000)).collect() }
                clock.shift(by: .milliseconds(99))
            }
            // 250 ms, 500 ms, then a second each: each pause ends with the first read after it.
            #expect((9...13).contains(origin.requests.count - before))
            clock.shift(by: .milliseconds(1100))
            #expect(try await film.read(.from(5000)).collect() == Array(Self.bytes[5000...]))
        }
    }
}
