import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Names of segments that come again for other bytes.
@Suite("Segments whose names come again (rfc8216bis §6.2.2)", .limit(minutes: 2)) struct RestartedStreamTests {
    private typealias Site = StreamSite

    private static func bytes(_ seed: Int) -> [UInt8] { TestPattern.bytes(in: 0..<1000, seed: UInt64(seed)) }

    @Test("a ring of names is told apart by its numbers", arguments: [nil, "no-cache", "max-age=600"])
    func ring(control: String?) async throws {
        try await Site.run { site async throws in
            for first in stride(from: 0, to: 12, by: 2) {
                let numbers = first..<first + 3
                site.publish(
                    Site.list(numbers.map { "\($0 % 4).ts" }, sequence: first), at: "/live.m3u8", etag: "\"\(first)\"",
                    control: "no-cache")
                for number in numbers {
                    site.publishSegment("/\(number % 4).ts", seed: UInt64(number), control: control)
                }
                _ = try await site.get("/live.m3u8")
                for number in numbers {
                    #expect(try await site.get("/\(number % 4).ts").body == Self.bytes(number), "\(number)")
                }
            }
        }
    }

    @Test("so it is after the window has passed over a name, and for another proxy") func reopened() async throws {
        try await Site.run { site async throws in
            func publish(_ number: Int) {
                site.publish(
                    Site.list(["\(number % 4).ts"], sequence: number), at: "/live.m3u8", etag: "\"\(number)\"",
                    control: "no-cache")
                site.publishSegment("/\(number % 4).ts", seed: UInt64(number), control: "max-age=600")
            }
            publish(1)
            _ = try await site.get("/live.m3u8")
            _ = try await site.get("/1.ts")
            for number in 2...5 {
                publish(number)
                _ = try await site.get("/live.m3u8")
            }
            try await site.proxy.again({ $0.clock = site.clock.cacheClock }) { other async throws in
                _ = try await other.get("/live.m3u8")
                #expect(try await other.get("/1.ts").body == Self.bytes(5))
            }
        }
    }

    @Test(
        "segments are asked about as their origin says",
        arguments: [("no-cache", 2), ("max-age=2", 2), ("max-age=600", 1)])
    func lifetimes(control: String, requests: Int) async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"], sequence: 1), at: "/live.m3u8")
            site.publishSegment("/1.ts", control: control)
            _ = try await site.get("/live.m3u8")
            _ = try await site.get("/1.ts")
            await site.proxy.becomeIdle()
            site.clock.shift(by: .seconds(5))
            _ = try await site.get("/1.ts")
            #expect(site.requests("/1.ts") == requests)
        }
    }

    @Test("a stream that had ended and starts again shows new bytes, also for names that come later")
    func startsAgain() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts", "2.ts"], sequence: 1, ended: true), at: "/list.m3u8", control: "no-cache")
            for number in 1...2 { site.publishSegment("/\(number).ts", seed: UInt64(number)) }
            _ = try await site.get("/list.m3u8")
            for number in 1...2 { #expect(try await site.get("/\(number).ts").body == Self.bytes(number)) }
            site.clock.shift(by: .seconds(60))
            for count in 1...2 {
                site.publish(
                    Site.list((1...count).map { "\($0).ts" }, sequence: 1), at: "/list.m3u8", etag: "\"l\(count)\"",
                    control: "no-cache")
                site.publishSegment("/\(count).ts", seed: UInt64(count + 10))
                _ = try await site.get("/list.m3u8")
                #expect(try await site.get("/\(count).ts").body == Self.bytes(count + 10))
                site.clock.shift(by: .seconds(6))
            }
        }
    }

    @Test("a key of the same name is another one when the stream starts again (rfc8216bis §4.4.4.4)")
    func keys() async throws {
        try await Site.run { site async throws in
            for (sequence, key) in [(100, "0123456789abcdef"), (0, "fedcba9876543210")] {
                let more = "#EXT-X-KEY:METHOD=AES-128,URI=\"k.key\"\n"
                site.publish(
                    Site.list(["1.ts"], sequence: sequence, more: more), at: "/live.m3u8", etag: "\"\(sequence)\"",
                    control: "no-cache")
                site.publish(key, at: "/k.key", type: "application/octet-stream", etag: nil)
                _ = try await site.get("/live.m3u8")
                for _ in 0..<2 { #expect(try await site.get("/k.key").body == Array(key.utf8)) }
            }
            #expect(site.requests("/k.key") == 2)
        }
    }

    @Test("DASH: a file that a template names without a variable starts again with the segments")
    func dashInitialization() async throws {
        try await Site.run { site async throws in
            for (seed, start) in [(1, "2026-11-28T08:00:00Z"), (2, "2026-11-28T09:00:00Z")] {
                site.publish(
                    """
                    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="\(start)"
                    minimumUpdatePeriod="PT2S"><Period id="p"><AdaptationSet><Representation id="v" bandwidth="1">
                    <SegmentTemplate initialization="init.m4s" media="$Number$.m4s" duration="2"/>
                    </Representation></AdaptationSet></Period></MPD>
                    """, at: "/live.mpd", type: "application/dash+xml", etag: "\"\(seed)\"", control: "no-cache")
                site.publishSegment("/init.m4s", seed: UInt64(seed), control: "max-age=600")
                _ = try await site.get("/live.mpd")
                #expect(try await site.get("/init.m4s").body == Self.bytes(seed))
            }
        }
    }

    @Test(
        "DASH: another availabilityStartTime or period starts segments again (ISO/IEC 23009-1 §5.3.1.2)",
        arguments: [
            ("2026-11-28T08:00:00Z", "2026-11-28T09:00:00Z", ("0", "p"), ("0", "p")),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", ("0", "p"), ("1795856400", "p")),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", ("0", "p"), ("0", "q")),
        ])
    func dash(start: String, nextStart: String, period: (String, String), nextPeriod: (String, String)) async throws {
        try await Site.run { site async throws in
            func play(_ start: String, _ period: (start: String, id: String), seed: Int) async throws {
                site.publish(
                    """
                    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="\(start)"
                    minimumUpdatePeriod="PT2S"><Period id="\(period.id)" start="PT\(period.start)S"><AdaptationSet>
                    <Representation id="v" bandwidth="1"><SegmentTemplate media="$Number$.m4s" duration="2"/>
                    </Representation></AdaptationSet></Period></MPD>
                    """, at: "/live.mpd", type: "application/dash+xml", etag: "\"\(seed)\"", control: "no-cache")
                site.publishSegment("/1.m4s", seed: UInt64(seed))
                _ = try await site.get("/live.mpd")
                #expect(try await site.get("/1.m4s").body == Self.bytes(seed))
            }
            try await play(start, period, seed: 1)
            try await play(start, period, seed: 1)
            #expect(site.requests("/1.m4s") == 1)
            try await play(nextStart, nextPeriod, seed: 2)
        }
    }
}
