#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    import Testing
    @testable import RepriseAVPlayer

    extension VirtualClockTests {
        /// When a file is fetched that its player has not requested, and when again.
        @Suite struct ReadAheadTests {
            private static func tick(_ world: ScriptWorld, _ count: Int) async {
                for _ in 0..<count { await world.tick() }
            }

            private static func ask(_ id: String, in world: ScriptWorld) async throws {
                let request = try await world.ask(id, "A", 0, 1000, information: true)
                #expect(await world.wait { request.isOver })
                #expect(request.state.withLock { $0.error } == nil)
            }

            private static func isCached(_ file: ScriptResource, in world: ScriptWorld) async throws -> Bool {
                try await world.openCache().isCached(world.foundationURL(file))
            }

            /// An item whose beginning is stored, and which reads ahead where nothing can be fetched.
            private static func failToReadAhead(
                _ file: ScriptResource, _ policy: NetworkPolicy, in world: ScriptWorld
            ) async throws {
                let url = try world.foundationURL(file)
                try await world.openCache().preload(url, .range(0..<50_000)).finished(in: world)
                world.network.setOffline(true)
                var options = PlaybackOptions()
                options.readAhead = .toEnd
                options.networkPolicy = policy
                try world.makeItem("A", resource: file, options: options)
                try await ask("first", in: world)
                await tick(world, 200)
                world.network.setOffline(false)
            }

            @Test func whatFailedWithoutANetworkIsFetchedWhereThePlayerLeavesNext() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    try await Self.failToReadAhead(file, .any, in: world)
                    await Self.tick(world, 200)
                    try await Self.ask("second", in: world)
                    await Self.tick(world, 300)
                    #expect(try await Self.isCached(file, in: world))
                    await world.release("A", callbacks: false)
                }
            }

            @Test func whatMayUseNoNetworkIsFetchedWhenOneIsAllowed() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    try await Self.failToReadAhead(file, .never, in: world)
                    #expect(try await !Self.isCached(file, in: world))
                    let asset = try #require(world.state.withLock { $0.items["A"]?.asset })
                    try world.openCache().setNetworkPolicy(.any, for: asset)
                    await Self.tick(world, 300)
                    #expect(try await Self.isCached(file, in: world))
                    await world.release("A", callbacks: false)
                }
            }

            @Test func aClipThatIsLeftAtOnceIsNotFetchedWhole() async throws {
                let file = try ScriptResource.file(length: 6_000_000)
                var server = ScriptServer()
                server.ignoresRange = true
                server.latencyTicks = 20
                try await ScriptWorld.check([file], servers: [file.name: server]) { world in
                    try world.makeItem("A", resource: file)
                    let request = try await world.ask("first", "A", 0, 1000, information: true)
                    await Self.tick(world, 2)
                    let asset = try #require(world.state.withLock { $0.items["A"]?.asset })
                    try world.openCache().stopLoading(of: asset)
                    #expect(await world.wait { request.isOver })
                    await Self.tick(world, 600)
                    #expect(try await !Self.isCached(file, in: world))
                    try await Self.ask("again", in: world)
                    // Only the answer to a request for a part proves that the server ignores ranges.
                    let part = try await world.ask("part", "A", 3_000_000, 1000)
                    #expect(await world.wait { part.isOver })
                    #expect(part.state.withLock { $0.error } == nil)
                    await Self.tick(world, 600)
                    #expect(try await Self.isCached(file, in: world))
                    await world.release("A", callbacks: false)
                }
            }
        }
    }
#endif
