import Foundation
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// No reader waits longer for a fetch than an origin may take.
@Suite(.limit(minutes: 1)) struct StalledFetchTests {
    private static let bytes = TestPattern.bytes(in: 0..<200_000, seed: 1)
    /// Where the first response stands still.
    private static let end = 64 << 10

    /// Its first response stands still at ``end`` until it is released, even when it is canceled.
    private final class StuckOrigin: Origin {
        private let base = ScriptedOrigin { request, _ in .media(request, StalledFetchTests.bytes) }
        private let pieces = Pieces()

        var requests: [OriginRequest] { base.requests }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            var response = try await base.send(request)
            if base.requests.count == 1 { response.body = StuckBody(pieces: pieces) }
            return response
        }

        /// Lets the first response send another piece of 1,000 bytes.
        func sendPiece() { pieces.add(1_000) }

        func release() { pieces.add(StalledFetchTests.bytes.count) }
    }

    /// How many bytes may be sent; as a queue of one.
    private final class Pieces: Sendable {
        private let counts = AsyncStream<Int>.makeStream()

        func add(_ count: Int) { counts.continuation.yield(count) }

        func next() async -> Int {
            for await count in counts.stream { return count }
            return 0
        }
    }

    private struct Piece: ByteChunk {
        let bytes: ArraySlice<UInt8>
        var count: Int { bytes.count }
        func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try bytes.withUnsafeBytes(body)
        }
    }

    private final class StuckBody: OriginBody {
        private let sent = Mutex(0)
        private let pieces: Pieces

        init(pieces: Pieces) { self.pieces = pieces }

        func next() async throws -> (any ByteChunk)? {
            let start = sent.withLock { $0 }
            let count = start == 0 ? StalledFetchTests.end : await pieces.next()
            let end = min(start + count, StalledFetchTests.bytes.count)
            sent.withLock { $0 = end }
            return start == end ? nil : Piece(bytes: StalledFetchTests.bytes[start..<end])
        }

        func cancel() {}
    }

    private static func run(
        _ body: (StuckOrigin, MediaCache, ManualClock) async throws -> Void
    ) async throws {
        let (origin, clock, directory) = (StuckOrigin(), ManualClock(), try TemporaryDirectory())
        defer { directory.remove() }
        var configuration = MediaCache.Configuration()
        configuration.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) }
        let cache = try await MediaCache.open(directory: directory.path, origin: origin, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin, cache, clock)) } catch { result = .failure(error) }
        origin.release()
        await cache.close()
        try result.get()
    }

    /// Reads on once the first response stands still, and lets time pass until it is given up.
    private static func stall(_ read: MediaRead, of cache: MediaCache, on clock: ManualClock) async throws
        -> (bytes: [UInt8], position: Int64, time: Duration)
    {
        let log = EventLog(cache)
        var first: [UInt8] = []
        while first.count < Self.end, let piece = try await read.next() { first += try piece.bytes() }
        let rest = Task { try await read.collect() }
        let told = Mutex<(position: Int64, time: Duration)?>(nil)
        let listener = Task {
            guard case .fetchStalled(_, let position, let time) = await log.first({ $0.isStall }) else { return }
            told.withLock { $0 = (position, time) }
        }
        while told.withLock({ $0 == nil }) {
            clock.advance(by: .seconds(10))
            await breathe()
        }
        await listener.value
        let (position, time) = try #require(told.withLock { $0 })
        return (try await first + rest.value, position, time)
    }

    @Test(
        "after three minutes without a byte a player requests the rest itself, others begin another fetch",
        arguments: [Demand.playing, .preload])
    func stuck(demand: Demand) async throws {
        try await Self.run { origin, cache, clock async throws in
            let read = try await cache.resource(for: "http://origin/film.mp4").read(nil, demand: demand)
            let stall = try await Self.stall(read, of: cache, on: clock)
            #expect(stall.bytes == Self.bytes)
            #expect(stall.position == Self.end)
            #expect(stall.time >= Engine.waitLimit)
            #expect(read.isPastStore == (demand == .playing))
            #expect(origin.requests.count == 2)
            #expect(origin.requests.last?.fields[.range]?.hasPrefix("bytes=\(Self.end)-") == true)
        }
    }

    @Test("a fetch that was given up is not joined by later readers") func later() async throws {
        try await Self.run { origin, cache, clock async throws in
            let film = try cache.resource(for: "http://origin/film.mp4")
            _ = try await Self.stall(film.read(), of: cache, on: clock)
            let again = try await film.read()
            #expect(try await again.collect() == Self.bytes)
            #expect(!again.isPastStore)
            // On a busy machine so much time may have passed that the stored response was validated, too.
            let rests = origin.requests.filter { $0.fields[.range]?.hasPrefix("bytes=\(Self.end)-") == true }
            #expect(rests.count == 2)
        }
    }

    @Test("an origin that sends a little now and then is waited for") func slow() async throws {
        try await Self.run { origin, cache, clock async throws in
            let log = EventLog(cache)
            let read = try await cache.resource(for: "http://origin/film.mp4").read()
            let all = Task { try await read.collect() }
            await eventually { cache.statistics.bytesFetched == Self.end }
            for count in 1...4 {
                clock.advance(by: Engine.waitLimit - .seconds(1))
                origin.sendPiece()
                await eventually { cache.statistics.bytesFetched == Int64(Self.end + count * 1_000) }
            }
            origin.release()
            #expect(try await all.value == Self.bytes)
            #expect(origin.requests.count == 1)
            await cache.close()
            #expect(await !log.all().contains { $0.isStall })
        }
    }
}

extension CacheEvent {
    fileprivate var isStall: Bool { if case .fetchStalled = self { true } else { false } }
}
