import ByteRanges
import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Random readers against an origin that changes its manners at random; after each step the bytes must be right.
///
/// `REPRISE_MODEL_STEPS` and `REPRISE_MODEL_SEED` (decimal) run more of it, or one failure again.
@Suite(.limit(minutes: 10)) struct ModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let steps = environment["REPRISE_MODEL_STEPS"].flatMap { Int($0) } ?? 20_000
    private static let worlds = 4

    @Test func randomReadersGetRightBytesFromRandomOrigins() async throws {
        let seed = Self.environment["REPRISE_MODEL_SEED"].flatMap { UInt64($0) } ?? 20_261_121
        try await withThrowingTaskGroup(of: Void.self) { group in
            for world in 0..<Self.worlds {
                group.addTask { try await World.run(seed: seed + UInt64(world), steps: Self.steps / Self.worlds) }
            }
            try await group.waitForAll()
        }
    }
}

/// One cache, one origin, one seed.
private struct World {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What the model knows of one path.
    struct Title {
        var version: UInt64
        /// Versions that a reader may still see: those that may be stored and fresh, or under way.
        var visible: [UInt64]
        var length: Int64
        var manner: Manner
    }

    /// How the origin behaves for a path.
    enum Manner: Int, CaseIterable {
        case honest, weak, noValidator, noRanges, chunked, closeDelimited, truncated, reset, shorter, longer,
            unknownTotal
        case shifted, multipart, unavailable, page, tooMuch

        /// Every read must succeed, and cost nothing that is not missing.
        var isHonest: Bool { self == .honest }
        /// Reads may fail for good.
        var mayFail: Bool {
            switch self {
            case .shifted, .multipart, .unavailable, .page, .truncated, .reset: true
            default: false
            }
        }

        func personality() -> TestOrigin.Personality {
            TestOrigin.Personality { personality in
                switch self {
                case .honest, .noValidator: break
                case .weak: personality.weakETag = true
                case .noRanges:
                    personality.ignoresRange = true
                    personality.acceptRanges = nil
                case .chunked: personality.framing = .chunked
                case .closeDelimited: personality.framing = .closeDelimited
                case .truncated: personality.truncateAfter = 20_000
                case .reset: personality.resetAfter = 20_000
                case .shorter: personality.shorterThanAsked = 100
                case .longer: personality.longerThanAsked = 100
                case .unknownTotal: personality.statedLength = .unknown
                case .shifted: personality.shiftsStartBy = 10
                case .multipart: personality.multipartForSingle = true
                case .unavailable: personality.status = 503
                case .page: personality.captivePortal = "<html>Log in</html>"
                case .tooMuch: personality.surplusBytes = 10
                }
            }
        }
    }

    let bench: Bench
    let clock: ShiftableClock
    let seed: UInt64
    var random: SeededGenerator
    var titles: [Title] = []
    var step = 0
    var log: [String] = []
    var nextVersion: UInt64 = 1

