import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A play keeps the file that its first redirect led to, until that fails or the play ends.
@Suite(.limit(minutes: 2)) struct RedirectedPlayTests {
    private static let path = "/episode.mp3"
    private static let length: Int64 = 200_000
    private static let beginning: RangeSpec = .bounded(0..<1_000)
    private static let middle: RangeSpec = .bounded(100_000..<101_000)

    private static func run(
        suffix: (ShiftableClock) -> String = { _ in "" },
        _ body: (Bench, TestOrigin.SplicedEpisode, ShiftableClock) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        var episode = TestOrigin.SplicedEpisode(.redirects, seed: 11, length: length)
        episode.suffix = suffix(clock)
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.origin.splice(episode, at: path)
            try await body(bench, episode, clock)
        }
    }

    private static func pattern(_ range: Range<Int64>, rendition: UInt64) -> [UInt8] {
        TestPattern.bytes(in: range, seed: 10 + rendition)
    }

    private static func requests(_ bench: Bench, _ path: String) -> Int { bench.origin.snapshot[path].requestCount }

    @Test func aHoleIsAskedWhereTheFirstRequestWasLed() async throws {
        try await Self.run { bench, episode, _ async throws in
            #expect(try await bench.bytes(Self.path, Self.beginning) == Self.pattern(0..<1_000, rendition: 1))
            #expect(
                try await bench.bytes(Self.path, Self.middle) == Self.pattern(100_000..<101_000, rendition: 1))
            #expect(Self.requests(bench, Self.path) == 1)
            #expect(Self.requests(bench, episode.target(of: 1, at: Self.path)) == 2)
        }
    }

    @Test(arguments: [403, 404, 410])
    func aTargetThatRefusesLeadsBackOnce(status: Int) async throws {
        try await Self.run { bench, episode, _ async throws in
            _ = try await bench.bytes(Self.path, Self.beginning)
            let target = episode.target(of: 1, at: Self.path)
            var gone = episode.resource(of: 1)
            gone.personality = .failing(with: status)
            bench.origin.set(gone, at: target)
            await #expect(throws: RepriseError.self) { try await bench.bytes(Self.path, Self.middle) }
            #expect(Self.requests(bench, target) == 2)
            #expect(Self.requests(bench, Self.path) == 2, "the first URL, once")
            let bytes = try await bench.bytes(Self.path, Self.middle)
            #expect((2...3).contains { bytes == Self.pattern(100_000..<101_000, rendition: $0) })
        }
    }

    @Test func aTargetIsNotAskedAfterItsEnd() async throws {
        let end = { (clock: ShiftableClock) in "&Expires=\(Int(clock.wallClock.timeIntervalSince1970) + 60)" }
        try await Self.run(suffix: end) { bench, episode, clock async throws in
            _ = try await bench.bytes(Self.path, Self.beginning)
            let target = episode.target(of: 1, at: Self.path)
            clock.shift(by: .seconds(59))
            _ = try await bench.bytes(Self.path, Self.middle)
            #expect(Self.requests(bench, target) == 2)
            clock.shift(by: .seconds(1))
            _ = try? await bench.bytes(Self.path, .bounded(50_000..<51_000))
            #expect(Self.requests(bench, target) == 2)
            #expect(Self.requests(bench, Self.path) > 1)
        }
    }

    @Test func aNewPlayAsksTheFirstURL() async throws {
        try await Self.run { bench, episode, clock async throws in
            _ = try await bench.bytes(Self.path, Self.beginning)
            clock.shift(by: ReusePolicy().playWindow + .seconds(1))
            _ = try? await bench.bytes(Self.path, Self.middle)
            #expect(Self.requests(bench, episode.target(of: 1, at: Self.path)) == 1)
            #expect(Self.requests(bench, Self.path) > 1)
        }
    }

    @Test func credentialsStayWithTheFirstHost() async throws {
        try await Self.run { bench, _, _ async throws in
            let other = try await TestOrigin.start()
            other.set(TestOrigin.Resource(.pattern(seed: 11, length: Self.length)), at: "/rendition")
            bench.origin.set(
                TestOrigin.Resource(.bytes([]), personality: .init { $0.redirect = other.url("/rendition") }),
                at: Self.path)
            let resource = try bench.cache.resource(
                for: bench.origin.url(Self.path), fields: [.authorization: "secret"])
            _ = try await resource.read(Self.beginning).collect()
            let bytes = try await resource.read(Self.middle).collect()
            let requests = other.snapshot.requests
            await other.stop()
            #expect(bytes == Self.pattern(100_000..<101_000, rendition: 1))
            #expect(requests.count == 2)
            #expect(requests.allSatisfy { $0.fields[.authorization] == nil })
            #expect(Self.requests(bench, Self.path) == 1)
        }
    }
}
