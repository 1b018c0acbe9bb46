import ByteRanges
import HTTPSemantics
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport

extension Model {
    /// One cache, one origin, one seed.
    struct World {
        let bench: Bench
        let clock: ShiftableClock
        private var random: SeededGenerator
        private(set) var titles: [Title] = []
        var step = 0
        private(set) var log: [String] = []
        private(set) var made: [Check: Int] = [:]
        private var nextVersion: UInt64 = 1

        private static let paths = 4
        /// Longer than a refusal is kept, and than reads of a path bypass the store, in seconds.
        private static let grudge = 11
        private static let maximumIdle = NIOOrigin.Configuration().maximumIdlePerHost

        init(bench: Bench, clock: ShiftableClock, seed: UInt64) {
            self.bench = bench
            self.clock = clock
            random = SeededGenerator(seed: seed)
            for path in 0..<Self.paths {
                titles.append(Title(version: makeVersion(), length: randomLength(), manner: .honest))
                publish(path)
            }
        }

        // MARK: Steps

        mutating func takeStep() async throws {
            let path = Int.random(in: 0..<titles.count, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<52: try await read(path, [randomRange(path)])
            case 52..<66: try await read(path, [randomRange(path)], leaving: .random(in: 0..<100_000, using: &random))
            case 66..<78: try await read(path, (0..<3).map { _ in randomRange(path) })
            case 78..<82:
                note("\(path) changes")
                titles[path].change(to: makeVersion(), length: randomLength())
                publish(path)
            case 82..<90:
                // The same bytes with another behavior: their stored part is still valid.
                titles[path].behave(
                    Bool.random(using: &random) ? .honest : Manner.allCases.randomElement(using: &random) ?? .honest)
                clock.shift(by: .seconds(Self.grudge))
                note("\(path) is \(titles[path].manner)")
                publish(path)
            case 90..<92:
                note("ten minutes pass")
                clock.shift(by: .seconds(600))
                for path in titles.indices { titles[path].isStale = true }
            default: try await remove(path)
            }
        }

        private mutating func note(_ text: String) { log.append("\(step): \(text)") }

        private mutating func count(_ checks: [Check]) {
            for check in checks { made[check, default: 0] += 1 }
        }

        private mutating func remove(_ path: Int) async throws {
            note("\(path) is removed")
            _ = try await bench.cache.remove(CacheKey(url(path)))
            titles[path].forget()
            let stored = try await bench.cache.resource(for: url(path)).storedProgress().ranges
            guard stored.isEmpty else { throw Failure(description: "\(stored) is stored after removal") }
            count([.removed])
        }

        private mutating func read(_ path: Int, _ ranges: [RangeSpec?], leaving limit: Int? = nil) async throws {
            let title = titles[path]
            let readers = ranges.map { $0.map { "\($0)" } ?? "all" }.joined(separator: " and ")
            note("\(path), \(title.manner), is read: \(readers)\(limit.map { ", and left after \($0)" } ?? "")")
            let resource = try bench.cache.resource(for: url(path))
            let information = resource.storedInMemory()?.information
            bench.origin.resetCounters()
            let outcomes = try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
                for (index, range) in ranges.enumerated() {
                    group.addTask { (index, try await Self.read(range, of: resource, title, leaving: limit)) }
                }
                return try await group.reduce(into: Array(repeating: Outcome(), count: ranges.count)) {
                    $0[$1.0] = $1.1
                }
            }
            try await rest()
            let sent = bench.origin.snapshot
            let reading = Reading(
                title: title,
                wanted: zip(ranges, outcomes).map { range, outcome in
                    // A suffix of an unknown length is the whole, even while another reader is finding it out.
                    let isUnknown =
                        information.map { $0.completeLength == nil } ?? (ranges.count > 1 && title.manner.hidesLength)
                    if case .suffix = range, isUnknown, outcome.start == 0 { return 0..<title.length }
                    guard let range else { return 0..<title.length }
                    return range.resolve(completeLength: title.length)
                },
                outcomes: outcomes, isLeft: limit != nil, sent: sent.bodyBytesSent, twice: sent.bytesSentMoreThanOnce,
                stored: await resource.storedProgress().ranges, isAhead: bench.cache.isSpliced(resource.url))
            log.append(
                "  \(outcomes.map { "\($0.range) \($0.error?.description ?? "")" }), \(reading.sent) sent for \(reading.missing)"
            )
            count(try Model.judge(reading))
            titles[path].learn(reading)
            if reading.isAhead { forgetHosts() }
        }

