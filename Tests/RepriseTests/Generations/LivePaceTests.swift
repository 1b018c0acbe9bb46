import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A body without a length that arrives at the rate of a live stream is treated as live.
@Suite("Pace of bodies without a length", .limit(minutes: 2)) struct LivePaceTests {
    /// 38.3 frames of MPEG audio play for a second, of 417 bytes each.
    private static func audio(seconds: Int) -> [UInt8] {
        let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x44] + [UInt8](repeating: 1, count: 413)
        return (0..<seconds * 1149 / 30).flatMap { _ in frame }
    }

    @Test(
        "a body that arrives at most twice as fast as real time is live",
        arguments: [
            (20, 20.0, true), (20, 30, true), (30, 20, true), (60, 20, false), (240, 48, false), (600, 400, true),
            (20, 1, false),
        ])
    func audio(seconds: Int, elapsed: Double, isLive: Bool) {
        let bytes = Self.audio(seconds: seconds)
        let beginning = Array(bytes.prefix(Int(LivePace.lookLength)))
        #expect(LivePace.isLive(beginning, length: Int64(bytes.count), after: .seconds(elapsed)) == isLive)
    }

    @Test("a body whose playing time is unknown is not live")
    func unknown() {
        let bytes = TestPattern.bytes(in: 0..<200_000, seed: 1)
        #expect(!LivePace.isLive(bytes, length: 200_000, after: .seconds(20)))
    }

    @Test(
        "a radio program that ended is requested again, and a transcode or a download is not",
        arguments: [(20.0, Demand.playing, 2), (2.5, .playing, 1), (20, .download, 1)])
    func nextRequest(elapsed: Double, demand: Demand, requests: Int) async throws {
        let clock = ShiftableClock()
        let bytes = Self.audio(seconds: 20)
        let origin = ScriptedOrigin { _, _ in
            .init(200, [.contentType: "audio/mpeg", .transferEncoding: "chunked"], body: bytes)
        }
        try await origin.run(configure: { $0.clock = clock.cacheClock }) { cache async throws in
            let resource = try cache.resource(for: "http://radio.test/live")
            let read = try await resource.read(demand: demand)
            var count = try await read.nextBytes()?.count ?? 0
            clock.shift(by: .seconds(elapsed))
            while let more = try await read.nextBytes() { count += more.count }
            #expect(count == bytes.count)
            #expect(try await resource.read().collect() == bytes)
            #expect(origin.requests.count == requests)
        }
    }
}
