import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The origin changes its file between and during plays of ten concurrent readers: no reader ever gets bytes of two
/// versions.
@Suite(.limit(minutes: 10)) struct ReplacementTests {
    /// How the origin distinguishes its versions.
    enum Telling: String, CaseIterable, Sendable { case strongTag, weakTag, date, nothing }

    /// For each way of distinguishing, so that there are 1,000 in all; `REPRISE_REPLACEMENT_ROUNDS` runs more.
    private static let rounds =
        ProcessInfo.processInfo.environment["REPRISE_REPLACEMENT_ROUNDS"].flatMap { Int($0) } ?? 250
    private static let readers = 10
    private static let length: Int64 = 40_000
    /// In one of this many rounds the file changes while a body is held in the middle.
    private static let heldShare = 4

    /// The observed effects of a change.
    private struct Play {
        let bench: Bench
        let telling: Telling
        var random = SeededGenerator(seed: 7)
        var version: UInt64 = 1
        /// Readers that found that the file changed, in rounds with a held body.
        var cutInHeldRounds = 0
    }

    @Test(arguments: Telling.allCases)
    func noResponseIsMixed(telling: Telling) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            $0.linger = .milliseconds(1)
        }) { bench async throws in
            let log = EventLog(bench.cache)
            async let events = log.all()
            var play = Play(bench: bench, telling: telling)
            Self.publish(bench, play.version, telling)
            for round in 0..<Self.rounds {
                if round % Self.heldShare == 0 {
                    try await Self.flipUnderHeldBody(&play, round)
                } else {
                    try await Self.flipAtRandom(&play, round)
                }
                // A new play: stored bytes have to be validated.
                if round % 2 == 0 { clock.shift(by: .seconds(100_000)) }
            }
            await bench.cache.close()
            let replaced = await events.count { if case .generationReplaced = $0 { true } else { false } }
            print("replacement, \(telling): \(replaced) replaced, \(play.cutInHeldRounds) held readers told")
            if telling == .strongTag || telling == .date {
                // In each held round the change affects a reader: its response shows that the file is a different one.
                #expect(play.cutInHeldRounds >= Self.rounds / Self.heldShare)
                #expect(replaced >= Self.rounds / Self.heldShare)
            } else if telling == .weakTag {
                // No request validates the stored bytes, but another response shows the change; the held reader fails
                // unless its rest arrives before that. If nothing shows the change, every reader continues with its
                // response.
                #expect(play.cutInHeldRounds > 0)
            }
        }
    }

    private static func ranges(_ random: inout SeededGenerator) -> [RangeSpec] {
        (0..<readers).map { _ in
            let start = Int64.random(in: 0..<length - 1, using: &random)
            return .bounded(start..<Int64.random(in: start + 1...length, using: &random))
        }
    }

    /// Readers begin, and the origin changes its file up to twice while they read, at random moments.
    private static func flipAtRandom(_ play: inout Play, _ round: Int) async throws {
        let resource = try play.bench.cache.resource(for: play.bench.origin.url("/film"))
        let ranges = ranges(&play.random)
        let flips = Int.random(in: 0...2, using: &play.random)
        let oldest = play.version
        let newest = play.version + UInt64(flips)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for range in ranges {
                group.addTask {
                    try await Self.isCut({ try await resource.read(range) }, oldest: oldest, newest: newest, round)
                }
            }
            for _ in 0..<flips {
                await Task.yield()
                play.version += 1
                Self.publish(play.bench, play.version, play.telling)
            }
            try await group.waitForAll()
        }
    }

    /// A body stops in the middle; then the file changes, others request bytes behind it, and the body continues.
    private static func flipUnderHeldBody(_ play: inout Play, _ round: Int) async throws {
        let origin = play.bench.origin
        let resource = try play.bench.cache.resource(for: origin.url("/film"))
        _ = try await play.bench.cache.remove(resource.key)
        await play.bench.cache.becomeIdle()
        await origin.waitUntil { $0.responsesUnderWay == 0 }
        origin.resetCounters()
        // Without its first bytes, a short body is not known to be media.
        let held = Int64.random(in: 512..<length / 2, using: &play.random)
        origin.hold("/film", at: held)
        // Not for playing: the host may be known to splice by now, and would be asked for the whole.
        let first = try await resource.read(.bounded(0..<length / 2), demand: .preload)
        await origin.waitUntil { $0.bodyBytesSent == held }
        let oldest = play.version
        play.version += 1
        let newest = play.version
        publish(play.bench, newest, play.telling)
        let ranges = [.bounded(length * 3 / 4..<length)] + ranges(&play.random).dropFirst(2)
        play.cutInHeldRounds += try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await Self.isCut({ first }, oldest: oldest, newest: newest, round) }
            for range in ranges {
                group.addTask {
                    try await Self.isCut({ try await resource.read(range) }, oldest: oldest, newest: newest, round)
                }
            }
            await origin.waitUntil { $0.requests.count { $0.status != nil } > 1 }
            origin.release("/film")
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    private static func publish(_ bench: Bench, _ version: UInt64, _ telling: Telling) {
        let date = HTTPDate(secondsSince1970: 1_600_000_000 + Int64(version))
        bench.origin.set(
            TestOrigin.Resource(
                .pattern(seed: version, length: length), mediaType: "video/mp4",
                etag: telling == .strongTag || telling == .weakTag ? "\"\(version)\"" : nil,
                lastModified: telling == .date ? date.description : nil,
                personality: TestOrigin.Personality { $0.weakETag = telling == .weakTag }), at: "/film")
    }

    /// Reads to the end; returns whether the reader found that the origin changed during the read.
    private static func isCut(
        _ open: @Sendable () async throws -> MediaRead, oldest: UInt64, newest: UInt64, _ round: Int
    ) async throws -> Bool {
        var bytes: [UInt8] = []
        var start: Int64 = 0
        var isCut = false
        do {
            let read = try await open()
            start = read.start
            while let piece = try await read.next() { bytes += try piece.bytes() }
        } catch let error as RepriseError where error.code == .validatorChanged {
            isCut = true
        }
        // Bytes stored in this play may still be served, so versions before this round's first are possible.
        let earliest = oldest > 12 ? oldest - 12 : 1
        let isOfOne = (earliest...newest).contains { version in
            bytes == TestPattern.bytes(in: start..<start + Int64(bytes.count), seed: version)
        }
        #expect(isOfOne, "round \(round): bytes of two versions, or of none, in \(start)+\(bytes.count)")
        return isCut
    }
}
