import Foundation
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The end of a server in good order.
@Suite(.limit(minutes: 2)) struct DrainTests {
    private static let length: Int64 = 2 << 20
    private static let held: Int64 = 1 << 20

    private static func setTime(_ clock: ManualClock) -> (inout ProxyConfiguration) -> Void {
        { $0.clock = CacheClock(clock, wallClock: { Date() }) }
    }

    /// A client in the middle of a body that the origin holds back.
    private static func begin(_ proxy: ProxyBench) async throws -> RawClient {
        proxy.bench.publish("/film", length: length)
        proxy.bench.origin.hold("/film", at: held)
        let client = try RawClient(port: proxy.server.port)
        try await client.get(proxy.target("/film"))
        #expect(try await client.head().status == 200)
        #expect(try await client.body(1000) == TestPattern.bytes(in: 0..<1000, seed: 1))
        return client
    }

    @Test("the download that a command waits for is not paused because the server ends") func downloads() async throws {
        try await ProxyBench.run { proxy async throws in
            let downloads = proxy.bench.cache.downloads
            proxy.bench.publish("/film", length: Self.length)
            proxy.bench.origin.hold("/film", at: Self.held)
            let resource = try proxy.bench.cache.resource(for: proxy.bench.origin.url("/film"))
            await downloads.commands.join(resource.key, pausing: true)
            try await downloads.add(resource)
            _ = await proxy.server.drain()
            try await downloads.commands.leave(resource.key, isCanceled: true)
            var isPaused = false
            if case .paused = await downloads.list().first?.state { isPaused = true }
            #expect(!isPaused)
        }
    }

    @Test func runningAnswersEndNewOnesAreTheLastAndReadinessSaysSo() async throws {
        let clock = ManualClock()
        try await ProxyBench.run(configureProxy: Self.setTime(clock)) { proxy async throws in
            let running = try await Self.begin(proxy)
            let idle = try RawClient(port: proxy.server.port)
            try await idle.get("/-/ready")
            let ready = try await idle.head()
            #expect(ready.status == 200)
            _ = try await idle.body(try #require(ready.length))

            async let isWhole = proxy.server.drain(delay: .seconds(5), timeout: .seconds(30))
            await clock.waitForSleepers(1)
            // Connections are still accepted and kept, for one more answer each.
            try await idle.get("/-/ready")
            let draining = try await idle.head()
            #expect(draining.status == 503)
            #expect(draining.fields["retry-after"] == "5")
            #expect(draining.fields["connection"] == "close")
            _ = try await idle.body(try #require(draining.length))
            #expect(try await idle.upTo(1).isEmpty)
            proxy.bench.publish("/song", length: 1000)
            let late = try RawClient(port: proxy.server.port)
            try await late.get(proxy.target("/song"))
            let head = try await late.head()
            #expect(head.status == 200)
            #expect(head.fields["connection"] == "close")
            #expect(try await late.upTo(2000) == TestPattern.bytes(in: 0..<1000, seed: 1))

            clock.advance(by: .seconds(5))
            await clock.waitForSleepers(1)
            await eventually { (try? RawClient(port: proxy.server.port)) == nil }
            // The attempt above may have been accepted just before the end; it has a second for its request.
            await eventually { proxy.server.connections == 1 }
            proxy.bench.origin.release("/film")
            #expect(
                try await running.body(Int(Self.length) - 1000) == TestPattern.bytes(in: 1000..<Self.length, seed: 1))
            running.disconnect()
            #expect(await isWhole)
        }
    }

    @Test func anAnswerThatDoesNotEndIsBrokenOffWhenTheTimeIsUp() async throws {
        let clock = ManualClock()
        try await ProxyBench.run(configureProxy: Self.setTime(clock)) { proxy async throws in
            let running = try await Self.begin(proxy)
            async let isWhole = proxy.server.drain(timeout: .seconds(30))
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(29))
            #expect(proxy.server.connections == 1)
            clock.advance(by: .seconds(1))
            #expect(await !isWhole)
            #expect(try await running.upTo(Int(Self.length)).count < Int(Self.length))
        }
    }

    @Test func idleConnectionsAndThoseOfSilentClientsDoNotHoldItUp() async throws {
        try await ProxyBench.run { proxy async throws in
            let (answered, silent) = (try RawClient(port: proxy.server.port), try RawClient(port: proxy.server.port))
            try await answered.get("/-/live")
            #expect(try await answered.head().status == 200)
            await eventually { proxy.server.connections == 2 }
            #expect(await proxy.server.drain(timeout: .seconds(600)))
            #expect(try await silent.upTo(1).isEmpty)
        }
    }

    @Test func listenersToEventsAreEndedAndDoNotHoldItUp() async throws {
        try await ProxyBench.run { proxy async throws in
            let listener = try RawClient(port: proxy.server.port)
            try await listener.get("/-/events")
            #expect(try await listener.head().status == 200)
            await eventually { proxy.server.listeners == 1 }
            #expect(await proxy.server.drain(timeout: .seconds(600)))
            #expect(proxy.server.listeners == 0)
            // Whole: the last chunk is there.
            #expect(String(decoding: try await listener.upTo(1 << 20), as: UTF8.self).hasSuffix("\r\n0\r\n\r\n"))
        }
    }

    @Test func aCanceledDrainBreaksOff() async throws {
        let clock = ManualClock()
        try await ProxyBench.run(configureProxy: Self.setTime(clock)) { proxy async throws in
            let running = try await Self.begin(proxy)
            let task = Task { await proxy.server.drain(delay: .seconds(5), timeout: .seconds(30)) }
            await clock.waitForSleepers(1)
            task.cancel()
            #expect(await !task.value)
            #expect(try await running.upTo(Int(Self.length)).count < Int(Self.length))
        }
    }
}
