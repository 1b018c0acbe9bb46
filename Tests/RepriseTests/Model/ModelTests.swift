import Foundation
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Random readers against an origin that changes its behavior at random.
///
/// After each step everything is idle, and the model knows what must be stored and what reading it may cost.
/// `REPRISE_MODEL_STEPS` and `REPRISE_MODEL_SEED` (decimal) run more steps, or repeat one failure.
@Suite(.limit(minutes: 10)) struct ModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let steps = environment["REPRISE_MODEL_STEPS"].flatMap { Int($0) } ?? 20_000
    private static let worlds = 4
    /// With this many steps every kind of check occurs.
    private static let stepsForAllChecks = 10_000

    @Test func randomReadersGetRightBytesOnceFromRandomOrigins() async throws {
        let seed = Self.environment["REPRISE_MODEL_SEED"].flatMap { UInt64($0) } ?? 20_261_121
        let made = try await withThrowingTaskGroup(of: [Model.Check: Int].self) { group in
            for world in 0..<Self.worlds {
                group.addTask { try await Self.run(seed: seed + UInt64(world), steps: Self.steps / Self.worlds) }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        print("model:", Model.Check.allCases.map { "\($0) \(made[$0] ?? 0)" }.joined(separator: ", "))
        guard Self.steps >= Self.stepsForAllChecks else { return }
        for check in Model.Check.allCases { #expect(made[check, default: 0] > 0, "\(check) was never checked") }
    }

    /// Runs one world; returns how often each check was made.
    private static func run(seed: UInt64, steps: Int) async throws -> [Model.Check: Int] {
        let clock = ShiftableClock()
        var made: [Model.Check: Int] = [:]
        // A small buffer, because bytes in a cut connection were sent but cannot be stored.
        try await Bench.run(
            sendBufferSize: 4 << 10,
            configure: {
                $0.clock = clock.cacheClock
                $0.retry.attempts = 2
                $0.retry.refusals = 0
                $0.linger = .milliseconds(1)
            }
        ) { bench async throws in
            let log = EventLog(bench.cache)
            async let events = log.all()
            var world = Model.World(bench: bench, clock: clock, seed: seed)
            do {
                while world.step < steps {
                    try await world.takeStep()
                    world.step += 1
                }
                try await world.rest()
            } catch {
                let story = world.log.suffix(12).joined(separator: "\n  ")
                Issue.record("REPRISE_MODEL_SEED=\(seed), step \(world.step): \(error)\n  \(story)")
            }
            made = world.made
            let reads = bench.cache.statistics.reads
            // Removal continues after the last reader; the file of a removed generation is closed soon.
            let deadline = ContinuousClock.now + .seconds(10)
            var open = OpenFiles(in: bench.directory.path)
            while open.withoutName > 0 || open.media > world.titles.count, .now < deadline {
                await breathe()
                open = OpenFiles(in: bench.directory.path)
            }
            #expect(open.count > 0, "the count of open files counts")
            #expect(open.withoutName == 0, "REPRISE_MODEL_SEED=\(seed): files are open that were removed")
            #expect(open.media <= world.titles.count, "REPRISE_MODEL_SEED=\(seed): \(open.media) media files are open")
            await bench.cache.close()
            #expect(
                OpenFiles(in: bench.directory.path).count == 0, "REPRISE_MODEL_SEED=\(seed): files are left open")
            let tally = Tally(await events)
            #expect(tally.fetchesStarted == tally.fetchesEnded, "REPRISE_MODEL_SEED=\(seed): fetches go on")
            #expect(tally.fetchesStarted > 0)
            #expect(tally.readsEnded == reads, "REPRISE_MODEL_SEED=\(seed): reads never ended")
            await bench.client.shutdown()
            await bench.origin.waitUntil { $0.openConnections == 0 }
        }
        return made
    }

    /// What began and ended, according to the cache's events.
    private struct Tally {
        var fetchesStarted = 0
        var fetchesEnded = 0
        var readsEnded: Int64 = 0

        init(_ events: [CacheEvent]) {
            for event in events {
                switch event {
                case .fetchStarted: fetchesStarted += 1
                case .fetchEnded: fetchesEnded += 1
                case .readEnded: readsEnded += 1
                default: break
                }
            }
        }
    }

    /// The files below a directory that this process has open.
    private struct OpenFiles {
        var count = 0
        var withoutName = 0
        var media = 0

        init(in directory: String) {
            #if os(Linux)
                let root = "/proc/self/fd"
                let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
                for link in names.compactMap({
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(root)/\($0)")
                })
                where link.hasPrefix(directory) {
                    count += 1
                    if link.hasSuffix(" (deleted)") { withoutName += 1 }
                    if link.contains("/media/") { media += 1 }
                }
            #endif
        }
    }
}
