import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("Requests that wait for a connection, and bodies that keep one", .limit(minutes: 1))
struct QueueTests {
    /// A client with that many connections, with an origin that holds back the heads of `/held`.
    private func run(
        connections: Int = 1, _ configure: (inout NIOOrigin.Configuration) -> Void = { _ in },
        _ body: (TestOrigin, NIOOrigin) async throws -> Void
    ) async throws {
        let origin = try await TestOrigin.start(sendBufferSize: 65_536)
        for path in ["/held", "/a", "/b", "/c"] { origin.set(.init(.pattern(seed: 1, length: 10)), at: path) }
        origin.set(.init(.pattern(seed: 2, length: Self.length)), at: "/long")
        origin.holdHeads("/held")
        try await withClient {
            $0.maximumConnectionsPerHost = connections
            configure(&$0)
        } _: { client in
            try await body(origin, client)
        }
        await origin.stop()
    }

    private static let length: Int64 = 16 << 20

    private func request(_ url: String, _ demand: Demand = .playing, _ interest: RequestInterest? = nil) throws
        -> OriginRequest
    {
        var request = OriginRequest(url: try ResourceURL(url))
        request.demand = demand
        request.context.interest = interest
        return request
    }

    private func queued(_ count: Int, by client: NIOOrigin) async {
        await eventually { client.queuedRequests == count }
    }

    @Test func theHighestClassGetsTheNextConnection() async throws {
        try await run { origin, client in
            async let held = client.get(origin.url("/held")).body.bytes()
            await origin.waitUntil { $0.requestCount >= 1 }
            let requests = try [("/a", Demand.download), ("/b", .playing), ("/c", .preload)].map {
                try request(origin.url($0.0), $0.1)
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for (count, request) in requests.enumerated() {
                    group.addTask { try await client.send(request).body.bytes().count }
                    await queued(count + 1, by: client)
                }
                origin.release("/held")
                for try await count in group { #expect(count == 10) }
            }
            _ = try await held
            #expect(origin.snapshot.requests.map(\.path) == ["/held", "/b", "/c", "/a"])
        }
    }

    @Test func aQueuedRequestIsWithdrawnWhenNothingWantsIt() async throws {
        try await run { origin, client in
            async let held = client.get(origin.url("/held")).body.bytes()
            await origin.waitUntil { $0.requestCount >= 1 }
            let interest = RequestInterest(.playing)
            let request = try request(origin.url("/a"), .playing, interest)
            let dead = Task { try await client.send(request) }
            await queued(1, by: client)
            interest.change(to: nil)
            await #expect(throws: CancellationError.self) { _ = try await dead.value }
            origin.release("/held")
            _ = try await held
            #expect(origin.snapshot.requestCount == 1)
        }
    }

    @Test(arguments: [false, true])
    func aRequestWithoutAHeadThatNothingWantsEndsForOneThatWaits(waitsFirst: Bool) async throws {
        try await run { origin, client in
            let interest = RequestInterest(.playing)
            let request = try request(origin.url("/held"), .playing, interest)
            let dead = Task { try await client.send(request) }
            await origin.waitUntil { $0.requestCount >= 1 }
            if !waitsFirst { interest.change(to: nil) }
            let live = Task { try await client.get(origin.url("/a")).body.bytes().count }
            if waitsFirst {
                await queued(1, by: client)
                interest.change(to: nil)
            }
            #expect(try await live.value == 10)
            await #expect(throws: CancellationError.self) { _ = try await dead.value }
        }
    }

    @Test func aRequestThatNothingWantsRunsOnWhileNothingElseWaits() async throws {
        try await run(connections: 2) { origin, client in
            let interest = RequestInterest(.playing)
            let request = try request(origin.url("/held"), .playing, interest)
            let running = Task { try await client.send(request) }
            await origin.waitUntil { $0.requestCount >= 1 }
            interest.change(to: nil)
            #expect(try await client.get(origin.url("/a")).body.bytes().count == 10)
            origin.release("/held")
            #expect(try await running.value.head.status == .ok)
        }
    }

    @Test func aRequestThatQueuesTooLongTimesOut() async throws {
        try await run {
            $0.queueTimeout = .milliseconds(20)
        } _: { origin, client in
            async let held = client.get(origin.url("/held")).body.bytes()
            await origin.waitUntil { $0.requestCount >= 1 }
            let error = await #expect(throws: RepriseError.self) { try await client.get(origin.url("/a")) }
            #expect(error?.code == .originTimedOut)
            #expect(error?.message.contains("connections") == true)
            #expect(error?.cause is ConnectionQueueTimeout)
            origin.release("/held")
            _ = try await held
            #expect(origin.snapshot.requestCount == 1)
        }
    }

    @Test func aBodyThatIsNotPulledLendsItsPlaceAndThenGoesOn() async throws {
        try await run {
            $0.parkingTime = .milliseconds(1)
        } _: { origin, client in
            let body = try await client.get(origin.url("/long")).body
            let first = try #require(await body.next())
            #expect(try await client.get(origin.url("/a")).body.bytes().count == 10)
            let rest = try await body.bytes()
            #expect(Int64(first.count + rest.count) == Self.length)
            #expect(rest == TestPattern.bytes(in: Int64(first.count)..<Self.length, seed: 2))
            #expect(origin.snapshot["/long"].requestCount == 1)
        }
    }

    @Test func aBodyOfALowerClassLendsItsPlaceToARequestOfAHigherOne() async throws {
        try await run { origin, client in
            let body = try await client.send(try request(origin.url("/long"), .preload)).body
            #expect(try await client.get(origin.url("/a")).body.bytes().count == 10)
            #expect(try await body.bytes() == TestPattern.bytes(in: 0..<Self.length, seed: 2))
        }
    }

    @Test func whereTooManyBodiesAreParkedTheFirstIsGivenUp() async throws {
        try await run {
            $0.parkingTime = .milliseconds(1)
            $0.maximumThrottledPerHost = 0
        } _: { origin, client in
            let body = try await client.get(origin.url("/long")).body
            #expect(try await client.get(origin.url("/a")).body.bytes().count == 10)
            #expect(await failureCode { try await body.bytes() } == .originBodyTruncated)
        }
    }
}
