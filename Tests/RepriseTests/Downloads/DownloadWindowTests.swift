import Foundation
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// The hours in which downloads run, through the engine.
@Suite(.limit(minutes: 2)) struct DownloadWindowTests {
    private static let length: Int64 = 300_000

    /// A clock whose time of day can be set apart from the time that passes.
    private final class Wall: Sendable {
        let clock = ShiftableClock()
        private let offset = Mutex(0.0)

        /// Sets the time of day so many hours after midnight (UTC), without time passing.
        func set(hours: Double) {
            let today = clock.wallClock.timeIntervalSince1970
            offset.withLock { $0 = hours * 3600 - today.truncatingRemainder(dividingBy: 86_400) }
        }

        var cacheClock: CacheClock {
            CacheClock(clock) { [self] in clock.wallClock.addingTimeInterval(offset.withLock { $0 }) }
        }
    }

    /// A bench at noon whose downloads run from 02:00 to 06:00 (UTC), with a file that stops after 100,000 bytes.
    private static func run(_ body: (Bench, Wall, MediaResource) async throws -> Void) async throws {
        let wall = Wall()
        wall.set(hours: 12)
        try await Bench.run { configuration in
            configuration.clock = wall.cacheClock
            configuration.downloadWindow = try? DailyWindow("02:00-06:00")
            configuration.downloadWindow?.timeZone = .gmt
        } _: { bench async throws in
            bench.publish("/a", length: length)
            bench.origin.hold("/a", at: 100_000)
            try await body(bench, wall, bench.cache.resource(for: bench.origin.url("/a")))
        }
    }

    private static func state(_ cache: MediaCache) async -> String {
        await cache.downloads.list().first.map { "\($0.state)".prefix { $0 != "(" }.description } ?? "none"
    }

    /// Lets time pass until the download is in that state: a watch may begin to sleep after the clock was shifted.
    private static func pass(_ duration: Duration, _ wall: Wall, until state: String, _ bench: Bench) async {
        await eventually {
            wall.clock.shift(by: duration)
            return await Self.state(bench.cache) == state
        }
    }

    @Test("it waits for the hours, runs in them, and stops with what it has when they are over")
    func hours() async throws {
        try await Self.run { bench, wall, file in
            try await bench.cache.downloads.add(file)
            guard case .waiting(.schedule, let error)? = await bench.cache.downloads.list().first?.state else {
                Issue.record("\(await Self.state(bench.cache))")
                return
            }
            #expect(error.code == .deferred && error.message.hasSuffix("they go on at 02:00."))
            #expect(bench.origin.snapshot.requestCount == 0)
            wall.set(hours: 1.999)
            await Self.pass(.seconds(4), wall, until: "running", bench)
            await eventually { await file.storedProgress().ranges.byteCount >= 100_000 }
            wall.set(hours: 5.999)
            await Self.pass(.seconds(4), wall, until: "waiting", bench)
            bench.origin.release("/a")
            await bench.cache.becomeIdle()
            wall.set(hours: 2)
            await Self.pass(.seconds(60), wall, until: "done", bench)
            #expect(await file.storedProgress().isComplete)
        }
    }

    @Test("a clock that is set is noticed within a minute, in both directions")
    func jumps() async throws {
        try await Self.run { bench, wall, file in
            try await bench.cache.downloads.add(file)
            wall.set(hours: 3)
            #expect(await Self.state(bench.cache) == "waiting")
            await Self.pass(.seconds(60), wall, until: "running", bench)
            wall.set(hours: 1)
            await Self.pass(.seconds(60), wall, until: "waiting", bench)
        }
    }

    @Test func otherHoursTakeEffectAtOnce() async throws {
        try await Self.run { bench, _, file in
            try await bench.cache.downloads.add(file)
            #expect(await Self.state(bench.cache) == "waiting")
            bench.cache.downloads.window = nil
            #expect(await Self.state(bench.cache) == "running")
            bench.cache.downloads.window = try DailyWindow("02:00-06:00")
            bench.cache.downloads.window?.timeZone = .gmt
            #expect(await Self.state(bench.cache) == "waiting")
            #expect(bench.cache.downloads.window?.description == "02:00-06:00")
        }
    }

    @Test func theWaitForTheHoursEndsWithItsTask() async throws {
        try await Self.run { bench, wall, _ in
            let wait = Task { try await bench.cache.downloads.waitUntilOpen() }
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
            let other = Task { try await bench.cache.downloads.waitUntilOpen() }
            wall.set(hours: 2)
            let isOver = Happening()
            Task {
                try await other.value
                isOver.happen()
            }
            let shifts = Task {
                while !Task.isCancelled {
                    wall.clock.shift(by: .seconds(60))
                    await Task.yield()
                }
            }
            await isOver.wait()
            shifts.cancel()
            try await bench.cache.downloads.waitUntilOpen()
        }
    }

    @Test("that a download waited for its hours is known in the next process", arguments: [false, true])
    func isRecorded(isResumed: Bool) async throws {
        try await Self.run { bench, wall, resource in
            try await bench.cache.downloads.add(resource)
            if isResumed {
                try await bench.cache.downloads.pause(resource.key)
                try await bench.cache.downloads.resume(resource.key)
            }
            await bench.cache.close()
            let error = try CacheInspector(directory: bench.directory.path).downloads().first?.lastError
            #expect(error?.code == .deferred, "\(error as Any)")
            #expect(error?.message.contains("02:00-06:00") == true)
        }
    }

    @Test("a download that waits for its hours begins when a person resumes it, but not when all are resumed")
    func now() async throws {
        try await Self.run { bench, _, file in
            try await bench.cache.downloads.add(file)
            try await bench.cache.downloads.resumeAll()
            #expect(await Self.state(bench.cache) == "waiting")
            try await bench.cache.downloads.resume(file.key)
            bench.origin.release("/a")
            await eventually { await Self.state(bench.cache) == "done" }
        }
    }

    @Test("that many downloads wait for their hours is recorded in few transactions")
    func manyAreRecorded() async throws {
        try await Self.run { bench, _, _ in
            let downloads = bench.cache.downloads
            let closed = downloads.window
            downloads.window = nil
            for number in 0..<20 {
                bench.publish("/\(number)", length: Self.length)
                bench.origin.holdHeads("/\(number)")
                try await downloads.add(bench.cache.resource(for: bench.origin.url("/\(number)")))
            }
            let before = bench.cache.transactionCount
            downloads.window = closed
            await downloads.recordHours()
            let count = bench.cache.transactionCount - before
            #expect(count <= 10, "not one for each")
            await bench.cache.close()
            let recorded = try CacheInspector(directory: bench.directory.path).downloads()
            #expect(recorded.count == 20)
            let codes = recorded.map { $0.lastError?.code }
            #expect(codes.allSatisfy { $0 == .deferred })
        }
    }

    @Test("once the hours have come, they are no reason any more") func isForgotten() async throws {
        try await Self.run { bench, wall, resource in
            try await bench.cache.downloads.add(resource)
            #expect(await bench.cache.downloads.list().first?.lastError?.code == .deferred)
            wall.set(hours: 3)
            await Self.pass(.seconds(60), wall, until: "running", bench)
            #expect(await bench.cache.downloads.list().first?.lastError == nil)
            bench.origin.release("/a")
        }
    }
}
