import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// The rate that downloads share, through the engine: time passes only where a test advances it.
@Suite(.limit(minutes: 2)) struct DownloadRateTests {
    private static let length: Int64 = 8 << 20
    private static let rate: Int64 = 100_000

    /// A bench whose downloads have a rate and a clock that stands still.
    private static func run(_ body: (Bench, ManualClock) async throws -> Void) async throws {
        let clock = ManualClock()
        try await Bench.run(sendBufferSize: 64 << 10) { configuration in
            configuration.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_750_000_000) }
            configuration.downloadRate = rate
            configuration.linger = .zero
        } _: { bench async throws in
            for name in ["/a", "/b"] { bench.publish(name, length: length) }
            try await body(bench, clock)
        }
    }

    private static func stored(_ name: String, _ bench: Bench) async throws -> Int64 {
        try await bench.cache.resource(for: bench.origin.url(name)).storedProgress().ranges.byteCount
    }

    @Test("downloads share one rate, and what they do not pull stays at the origin")
    func sharedBudget() async throws {
        try await Self.run { bench, clock in
            for name in ["/a", "/b"] {
                try await bench.cache.downloads.add(bench.cache.resource(for: bench.origin.url(name)))
            }
            var sum = 0 as Int64
            while sum < 4_000_000 {
                await eventually { bench.cache.engine.pace.waiting == 2 }
                sum = try await Self.stored("/a", bench) + Self.stored("/b", bench)
                let allowed = Double(Self.rate) * (clock.now.offset / .seconds(1)) + Double(2 << 20)
                #expect(Double(sum) <= allowed)
                clock.advance(by: .milliseconds(250))
            }
            // What lies in sockets on both sides is no more than before.
            let sent = bench.origin.snapshot.bodyBytesSent
            #expect(sent < 2 * Self.length, "\(sent)")
        }
    }

    @Test func playingIsNotSlowedAndLiftsTheRateOfWhatItJoins() async throws {
        try await Self.run { bench, clock in
            try await bench.cache.downloads.add(bench.cache.resource(for: bench.origin.url("/a")))
            await eventually { bench.cache.engine.pace.waiting == 1 }
            #expect(try await bench.bytes("/b") == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            #expect(try await Self.stored("/a", bench) < Self.length)
            #expect(try await bench.bytes("/a") == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            #expect(clock.now.offset == .zero)
        }
    }

    @Test func theRateIsChangedWhileItRuns() async throws {
        try await Self.run { bench, clock in
            let downloads = bench.cache.downloads
            #expect(downloads.rate == Self.rate)
            try await downloads.add(bench.cache.resource(for: bench.origin.url("/a")))
            await eventually { bench.cache.engine.pace.waiting == 1 }
            downloads.rate = nil
            await eventually {
                clock.advance(by: .seconds(1))
                return (try? await Self.stored("/a", bench)) == Self.length
            }
            #expect(downloads.rate == nil)
        }
    }

    @Test func aDownloadThatIsPausedWaitsForNoBytes() async throws {
        try await Self.run { bench, _ in
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.downloads.add(resource)
            await eventually { bench.cache.engine.pace.waiting == 1 }
            try await bench.cache.downloads.pause(resource.key)
            await eventually { bench.cache.engine.pace.waiting == 0 }
        }
    }

    @Test("bytes of a download that bypass the store keep to the rate, too")
    func bypassed() async throws {
        try await Self.run { bench, clock in
            bench.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: Self.length), mediaType: "video/mp4",
                    fields: [.cacheControl: "no-store"]), at: "/c")
            bench.cache.downloads.rate = 1000
            let read = try await bench.cache.resource(for: bench.origin.url("/c"))
                .read(demand: .download)
            let reading = Task { try await read.drain() }
            await eventually { bench.cache.engine.pace.waiting == 1 }
            #expect(read.isPastStore)
            bench.cache.downloads.rate = nil
            await eventually {
                clock.advance(by: .seconds(1))
                return bench.cache.engine.pace.waiting == 0
            }
            #expect(try await reading.value == Self.length)
        }
    }
}
