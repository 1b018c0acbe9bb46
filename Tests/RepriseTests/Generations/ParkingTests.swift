import Foundation
import HTTPTypes
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Fetches whose readers have stopped reading.
@Suite(.limit(minutes: 2)) struct ParkingTests {
    private static let length: Int64 = 1 << 19

    private static func client(connections: Int = 16, parkingTime: Duration) -> NIOOrigin {
        var configuration = NIOOrigin.Configuration()
        configuration.maximumConnectionsPerHost = connections
        configuration.parkingTime = parkingTime
        return NIOOrigin(configuration: configuration)
    }

    @Test func readersThatStopReadingDoNotLockOthersOutAndLaterGoOnWithARange() async throws {
        let clock = ManualClock()
        // The client alone would not notice for an hour, and no failure may be retried.
        let client = Self.client(parkingTime: .seconds(3600))
        try await Bench.run(
            sendBufferSize: 4 << 10, client: client,
            configure: {
                $0.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) }
                $0.parkingTime = .seconds(5)
                $0.retry.attempts = 0
                $0.retry.timeouts = 0
            }
        ) { bench async throws in
            var reads: [(path: String, read: MediaRead, first: [UInt8])] = []
            for number in 0..<16 {
                let path = "/film\(number)"
                bench.publish(path, length: Self.length, seed: UInt64(number))
                let read = try await bench.cache.resource(for: bench.origin.url(path)).read()
                reads.append((path, read, try #require(try await read.nextBytes())))
            }
            bench.publish("/song", length: 1000)
            let song = Task { try await bench.bytes("/song") }
            // One timer for each parked fetch, and one for all waits.
            await clock.waitForSleepers(17)
            clock.advance(by: .seconds(5))
            #expect(try await song.value == TestPattern.bytes(in: 0..<1000, seed: 1))
            for (number, (path, read, first)) in reads.enumerated() {
                let rest = try await read.collect()
                #expect(first + rest == TestPattern.bytes(in: 0..<Self.length, seed: UInt64(number)))
                let requests = bench.origin.snapshot[path].requests.dropFirst()
                #expect(requests.allSatisfy { $0.fields[.ifRange] == "\"v1\"" && $0.range != nil })
            }
            #expect(bench.cache.statistics.bytesFetched == 16 * Self.length + 1000, "no byte came twice")
        }
    }

    @Test(arguments: [false, true])
    func aBodyThatCannotGoOnWithARangeLendsItsPlace(isStored: Bool) async throws {
        let client = Self.client(connections: 1, parkingTime: .milliseconds(1))
        try await Bench.run(
            sendBufferSize: 4 << 10, client: client, configure: { $0.parkingTime = .milliseconds(1) }
        ) { bench async throws in
            bench.publish("/film", length: Self.length, etag: nil) {
                if !isStored { $0.fields = [.cacheControl: "no-store"] }
            }
            bench.publish("/song", length: 1000)
            let read = try await bench.cache.resource(for: bench.origin.url("/film")).read()
            let first = try #require(try await read.nextBytes())
            #expect(try await bench.bytes("/song").count == 1000)
            #expect(try await first + read.collect() == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            #expect(bench.origin.snapshot["/film"].requestCount == 1)
        }
    }

    @Test func aReaderThatLeavesAFetchWithoutAConnectionCausesNoRequest() async throws {
        let clock = ManualClock()
        try await Bench.run(
            sendBufferSize: 4 << 10,
            configure: { $0.clock = CacheClock(clock) { Date(timeIntervalSince1970: 1_800_000_000) } }
        ) { bench async throws in
            bench.publish("/film", length: Self.length)
            let read = try await bench.cache.resource(for: bench.origin.url("/film")).read()
            _ = try await read.next()
            while bench.origin.snapshot.openConnections > 0 {
                clock.advance(by: .seconds(1))
                await breathe()
            }
            read.cancel()
            while !bench.cache.isIdle {
                clock.advance(by: .seconds(1))
                await breathe()
            }
            #expect(bench.origin.snapshot.requestCount == 1)
        }
    }
}