    static func run(seed: UInt64, steps: Int) async throws {
        let clock = ShiftableClock()
        var descriptors = 0
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            $0.retry.attempts = 2
            $0.retry.refusals = 0
            $0.linger = .milliseconds(1)
        }) { bench async throws in
            descriptors = openDescriptors(in: bench.directory.path)
            var world = World(bench: bench, clock: clock, seed: seed, random: SeededGenerator(seed: seed))
            for path in 0..<4 { world.publishNew(path, .honest) }
            do {
                while world.step < steps {
                    try await world.takeStep()
                    world.step += 1
                }
            } catch {
                let story = world.log.suffix(12).joined(separator: "\n  ")
                Issue.record("REPRISE_MODEL_SEED=\(seed), step \(world.step): \(error)\n  \(story)")
            }
            await bench.cache.close()
            #expect(openDescriptors(in: bench.directory.path) == 0, "REPRISE_MODEL_SEED=\(seed): files are left open")
            await bench.client.shutdown()
            await bench.origin.waitUntil { $0.openConnections == 0 }
        }
        #expect(descriptors > 0, "the count of open files counts")
    }

    /// How many files below `directory` this process has open.
    private static func openDescriptors(in directory: String) -> Int {
        #if os(Linux)
            let root = "/proc/self/fd"
            return ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).count { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(root)/\(name)"))?.hasPrefix(directory)
                    == true
            }
        #else
            return 0
        #endif
    }

    // MARK: - Steps

    private mutating func takeStep() async throws {
        let path = Int.random(in: 0..<titles.count, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60: try await readAndCheck(path)
        case 60..<75: try await readAndLeave(path)
        case 75..<87: try await readTwice(path)
        case 87..<91:
            note("\(path) changes")
            publishNew(path, titles[path].manner)
        case 91..<96:
            let manner = Manner.allCases.randomElement(using: &random) ?? .honest
            note("\(path) is \(manner)")
            // The same bytes by other manners: what is stored of them still holds.
            titles[path].manner = manner
            publish(path)
        case 96..<98:
            note("ten minutes pass")
            clock.shift(by: .seconds(600))
        default:
            note("\(path) is removed")
            _ = try await bench.cache.remove(CacheKey(url(path)))
        }
    }

    private mutating func note(_ text: String) { log.append("\(step): \(text)") }

    private func url(_ path: Int) -> String { bench.origin.url("/\(path).mp4") }

    private mutating func publishNew(_ path: Int, _ manner: Manner) {
        let version = nextVersion
        nextVersion += 1
        let old = path < titles.count ? titles[path].visible : []
        let title = Title(
            version: version, visible: Array((old + [version]).suffix(8)),
            length: Int64.random(in: 1...150_000, using: &random), manner: manner)
        if path < titles.count { titles[path] = title } else { titles.append(title) }
        publish(path)
    }

    private func publish(_ path: Int) {
        let title = titles[path]
        let hasValidator = title.manner != .noValidator
        bench.origin.set(
            TestOrigin.Resource(
                .pattern(seed: title.version, length: title.length), mediaType: "video/mp4",
                etag: hasValidator ? "\"\(title.version)\"" : nil, lastModified: nil,
                fields: [.cacheControl: "max-age=300"],
                personality: title.manner.personality()), at: "/\(path).mp4")
    }

    private mutating func randomRange(_ path: Int) -> RangeSpec? {
        let length = titles[path].length
        let start = Int64.random(in: 0..<length, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return nil
        case 1: return .from(start)
        case 2: return .suffix(max(1, length - start))
        default: return .bounded(start..<Int64.random(in: start + 1...length, using: &random))
        }
    }

    private mutating func readAndCheck(_ path: Int) async throws {
        let range = randomRange(path)
        note("\(path) is read, \(range.map { "\($0)" } ?? "all")")
        let title = titles[path]
        let resource = try bench.cache.resource(for: url(path))
        let before = resource.storedRanges
        let sent = await bench.origin.settledSnapshot().bodyBytesSent
        try await check(path, range, resource, abandonAfter: nil)
        guard title.manner.isHonest, title.visible.count == 1 || before.isEmpty else { return }
        // Once: what was stored is not sent again. A lead and what a connection holds may come on top.
        let cost = await bench.origin.settledSnapshot().bodyBytesSent - sent
        let wanted = range.map { $0.resolve(completeLength: title.length) ?? 0..<0 } ?? 0..<title.length
        let missing = before.holes(in: wanted).reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        guard cost <= missing + 65_536 || missing > 0 else {
            throw Failure(description: "\(cost) bytes were sent for \(missing) missing ones")
        }
    }

    private mutating func readAndLeave(_ path: Int) async throws {
        let range = randomRange(path)
        let count = Int.random(in: 0..<100_000, using: &random)
        note("\(path) is read, \(range.map { "\($0)" } ?? "all"), and left after \(count)")
        try await check(path, range, bench.cache.resource(for: url(path)), abandonAfter: count)
    }

    private mutating func readTwice(_ path: Int) async throws {
        let ranges = [randomRange(path), randomRange(path), randomRange(path)]
        note("\(path) is read by three: \(ranges.map { $0.map { "\($0)" } ?? "all" })")
        let resource = try bench.cache.resource(for: url(path))
        let world = self
        try await withThrowingTaskGroup(of: Void.self) { group in
            for range in ranges {
                group.addTask { try await world.check(path, range, resource, abandonAfter: nil) }
            }
            try await group.waitForAll()
        }
    }

    /// Reads and compares with every version that may be seen; all bytes must be of one.
    private func check(_ path: Int, _ range: RangeSpec?, _ resource: MediaResource, abandonAfter limit: Int?)
        async throws
    {
        let title = titles[path]
        var bytes: [UInt8] = []
        var start: Int64 = 0
        var length: Int64?
        var isWhole = false
        do {
            let read = try await resource.read(range)
            // A page instead of media is handed on as it is; it says so.
            if read.passedThrough != nil {
                read.cancel()
                return
            }
            start = read.start
            length = read.information.completeLength
            while let piece = try await read.next() {
                bytes += try piece.bytes()
                if let limit, bytes.count >= limit {
                    read.cancel()
                    break
                }
            }
            isWhole = limit == nil
            if isWhole, let end = read.end, Int64(bytes.count) != end - read.start {
                throw Failure(description: "\(bytes.count) bytes of \(read.start)..<\(end), and no error")
            }
        } catch let error as RepriseError {
            let isExpected = [.validatorChanged, .rangeNotSatisfiable].contains(error.code)
            guard title.manner.mayFail || isExpected || title.visible.count > 1 else {
                throw Failure(description: "\(title.manner): \(error)")
            }
        }
        let candidates = title.visible.filter { version in
            bytes == TestPattern.bytes(in: start..<start + Int64(bytes.count), seed: version)
        }
        guard !candidates.isEmpty else {
            throw Failure(
                description:
                    "wrong bytes in \(start)..<\(start + Int64(bytes.count)) of \(length ?? -1), \(title.manner)")
        }
    }
}
