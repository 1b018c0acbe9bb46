#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    import Testing
    @testable import RepriseAVPlayer

    extension VirtualClockTests {
        /// Which networks an item may use, from its beginning and while it plays.
        @Suite struct ItemNetworkTests {
            private static func asset(_ item: String, in world: ScriptWorld) throws -> AVURLAsset {
                try #require(world.state.withLock { $0.items[item]?.asset })
            }

            private static func exchanges(_ world: ScriptWorld) -> [NetworkPolicy] {
                world.network.state.withLock { $0.exchanges.map(\.networkPolicy) }
            }

            /// Stores the first 50,000 bytes.
            private static func storeBeginning(of file: ScriptResource, in world: ScriptWorld) async throws {
                try await world.openCache().preload(try world.foundationURL(file), .range(0..<50_000))
                    .finished(in: world)
            }

            /// How playing all of a file with stored bytes only fails: after how many bytes, and why.
            private static func failure(
                _ file: ScriptResource, in world: ScriptWorld
            ) async throws -> (bytes: Int64, error: RepriseError) {
                let before = exchanges(world).count
                try world.makeItem("A", resource: file, options: .storedOnly)
                let all = try await world.ask("all", "A", information: true)
                #expect(await world.wait { all.isOver })
                #expect(all.state.withLock { $0.error?.code } == NSURLErrorCannotOpenFile)
                #expect(exchanges(world).count == before)
                let error = try world.openCache().loadingError(of: try asset("A", in: world))
                return (all.state.withLock { $0.bytes }, try #require(error))
            }

            @Test func anItemThatMayUseStoredBytesOnlyPlaysThemUpToTheFirstHole() async throws {
                let file = try ScriptResource.file(length: 100_000)
                try await ScriptWorld.check([file]) { world in
                    try await Self.storeBeginning(of: file, in: world)
                    let (bytes, error) = try await Self.failure(file, in: world)
                    #expect(bytes == 50_000)
                    #expect(error.code == .notStored)
                    #expect(error.message.hasPrefix("Byte 50000 of "))
                }
            }

            @Test func withNothingStoredItIsAClearError() async throws {
                let file = try ScriptResource.file(length: 100_000)
                try await ScriptWorld.check([file]) { world in
                    let (bytes, error) = try await Self.failure(file, in: world)
                    #expect(bytes == 0)
                    #expect(error.message.contains("is not stored, and this item may use no network"))
                }
            }

            @Test func whatIsAllowedLaterIsFetchedLater() async throws {
                let file = try ScriptResource.file(length: 100_000)
                try await ScriptWorld.check([file]) { world in
                    try await Self.storeBeginning(of: file, in: world)
                    let before = Self.exchanges(world).count
                    try world.makeItem("A", resource: file, options: .storedOnly)
                    let beginning = try await world.ask("beginning", "A", 0, 1000, information: true)
                    #expect(await world.wait { beginning.isOver })
                    try world.openCache().setNetworkPolicy(.inexpensive, for: try Self.asset("A", in: world))
                    let all = try await world.ask("all", "A")
                    #expect(await world.wait { all.isOver })
                    #expect(all.state.withLock { $0.error } == nil)
                    #expect(all.state.withLock { $0.bytes } == file.length)
                    #expect(Set(Self.exchanges(world).dropFirst(before)) == [.inexpensive])
                    try world.openCache().setNetworkPolicy(.never, for: try Self.asset("A", in: world))
                    let stored = try await world.ask("stored", "A", 60_000, 1000)
                    #expect(await world.wait { stored.isOver })
                    #expect(stored.state.withLock { $0.error } == nil)
                }
            }

            /// Of the first request, which finds out what the file is, and of one for a hole.
            @Test(arguments: [false, true])
            func aRequestThatFailsUnderTheOldPolicyIsTriedAgainUnderTheNewOne(_ isKnown: Bool) async throws {
                let file = try ScriptResource.file(length: 300_000)
                var server = ScriptServer()
                server.latencyTicks = 20
                try await ScriptWorld.check([file], servers: [file.name: server]) { world in
                    var options = PlaybackOptions()
                    options.networkPolicy = .inexpensive
                    try world.makeItem("A", resource: file, options: options)
                    if isKnown {
                        let beginning = try await world.ask("beginning", "A", 0, 2, information: true)
                        #expect(await world.wait { beginning.isOver })
                        for _ in 0..<200 { await world.tick() }
                    }
                    let before = Self.exchanges(world).count
                    world.network.state.withLock { $0.isExpensive = true }
                    let read = try await world.ask("read", "A", 200_000, 1000, information: !isKnown)
                    #expect(await world.wait { Self.exchanges(world).count > before })
                    try world.openCache().setNetworkPolicy(.any, for: try Self.asset("A", in: world))
                    #expect(await world.wait { read.isOver })
                    #expect(read.state.withLock { $0.error } == nil)
                    #expect(read.state.withLock { $0.bytes } == 1000)
                    #expect(Self.exchanges(world).dropFirst(before).first == .inexpensive)
                    #expect(Self.exchanges(world).last == .any)
                }
            }

            /// AVFoundation would request it over any network.
            @Test(
                arguments: [
                    (.any, nil), (.never, .notStored), (.inexpensive, .networkUnavailable),
                    (.inexpensiveAndUnconstrained, .networkUnavailable),
                ] as [(NetworkPolicy, RepriseError.Code?)])
            func aSegmentIsLeftToThePlayerIfAnyNetworkMayBeUsed(
                _ policy: NetworkPolicy, _ code: RepriseError.Code?
            ) async throws {
                let list = ScriptResource.playlist("P", pathExtension: "", length: 2000)
                let segment = ScriptResource.segment("T", length: 1000)
                try await ScriptWorld.check([list, segment]) { world in
                    try world.makeItem("A", resource: list)
                    try await world.playAll("A")
                    let (cache, asset) = (try world.openCache(), try Self.asset("A", in: world))
                    cache.setNetworkPolicy(policy, for: asset)
                    let request = ScriptRequest(
                        id: "segment", item: "A", resource: segment, arrivalTick: world.ticks, offset: 0, length: .max,
                        reachesEnd: true, information: nil, versions: Set(1...16))
                    try await world.send(request, url: try world.loaderURL(of: segment))
                    #expect(await world.wait { request.isOver })
                    let isRedirected = request.request?.redirect != nil
                    #expect(isRedirected == (code == nil))
                    let isRefused = request.state.withLock { $0.error != nil }
                    #expect(isRefused == (code != nil))
                    let found = cache.loadingError(of: asset)?.code
                    #expect(found == code)
                }
            }
        }
    }
#endif
