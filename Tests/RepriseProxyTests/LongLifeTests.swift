import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Plays that last for hours and pauses that last for a night, on real sockets; only the clock is advanced by hand.
@Suite(.limit(minutes: 2)) struct LongLifeTests {
    private static let length: Int64 = 24 << 20
    private static let step = 64 << 10

    /// A proxy on one event loop whose clock is `clock`.
    private static func run(
        _ clock: ShiftableClock, publish: (Bench) -> Void = { $0.publish("/film.mp4", length: length) },
        _ body: (ProxyBench) async throws -> Void
    ) async throws {
        try await ProxyBench.run(
            configureProxy: {
                $0.clock = clock.cacheClock
                $0.threads = 1
                // The loop checks its connections every ten milliseconds.
                $0.headTimeout = .milliseconds(40)
            },
            configure: { $0.clock = clock.cacheClock }
        ) { proxy async throws in
            publish(proxy.bench)
            try await body(proxy)
        }
    }

    /// Advances the clock by `time`, and returns when the proxy has checked its connections since, which closes a
    /// connection without a request.
    private static func pass(_ time: Duration, _ clock: ShiftableClock, _ proxy: ProxyBench) async throws {
        let silent = try RawClient(port: proxy.server.port)
        // It must be seen once before the time passes, or its time would start afterwards.
        try await silent.send("GET")
        clock.shift(by: time)
        // In steps of its deadline, because it may be seen for the first time only now.
        while try await silent.receivesNothing() { clock.shift(by: .milliseconds(40)) }
    }

    @Test(
        "a film of ten hours, read as it plays, is complete: stored or not, kept alive or not",
        arguments: [true, false], ["keep-alive", "close"])
    func tenHours(isStored: Bool, connection: String) async throws {
        let clock = ShiftableClock()
        try await Self.run(clock) { proxy async throws in
            if isStored { _ = try await proxy.bench.bytes("/film.mp4") }
            let player = try RawClient(port: proxy.server.port, receiveBufferSize: 32 << 10)
            try await player.get(proxy.target("/film.mp4"), ["Connection: \(connection)"])
            #expect(try await player.head().length == Int(Self.length))
            var position = Int64(0)
            for _ in 0..<144 {
                let bytes = try await player.body(Self.step)
                #expect(bytes == TestPattern.bytes(in: position..<position + Int64(Self.step), seed: 1))
                position += Int64(Self.step)
                try await Self.pass(.seconds(250), clock, proxy)
            }
            let rest = Int(Self.length - position)
            #expect(try await player.skip(rest) == rest)
        }
    }

    @Test(
        "a player that is paused for a night is disconnected, and continues with a range", arguments: [true, false])
    func night(isStored: Bool) async throws {
        let clock = ShiftableClock()
        try await Self.run(clock) { proxy async throws in
            if isStored { _ = try await proxy.bench.bytes("/film.mp4") }
            let player = try RawClient(port: proxy.server.port, receiveBufferSize: 32 << 10)
            try await player.get(proxy.target("/film.mp4"))
            #expect(try await player.head().status == 200)
            #expect(try await player.body(Self.step).count == Self.step)
            // Within ten minutes it may continue.
            try await Self.pass(.seconds(550), clock, proxy)
            await eventually { proxy.server.connections == 1 }
            for _ in 0..<36 { try await Self.pass(.seconds(1000), clock, proxy) }
            await eventually { proxy.server.connections == 0 }
            // Bytes already in the kernel still arrive.
            let had = try await player.skip(Int(Self.length))
            #expect(had < Int(Self.length) - Self.step)
            let position = Int64(Self.step + had)
            let rest = try await proxy.get("/film.mp4", ["Range: bytes=\(position)-"])
            #expect(rest.head.status == 206)
            let isRight = rest.body == TestPattern.bytes(in: position..<Self.length, seed: 1)
            #expect(isRight, "all the rest, and of the same film")
        }
    }

    @Test("real time: a hit that takes longer than the idle time of two seconds is complete")
    func aHitLongerThanTheIdleTime() async throws {
        try await ProxyBench.run(configureProxy: {
            $0.idleTimeout = .seconds(2)
            $0.headTimeout = .seconds(2)
        }) { proxy async throws in
            proxy.bench.publish("/film.mp4", length: Self.length)
            _ = try await proxy.bench.bytes("/film.mp4")
            let player = try RawClient(port: proxy.server.port, receiveBufferSize: 32 << 10)
            try await player.get(proxy.target("/film.mp4"))
            #expect(try await player.head().length == Int(Self.length))
            for _ in 0..<2 {
                #expect(try await player.skip(Self.step) == Self.step)
                // Closed after two seconds.
                #expect(try await RawClient(port: proxy.server.port).upTo(1).isEmpty)
            }
            let rest = Int(Self.length) - 2 * Self.step
            #expect(try await player.skip(rest) == rest)
            #expect(try await player.upTo(1).isEmpty, "and closed when it is idle")
        }
    }

    @Test(
        "a client that reads nothing is disconnected, hit or miss, kept alive or not",
        arguments: [true, false], ["keep-alive", "close"])
    func nothingTaken(isStored: Bool, connection: String) async throws {
        try await ProxyBench.run(configureProxy: { $0.stallTimeout = .milliseconds(200) }) { proxy async throws in
            proxy.bench.publish("/film.mp4", length: Self.length)
            if isStored { _ = try await proxy.bench.bytes("/film.mp4") }
            let client = try RawClient(port: proxy.server.port, receiveBufferSize: 32 << 10)
            try await client.get(proxy.target("/film.mp4"), ["Connection: \(connection)"])
            #expect(try await client.head().status == 200)
            await eventually { proxy.server.connections == 0 }
            #expect(try await client.skip(Int(Self.length)) < Int(Self.length))
            await proxy.becomeIdle()
        }
    }

    @Test("a client that reads slowly all the time is not taken for one that reads nothing", arguments: [true, false])
    func slowly(isStored: Bool) async throws {
        let clock = ShiftableClock()
        try await Self.run(clock) { proxy async throws in
            if isStored { _ = try await proxy.bench.bytes("/film.mp4") }
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/film.mp4"))
            #expect(try await client.head().length == Int(Self.length))
            // Its kernel acknowledges bytes only occasionally. In total this takes longer than the ten minutes in which
            // nothing may be read.
            for _ in 0..<80 {
                try #require(try await client.skip(14_000) == 14_000)
                try await Self.pass(.seconds(10), clock, proxy)
            }
            let rest = Int(Self.length) - 80 * 14_000
            #expect(try await client.skip(rest) == rest)
        }
    }
}