        /// The hosts that splice are forgotten, so that costs can be checked again.
        private mutating func forgetHosts() {
            note("four weeks pass")
            clock.shift(by: .seconds(28 * 86_400))
            for path in titles.indices { titles[path].isStale = true }
        }

        /// Reads and compares with every version that may be visible; all bytes must be of one.
        private static func read(
            _ range: RangeSpec?, of resource: MediaResource, _ title: Title, leaving limit: Int?
        ) async throws -> Outcome {
            var outcome = Outcome()
            var bytes: [UInt8] = []
            do {
                let read = try await resource.read(range)
                defer { read.cancel() }
                // A page instead of media is passed on unchanged, and reported as such.
                outcome.isPassedThrough = read.passedThrough != nil
                outcome.isPastStore = read.disposition == .bypass
                if outcome.isPassedThrough { return outcome }
                outcome.start = read.start
                while let piece = try await read.next() {
                    bytes += try piece.bytes()
                    if let limit, bytes.count >= limit { break }
                }
            } catch let error as RepriseError {
                outcome.error = error.code
            }
            outcome.count = bytes.count
            outcome.versions = Set(title.visible.map(\.version)).filter { version in
                bytes == TestPattern.bytes(in: outcome.range, seed: version)
            }
            return outcome
        }

        /// Waits until nothing is in progress: no read, no fetch, no response, no connection except idle ones.
        mutating func rest() async throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while !bench.cache.isIdle {
                guard .now < deadline else {
                    throw Failure(description: "a minute after the last read the cache is busy")
                }
                await breathe()
            }
            while true {
                let snapshot = bench.origin.snapshot
                if snapshot.responsesUnderWay == 0, snapshot.openConnections <= Self.maximumIdle { break }
                guard .now < deadline else {
                    throw Failure(
                        description: """
                            after a minute \(snapshot.responsesUnderWay) responses are under way, \
                            \(snapshot.openConnections) connections open
                            """)
                }
                await breathe()
            }
            count([.rest])
        }

        // MARK: The origin

        private func url(_ path: Int) -> String { bench.origin.url("/\(path).mp4") }

        private mutating func makeVersion() -> UInt64 {
            defer { nextVersion += 1 }
            return nextVersion
        }

        private mutating func randomLength() -> Int64 { Int64.random(in: 1...150_000, using: &random) }

        private func publish(_ path: Int) {
            let title = titles[path]
            var resource = TestOrigin.Resource(
                .pattern(seed: title.face.version, length: title.length), mediaType: "video/mp4",
                etag: title.face.validator == .none ? nil : "\"\(title.face.version)\"", lastModified: nil,
                fields: title.manner.fields)
            bench.origin.set(resource, at: "/at/\(path).mp4")
            resource.personality = title.manner.personality(path)
            bench.origin.set(resource, at: "/\(path).mp4")
        }

        private mutating func randomRange(_ path: Int) -> RangeSpec? {
            let length = titles[path].length
            let start = Int64.random(in: 0..<length, using: &random)
            switch Int.random(in: 0..<16, using: &random) {
            case 0: return nil
            case 1..<3: return .from(start)
            case 3..<5: return .suffix(length - start)
            case 5:
                return Bool.random(using: &random)
                    ? .from(length + start) : .bounded(length + start..<length + start + 9)
            default:
                // Short ones mostly, so that holes remain.
                return .bounded(start..<Int64.random(in: start + 1...min(length, start + 20_000), using: &random))
            }
        }
    }
}
