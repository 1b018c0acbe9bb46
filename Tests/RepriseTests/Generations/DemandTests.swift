import Foundation
import ByteRanges
import HTTPSemantics
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise
@testable import RepriseHTTPClient

/// Classes of demand and unwanted requests, through the engine.
@Suite(.limit(minutes: 2)) struct DemandTests {
    private static func client(connections: Int) -> NIOOrigin {
        var configuration = NIOOrigin.Configuration()
        configuration.maximumConnectionsPerHost = connections
        // Heads that are held must not time out on a busy machine, or further requests would be sent.
        configuration.responseTimeout = .seconds(600)
        configuration.queueTimeout = .seconds(600)
        return NIOOrigin(configuration: configuration)
    }

    private static func yielding(_ bench: Bench) async {
        await eventually { bench.cache.engine.precedence.yielding > 0 }
    }

    private static func queued(_ count: Int, _ bench: Bench) async {
        await eventually { bench.client.queuedRequests == count }
    }

    // MARK: - Classes

    /// Records the requests it gets, and refuses them.
    private final class Witness: Origin {
        private let seen = Mutex<[Demand]>([])

        var demands: [Demand] { seen.withLock { $0 } }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            seen.withLock { $0.append(request.demand) }
            throw RepriseError(.originMisbehaved, "There is nothing.")
        }
    }

    @Test func eachRequestSaysWhatItIsWantedFor() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let witness = Witness()
        let cache = try await MediaCache.open(directory: directory.path, origin: witness)
        let events = EventLog(cache)
        let resource = try cache.resource(for: "http://origin/a")
        _ = try? await resource.read()
        _ = try? await resource.read(demand: .seekingAhead)
        _ = try? await resource.preload(.bytes(1000))
        try await cache.retain(resource, as: .download)
        _ = await events.first { if case .downloadEnded = $0 { true } else { false } }
        #expect(witness.demands == [.playing, .seekingAhead, .preload, .download])
        await cache.close()
    }

    @Test func aPreloadBeginsNoRequestWhileAPlayerWaits() async throws {
        try await Bench.run { bench async throws in
            for path in ["/show", "/film"] { bench.publish(path, length: 100_000) }
            bench.origin.holdHeads("/show")
            async let show = bench.bytes("/show")
            await bench.origin.waitUntil { $0.requestCount >= 1 }
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            async let preload: Void = film.preload(.all)
            await Self.yielding(bench)
            #expect(bench.origin.snapshot["/film"].requestCount == 0)
            bench.origin.release("/show")
            #expect(try await show.count == 100_000)
            try await preload
            #expect(await film.storedProgress().ranges.byteCount == 100_000)
        }
    }

    @Test(arguments: [false, true])
    func aPreloadPullsNothingWhileAPlayerWaitsUnlessThePlayerJoinsIt(joins: Bool) async throws {
        let length: Int64 = 8 << 20
        try await Bench.run(sendBufferSize: 64 << 10) { bench async throws in
            bench.publish("/show", length: 1000)
            bench.publish("/film", length: length)
            bench.origin.hold("/film", at: 100_000)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            async let preload: Void = film.preload(.all)
            await eventually { await film.storedProgress().ranges.byteCount >= 100_000 }
            bench.origin.holdHeads("/show")
            async let show = bench.bytes("/show")
            await bench.origin.waitUntil { $0["/show"].requestCount >= 1 }
            bench.origin.release("/film")
            await Self.yielding(bench)
            #expect(await film.storedProgress().ranges.byteCount < length)
            if joins {
                #expect(try await bench.bytes("/film") == TestPattern.bytes(in: 0..<length, seed: 1))
                bench.origin.release("/show")
            } else {
                bench.origin.release("/show")
                #expect(try await show.count == 1000)
                try await preload
            }
            #expect(await film.storedProgress().ranges.byteCount == length)
            #expect(bench.origin.snapshot["/film"].requestCount == 1)
        }
    }

    // MARK: - Unwanted requests

    @Test func anOpeningWithoutAConnectionIsWithdrawnWithItsLastWaiter() async throws {
        try await Bench.run(client: Self.client(connections: 1)) { bench async throws in
            for path in ["/busy", "/a"] { bench.publish(path, length: 1000) }
            bench.origin.holdHeads("/busy")
            async let busy = bench.bytes("/busy")
            await bench.origin.waitUntil { $0.requestCount >= 1 }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let leader = Task { try await resource.read() }
            await Self.queued(1, bench)
            let follower = Task { try await resource.read() }
            await eventually { bench.cache.engine.liveResource(resource.key)?.waitingReaders == 2 }
            leader.cancel()
            await #expect(throws: CancellationError.self) { try await leader.value }
            #expect(bench.client.queuedRequests == 1)
            follower.cancel()
            await #expect(throws: CancellationError.self) { try await follower.value }
            await Self.queued(0, bench)
            bench.origin.release("/busy")
            #expect(try await busy.count == 1000)
            #expect(bench.origin.snapshot.requestCount == 1)
            #expect(try await bench.bytes("/a").count == 1000)
        }
    }

    @Test func aFetchWithoutAConnectionIsWithdrawnWithItsReader() async throws {
        try await Bench.run(client: Self.client(connections: 1)) { bench async throws in
            bench.publish("/busy", length: 1000)
            bench.publish("/a", length: 10 << 20)
            _ = try await bench.bytes("/a", .bounded(0..<1000))
            bench.origin.holdHeads("/busy")
            async let busy = bench.bytes("/busy")
            await bench.origin.waitUntil { $0["/busy"].requestCount >= 1 }
            // Far from the end, and so near that a running fetch would finish by itself.
            let starts: [Int64] = [1 << 20, (10 << 20) - 1000]
            for start in starts {
                let read = try await bench.cache.resource(for: bench.origin.url("/a")).read(.from(start))
                let reader = Task { try await read.next() }
                await Self.queued(1, bench)
                reader.cancel()
                await #expect(throws: CancellationError.self) { try await reader.value }
                await Self.queued(0, bench)
            }
            bench.origin.release("/busy")
            #expect(try await busy.count == 1000)
            #expect(bench.origin.snapshot["/a"].requestCount == 1)
        }
    }

    /// Where the player stays after its scrubs.
    private static let seek: Int64 = 200 << 20

    @Test func aHundredScrubsCostAHandfulOfRequestsAndTheSeekAfterThemIsSentAtOnce() async throws {
        let clock = ManualClock()
        try await Bench.run(
            client: Self.client(connections: 16),
            configure: {
                $0.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) }
                $0.linger = .zero
            }
        ) { bench async throws in
            let (log, precedence) = (EventLog(bench.cache), bench.cache.engine.precedence)
            bench.publish("/film", length: 256 << 20)
            _ = try await bench.bytes("/film", .bounded(0..<1000))
            _ = await log.first { if case .fetchStarted = $0 { true } else { false } }
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            bench.origin.holdHeads("/film")
            for number in 1...100 {
                let read = try await film.read(.from(Int64(number) << 20))
                let reader = Task { try await read.next() }
                let isSent = number <= Precedence.unwantedLimit
                _ = await log.first { if case .fetchStarted = $0 { true } else { false } }
                if isSent { await bench.origin.waitUntil { $0["/film"].requestCount >= number + 1 } }
                reader.cancel()
                await #expect(throws: CancellationError.self) { try await reader.value }
                await eventually { !isSent || precedence.unwantedRequests(at: film.url.authority) >= number }
            }
            let dead = bench.origin.snapshot["/film"].requestCount - 1
            #expect(dead <= 5, "the origin saw \(dead) requests of readers that had left")
            // The last reader's request is withdrawn, or it would be sent when the time has passed.
            await eventually { bench.cache.fetchesUnderWay <= dead }
            let read = try await film.read(.from(Self.seek))
            let seek = Task { try await read.nextBytes() }
            while bench.origin.snapshot["/film"].requestCount == dead + 1 {
                clock.advance(by: Precedence.settlingTime)
                await breathe()
            }
            // None of the earlier heads has arrived: it waits for its own only.
            #expect(bench.origin.snapshot["/film"].requests.last?.range == "bytes=\(Self.seek)-")
            bench.origin.release("/film")
            let first = try #require(try await seek.value)
            #expect(first == TestPattern.bytes(in: Self.seek..<Self.seek + Int64(first.count), seed: 1))
            read.cancel()
        }
    }

    @Test func scrubsInAnUnknownFileShareOneRequest() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 256 << 20)
            bench.origin.holdHeads("/film")
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            for number in 0..<100 {
                let reader = Task { try await film.read(.from(Int64(number) << 20)) }
                await bench.origin.waitUntil { $0.requestCount >= 1 }
                reader.cancel()
                await #expect(throws: CancellationError.self) { try await reader.value }
            }
            let seek = Task { try await film.read(.bounded(Self.seek..<Self.seek + 1000)).collect() }
            bench.origin.release("/film")
            #expect(try await seek.value == TestPattern.bytes(in: Self.seek..<Self.seek + 1000, seed: 1))
            #expect(bench.origin.snapshot.requestCount <= 2)
        }
    }

    @Test func aQueueThatTookTooLongIsNotRetriedAsABodyThatStalls() {
        var budget = RetryBudget(RetryPolicy())
        let queue = RepriseError(.originTimedOut, "", cause: ConnectionQueueTimeout())
        #expect(budget.delay(after: queue, bytes: 1 << 20) == nil)
        #expect(budget.delay(after: RepriseError(.originTimedOut, ""), bytes: 1 << 20) != nil)
    }
}
