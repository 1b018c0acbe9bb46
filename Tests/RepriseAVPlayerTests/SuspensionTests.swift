import Foundation

#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    import RepriseTesting
    import Testing
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension VirtualClockTests {
        /// Loading requests that are open while the device, or the app, does not run.
        @Suite struct SuspensionTests {
            /// The world's clock, and how long the device has slept in addition.
            private struct Device: Clock {
                let base: CacheClock
                var slept: @Sendable () -> Duration = { .zero }

                typealias Instant = ContinuousClock.Instant
                private static let beginning = ContinuousClock.now

                var now: Instant { Self.beginning.advanced(by: base.elapsed() + slept()) }
                var minimumResolution: Duration { .nanoseconds(1) }
                func sleep(until deadline: Instant, tolerance: Duration?) async throws {
                    try await base.sleep(now.duration(to: deadline))
                }
            }

            private static let night = Duration.seconds(36_000)

            /// Runs `body` with a request that has received some bytes and then none for `wait` ticks.
            private static func run(
                _ body: (ScriptWorld, ScriptRequest, Mutex<Duration>) async throws -> Void
            ) async throws {
                let slept = Mutex(Duration.zero)
                let file = try ScriptResource.file(length: 400_000)
                var server = ScriptServer()
                server.hangAfterBytes = 100_000
                try await ScriptWorld.check(
                    [file], servers: ["A": server],
                    configure: { configuration in
                        let base = configuration.clock
                        configuration.clock = CacheClock(
                            Device(base: base) { slept.withLock { $0 } }, suspending: Device(base: base),
                            wallClock: base.wallClock)
                    }
                ) { world in
                    var options = PlaybackOptions()
                    options.timeout = .seconds(20)
                    try world.makeItem("A", resource: file, options: options)
                    let request = try await world.ask("r", "A", information: true)
                    #expect(await world.wait { request.state.withLock { $0.bytes } >= 50_000 })
                    for _ in 0..<1500 { await world.tick() }
                    #expect(!request.isOver)
                    try await body(world, request, slept)
                    await world.release("A", callbacks: true)
                }
            }

            /// Expects the request to wait for its whole time, and no longer.
            private static func expectWholeTime(_ world: ScriptWorld, _ request: ScriptRequest) async {
                for _ in 0..<1900 { await world.tick() }
                #expect(!request.isOver, "it has less than its 20 s")
                #expect(await world.wait(limit: 800) { request.isOver })
                #expect(request.state.withLock { $0.error?.code } == NSURLErrorTimedOut)
            }

            @Test func aRequestSurvivesANightInWhichTheDeviceSleeps() async throws {
                try await Self.run { world, request, slept in
                    slept.withLock { $0 = Self.night }
                    await Self.expectWholeTime(world, request)
                }
            }

            @Test func aRequestSurvivesANightInWhichTheAppIsSuspended() async throws {
                try await Self.run { world, request, _ in
                    world.clock.advance(by: Self.night)
                    await world.settle()
                    await Self.expectWholeTime(world, request)
                }
            }

            @Test func withoutASuspensionARequestHasItsTimeOnce() async throws {
                try await Self.run { world, request, _ in
                    #expect(await world.wait(limit: 700) { request.isOver })
                    #expect(request.state.withLock { $0.error?.code } == NSURLErrorTimedOut)
                }
            }

            /// A file of unknown length, and one of which the origin sends all and the cache stores nothing.
            @Test(arguments: [true, false])
            func bytesThatComeButCannotBeDeliveredYetAreProgress(_ isLengthUnknown: Bool) async throws {
                let file = try ScriptResource.file(length: 1_500_000)
                var server = ScriptServer()
                if isLengthUnknown {
                    server.hasContentLength = false
                } else {
                    server.ignoresRange = true
                    server.fields["Cache-Control"] = "no-store"
                }
                try await ScriptWorld.check([file], servers: [file.name: server]) { world in
                    var options = PlaybackOptions()
                    // 16 KiB come in 10 ms.
                    options.timeout = .milliseconds(300)
                    try world.makeItem("A", resource: file, options: options)
                    let request = try await world.ask("r", "A", 1_200_000, 1000, information: true)
                    #expect(await world.wait { request.isOver })
                    #expect(request.state.withLock { $0.error } == nil)
                    #expect(request.state.withLock { $0.bytes } == 1000)
                }
            }

            @Test func headersThatCannotBeSentFailTheRequestWithTheirName() async throws {
                let file = try ScriptResource.file()
                for header in [
                    ("Bad Name", "x"), ("", "x"), ("Näme", "x"), ("X-Token", "a\r\nHost: b"), ("X-Token", "a\n"),
                    ("X-Token", "\u{0}"),
                ] {
                    try await ScriptWorld.check([file]) { world in
                        var options = PlaybackOptions()
                        options.headers = ["Authorization": "Bearer secret", header.0: header.1]
                        try world.makeItem("A", resource: file, options: options)
                        let request = try await world.ask("r", "A", information: true)
                        #expect(await world.wait { request.isOver })
                        let error = try #require(request.state.withLock { $0.error })
                        #expect(error.code == NSURLErrorBadURL)
                        #expect(error.userInfo.isEmpty)
                        let asset = try #require(world.state.withLock { $0.items["A"]?.asset })
                        let cause = try world.openCache().loadingError(of: asset)
                        #expect(cause?.code == .invalidArgument)
                        #expect(header.0.isEmpty || cause?.message.contains(header.0) == true)
                        let (cache, url) = (try world.openCache(), try world.foundationURL(file))
                        let preload = await #expect(throws: RepriseError.self) {
                            try await cache.preload(url, options: options).finished()
                        }
                        #expect(preload?.code == .invalidArgument)
                        let removal = await #expect(throws: RepriseError.self) {
                            try await cache.remove(url, options: options)
                        }
                        #expect(removal?.code == .invalidArgument)
                        #expect(await !cache.isCached(url, options: options))
                        #expect(world.origin.snapshot.requestCount == 0)
                    }
                }
            }
        }
    }
#endif
