import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Five minutes of a live stream with a window of five segments, by a clock that the test advances.
@Suite("Five minutes live", .limit(minutes: 2)) struct LiveSessionTests {
    private static let target = 6
    private static let window = 5
    private static let segmentBytes: Int64 = 300_000
    private static let limit: Int64 = 16_000_000

    /// A player that asks for the list every target duration, and for the segments that are new to it.
    private struct Player {
        /// Second at which it asks first.
        let offset: Int
        var next: Int?
        var played: [Int] = []
    }

    /// Segments that a list names.
    private static func segments(_ list: String) -> [Int] {
        list.split(separator: "\n").filter { $0.hasSuffix(".ts") }.compactMap { Int($0.dropLast(3)) }
    }

    private static func name(_ number: Int) -> String { "/\(number).ts" }

    /// What the origin has at a second: a new segment every target duration, with new bytes.
    private static func publish(_ second: Int, at site: StreamSite) {
        guard second % target == 0 else { return }
        let newest = second / target + window - 1
        let first = newest - window + 1
        let isBeginning = second == 0
        for number in isBeginning ? first...newest : newest...newest {
            site.publishSegment(name(number), length: segmentBytes, seed: UInt64(number + 1))
        }
        site.publish(
            StreamSite.list((first...newest).map { "\($0).ts" }, sequence: first), at: "/live.m3u8",
            etag: "\"\(newest)\"")
    }

    @Test("three players: no list older than its rule, each segment fetched once, and the share of live streams held")
    func threePlayers() async throws {
        try await StreamSite.run(limit: Self.limit) { site async throws in
            for number in 1...3 {
                site.publishSegment("/film\(number).mp4", length: 4_000_000)
                _ = try await site.get("/film\(number).mp4")
            }
            await site.proxy.becomeIdle()
            var players = [0, 2, 5].map { Player(offset: $0) }
            for second in 0..<300 {
                Self.publish(second, at: site)
                for index in players.indices where second % Self.target == players[index].offset {
                    try await Self.play(&players[index], at: second, site)
                }
                site.clock.shift(by: .seconds(1))
            }
            let newest = 299 / Self.target + Self.window - 1
            for player in players {
                let last = try #require(player.played.last)
                #expect(last >= newest - 1)
                #expect(player.played == Array(0...last), "each segment once, and in order")
            }
            for number in 0...newest { #expect(site.requests(Self.name(number)) == 1, "segment \(number)") }
            // At most one question in half a target duration.
            #expect(site.requests("/live.m3u8") <= 300 / (Self.target / 2))
            let films = try await site.proxy.bench.cache.entries().filter { $0.url.target.hasPrefix("/film") }
            #expect(films.map(\.storedBytes) == [4_000_000, 4_000_000, 4_000_000])
        }
    }

    /// Loads the list and the segments in it that the player has not played.
    private static func play(_ player: inout Player, at second: Int, _ site: StreamSite) async throws {
        let reply = try await site.get("/live.m3u8")
        let listed = segments(reply.text)
        let age = try #require(reply.head.fields["age"].flatMap { Int($0) })
        #expect(age < target / 2, "half a target duration at second \(second)")
        // What the origin had at the time that the age tells, and nothing else.
        let newest = (second - age) / target + window - 1
        #expect(listed == Array(newest - window + 1...newest), "second \(second), age \(age)")
        for number in listed where number >= player.next ?? listed[0] {
            let body = try await site.get(name(number)).body
            #expect(body == TestPattern.bytes(in: 0..<segmentBytes, seed: UInt64(number + 1)), "segment \(number)")
            player.played.append(number)
        }
        player.next = (listed.last ?? 0) + 1
        await site.proxy.becomeIdle()
        let live = try await site.proxy.bench.cache.entries().filter { $0.information.role?.isLive == true }
        // The newest segment may be stored before the room for it is made.
        let most = limit / 8 + segmentBytes
        #expect(live.reduce(0) { $0 + $1.storedBytes } <= most, "an eighth of the limit at second \(second)")
    }
}
