import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("Cancellation and shutdown of the URLSession client", .limit(minutes: 1))
struct LifetimeTests {
    @Test func cancelingKeepsWhatIsBuffered() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000_000), at: "/a")
            origin.hold("/a", at: 100_000)
            let body = try await client.get(origin.url("/a")).body
            try await body.waitUntilBuffered(100_000)
            body.cancel()
            body.cancel()
            #expect(try await body.bytes() == pattern(0..<100_000))
            #expect(try await body.next() == nil)
            await origin.waitUntil { $0.openConnections == 0 }
        }
    }

    @Test func cancelingWakesAConsumerThatWaits() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000_000), at: "/a")
            origin.hold("/a", at: 100_000)
            let body = try await client.get(origin.url("/a")).body
            async let bytes = body.bytes()
            await origin.waitUntil { $0["/a"].bodyBytesSent == 100_000 }
            body.cancel()
            let count = try await bytes.count
            #expect(count <= 100_000)
        }
    }

    @Test func aCanceledTaskGetsWhatIsBufferedAndThenTheCancellation() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000_000), at: "/a")
            origin.hold("/a", at: 100_000)
            let body = try await client.get(origin.url("/a")).body
            try await body.waitUntilBuffered(100_000)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                var count = 0
                do {
                    while let chunk = try await body.next() { count += chunk.count }
                    Issue.record("a cut body is not complete")
                } catch is CancellationError {}
                return count
            }
            #expect(try await task.value == 100_000)
            await origin.waitUntil { $0.openConnections == 0 }
        }
    }

    @Test func aCanceledSendEndsItsTransfer() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/a")
            origin.holdHeads("/a")
            let task = Task { try await client.get(origin.url("/a")) }
            await origin.waitUntil { $0.requestCount >= 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await origin.waitUntil { $0.openConnections == 0 }
        }
    }

    @Test func aTaskThatIsCanceledAlreadySendsNothing() async throws {
        try await withOrigin { origin, client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.get(origin.url("/a"))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func cancelingAtAnyMomentOfARedirectIsSafe() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/target")
            origin.set(resource(10) { $0.redirect = "/target" }, at: "/from")
            await withTaskGroup(of: Void.self) { group in
                for round in 0..<100 {
                    group.addTask {
                        let task = Task { try await client.get(origin.url("/from")).body.bytes() }
                        for _ in 0..<round * 3 { await Task.yield() }
                        task.cancel()
                        _ = await task.result
                    }
                    if round % 4 == 3 { await group.waitForAll() }
                }
            }
            let bytes = try await client.get(origin.url("/from")).body.bytes()
            #expect(bytes == pattern(0..<1_000))
        }
    }

    @Test func aBodyThatNobodyHoldsEndsItsTransfer() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000_000), at: "/a")
            origin.hold("/a", at: 100_000)
            _ = try await client.get(origin.url("/a")).body.next()
            await origin.waitUntil { $0.openConnections == 0 }
        }
    }

    @Test func shutdownFailsWhatIsUnderWayAndWhatComesLater() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000_000), at: "/a")
            origin.set(resource(1_000_000), at: "/b")
            origin.hold("/a", at: 100_000)
            origin.holdHeads("/b")
            let body = try await client.get(origin.url("/a")).body
            try await body.waitUntilBuffered(100_000)
            async let sending = failureCode { try await client.get(origin.url("/b")) }
            await origin.waitUntil { $0["/b"].requestCount >= 1 }
            await client.shutdown()
            await client.shutdown()
            #expect(await sending == .closed)
            var count = 0
            let code = await failureCode { while let chunk = try await body.next() { count += chunk.count } }
            #expect(code == .closed)
            #expect(count == 100_000)
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .closed)
            await origin.waitUntil { $0.openConnections == 0 }
        }
    }

    @Test("A client that is released releases its session", arguments: [true, false])
    func aClientThatIsLetGoLetsItsSessionGo(_ isShutDown: Bool) async throws {
        let origin = try await TestOrigin.start()
        origin.set(resource(1_000), at: "/a")
        weak var delegate: SessionDelegate?
        do {
            let client = URLSessionOrigin()
            delegate = client.delegate
            #expect(try await client.get(origin.url("/a")).body.bytes().count == 1_000)
            if isShutDown { await client.shutdown() }
        }
        await eventually { delegate == nil }
        #expect(delegate == nil)
        await origin.stop()
    }

    @Test func aBodyOutlivesItsClient() async throws {
        let origin = try await TestOrigin.start()
        origin.set(resource(1_000_000), at: "/a")
        origin.hold("/a", at: 1_000)
        var client: URLSessionOrigin? = URLSessionOrigin()
        let body = try #require(try await client?.get(origin.url("/a"))).body
        client = nil
        origin.release("/a")
        #expect(try await body.bytes() == pattern(0..<1_000_000))
        await origin.stop()
    }
}
