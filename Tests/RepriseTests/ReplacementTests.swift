import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The origin changes its file between and during plays of ten readers at once: no reader ever gets bytes of two versions.
@Suite(.limit(minutes: 10)) struct ReplacementTests {
    /// How the origin tells its versions apart.
    enum Telling: String, CaseIterable, Sendable { case strongTag, weakTag, date, nothing }

    private static let rounds = 250
    private static let readers = 10
    private static let length: Int64 = 40_000

    @Test(arguments: Telling.allCases)
    func noResponseIsMixed(telling: Telling) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            $0.linger = .milliseconds(1)
        }) { bench async throws in
            var random = SeededGenerator(seed: 7)
            var version: UInt64 = 1
            Self.publish(bench, version, telling)
            for round in 0..<Self.rounds {
                let resource = try bench.cache.resource(for: bench.origin.url("/film"))
                let ranges = (0..<Self.readers).map { _ in
                    let start = Int64.random(in: 0..<Self.length - 1, using: &random)
                    return RangeSpec.bounded(start..<Int64.random(in: start + 1...Self.length, using: &random))
                }
                let flips = Int.random(in: 0...2, using: &random)
                let oldest = version
                let newest = version + UInt64(flips)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for range in ranges {
                        group.addTask { try await Self.check(resource, range, oldest: oldest, newest: newest, round) }
                    }
                    for _ in 0..<flips {
                        await Task.yield()
                        version += 1
                        Self.publish(bench, version, telling)
                    }
                    try await group.waitForAll()
                }
                // A new play: what is stored has to be asked about.
                if round % 2 == 0 { clock.shift(by: .seconds(100_000)) }
            }
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

    /// Reads `range`, again where the origin changed under it.
    private static func check(
        _ resource: MediaResource, _ range: RangeSpec, oldest: UInt64, newest: UInt64, _ round: Int
    ) async throws {
        var bytes: [UInt8] = []
        var start: Int64 = 0
        do {
            let read = try await resource.read(range)
            start = read.start
            while let piece = try await read.next() { bytes += try piece.bytes() }
        } catch let error as RepriseError where error.code == .validatorChanged {}
        // What was stored in this play may be served on: versions before this round's first are possible.
        let earliest = oldest > 12 ? oldest - 12 : 1
        let isOfOne = (earliest...newest).contains { version in
            bytes == TestPattern.bytes(in: start..<start + Int64(bytes.count), seed: version)
        }
        #expect(isOfOne, "round \(round): bytes of two versions, or of none, in \(start)+\(bytes.count)")
    }
}
