#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import ByteRanges
    import Foundation
    import HTTPTypes
    import Primitives
    import Reprise
    import RepriseTesting
    import Testing
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension VirtualClockTests {
        @Suite struct AdapterTests {
            @Test func fairPlayIsRefusedClearly() async throws {
                try await ScriptWorld.check([]) { world in
                    let cache = try world.openCache()
                    let url = try #require(URL(string: "skd://key"))
                    let asset = cache.asset(for: url)
                    let failure = Mutex<NSError?>(nil)
                    let request = AVAssetResourceLoadingRequest(
                        request: URLRequest(url: url),
                        information: AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: nil),
                        data: nil
                    ) { happening in
                        if case .finished(let error) = happening { failure.withLock { $0 = error as NSError? } }
                    }
                    #expect(await asset.resourceLoader.load(request) == true)
                    let error = try #require(failure.withLock { $0 })
                    #expect(error.domain == NSURLErrorDomain)
                    #expect(error.code == NSURLErrorUnsupportedURL)
                    #expect(cache.loadingError(of: asset)?.message.contains("AVContentKeySession") == true)
                }
            }

            /// A misspelled delegate method would silently fall back to the protocol's default, so this calls each as
            /// AVFoundation does.
            @Test func everyMethodOfTheDelegateIsTheLoadersOwn() async throws {
                let file = try ScriptResource.file(length: 10_000)
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("A", resource: file)
                    let request = try await world.ask("r", "A", information: true)
                    let item = try #require(world.state.withLock { $0.items["A"] })
                    let loader = try #require(item.loader.delegate as? LoaderDelegate)
                    #expect(loader.outstanding == 1)
                    await world.cancel(request, callback: true)
                    #expect(loader.outstanding == 0)
                }
            }

            @Test func headersGoWithEveryRequest() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    var options = PlaybackOptions()
                    options.headers = ["Authorization": "Bearer secret", "X-Player": "test"]
                    try world.makeItem("A", resource: file, options: options)
                    let far = try await world.ask("far", "A", 1_000_000, 1000)
                    #expect(await world.wait { far.isOver })
                    let requests = world.origin.snapshot[file.path].requests
                    #expect(requests.count == 2)
                    for request in requests {
                        #expect(request.fields[.authorization] == "Bearer secret")
                        #expect(request.fields[HTTPField.Name("X-Player") ?? .accept] == "test")
                    }
                    await world.release("A", callbacks: false)
                }
            }

            /// The first request, one for a hole, a preload, and the validation of a partly stored file.
            @Test(arguments: [NetworkPolicy.any, .inexpensive, .inexpensiveAndUnconstrained])
            func dataSaverRulesGoWithEveryRequest(_ policy: NetworkPolicy) async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    var options = PlaybackOptions()
                    options.networkPolicy = policy
                    try world.makeItem("A", resource: file, options: options)
                    let probe = try await world.ask("probe", "A", 0, 2, information: true)
                    #expect(await world.wait { probe.isOver })
                    let hole = try await world.ask("hole", "A", 1_000_000, 1000)
                    #expect(await world.wait { hole.isOver })
                    await world.release("A", callbacks: false)
                    for _ in 0..<200 { await world.tick() }
                    let url = try world.foundationURL(file)
                    try await world.openCache().preload(url, .range(500_000..<600_000), options: options)
                        .finished(in: world)
                    try world.makeItem("B", resource: file, options: options)
                    let again = try await world.ask("again", "B", 0, 2, information: true)
                    #expect(await world.wait { again.isOver })
                    let exchanges = world.network.state.withLock { $0.exchanges }
                    #expect(exchanges.map(\.method) == ["GET", "GET", "GET", "HEAD"])
                    #expect(exchanges.map(\.networkPolicy) == Array(repeating: policy, count: 4))
                }
            }

            @Test func aFileTypeOfTheAppsWins() async throws {
                let file = try ScriptResource.file(mime: "audio/mpeg", pathExtension: "mp3")
                try await ScriptWorld.check([file]) { world in
                    var options = PlaybackOptions()
                    options.fileType = "m4a"
                    try world.makeItem("A", resource: file, options: options)
                    let probe = try await world.ask("probe", "A", 0, 2, information: true)
                    #expect(await world.wait { probe.isOver })
                    #expect(probe.information?.contentType == "com.apple.m4a-audio")
                }
            }

            @Test func anItemThatIsNotStoredLeavesNothing() async throws {
                let file = try ScriptResource.file()
                try await ScriptWorld.check([file]) { world in
                    var options = PlaybackOptions()
                    options.isStored = false
                    try world.makeItem("A", resource: file, options: options)
                    try await world.playAll("A")
                    #expect(try world.openCache().storedBytes == 0)
                }
            }

            @Test func readAheadGoesSoFarBeyondThePlayer() async throws {
                let file = try ScriptResource.file()
                for (readAhead, expected) in [
                    (PlaybackOptions.ReadAhead.ahead(500_000), Int64(600_000)..<700_000),
                    (.toEnd, 1_500_000..<1_500_001),
                ] {
                    try await ScriptWorld.check([file]) { world in
                        var options = PlaybackOptions()
                        options.readAhead = readAhead
                        try world.makeItem("A", resource: file, options: options)
                        let request = try await world.ask("r", "A", information: true)
                        #expect(await world.wait { request.state.withLock { $0.bytes } >= 100_000 })
                        await world.cancel(request, callback: true)
                        for _ in 0..<300 { await world.tick() }
                        #expect(expected.contains(world.bytesFetched), "\(readAhead): \(world.bytesFetched)")
                        await world.release("A", callbacks: false)
                    }
                }
            }

            @Test func aReleasedItemReadsNothingAheadAnyMore() async throws {
                let file = try ScriptResource.file(length: 6_000_000)
                try await ScriptWorld.check([file]) { world in
                    var options = PlaybackOptions()
                    options.readAhead = .toEnd
                    try world.makeItem("A", resource: file, options: options)
                    let request = try await world.ask("r", "A", 0, 10_000, information: true)
                    #expect(await world.wait { request.isOver })
                    for _ in 0..<20 { await world.tick() }
                    await world.release("A", callbacks: false)
                    for _ in 0..<200 { await world.tick() }
                    #expect(world.network.openExchanges == 0)
                    #expect(world.bytesFetched < 1_000_000)
                }
            }

            @Test func stoppingFailsWhatIsUnderWayAndFreesTheConnection() async throws {
                let file = try ScriptResource.file(length: 6_000_000)
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("A", resource: file)
                    let request = try await world.ask("r", "A", information: true)
                    #expect(await world.wait { request.state.withLock { $0.bytes } >= 100_000 })
                    let asset = try #require(world.state.withLock { $0.items["A"]?.asset })
                    try world.openCache().stopLoading(of: asset)
                    #expect(await world.wait(limit: 200) { world.network.openExchanges == 0 })
                    #expect(request.state.withLock { $0.error?.code } == NSURLErrorCancelled)
                    let later = try await world.ask("later", "A", 200_000, 1000)
                    #expect(await world.wait { later.isOver })
                    #expect(later.state.withLock { $0.bytes } == 1000)
                }
            }

            @Test func progressTellsWhatIsStoredAsItComes() async throws {
                let file = try ScriptResource.file(length: 400_000)
                try await ScriptWorld.check([file]) { world in
                    let cache = try world.openCache()
                    let url = try world.foundationURL(file)
                    let seen = Mutex<[StoredProgress]>([])
                    let watcher = Task {
                        for await progress in cache.progress(of: url) {
                            seen.withLock { $0.append(progress) }
                            if progress.isComplete { return }
                        }
                    }
                    await world.settle()
                    try world.makeItem("A", resource: file)
                    try await world.playAll("A")
                    for _ in 0..<30 { await world.tick() }
                    await watcher.value
                    let all = seen.withLock { $0 }
                    #expect(all.first?.fraction == 0)
                    #expect(all.last?.fractions == [0...1])
                    #expect(all.count >= 3)
                    #expect(zip(all, all.dropFirst()).allSatisfy { $0.ranges.byteCount <= $1.ranges.byteCount })
                    #expect(await cache.isCached(url))
                    try world.makeItem("B", resource: file)
                    try await world.playAll("B")
                    #expect(await cache.progress(of: url).first().statistics.bytesSaved == 400_000)
                }
            }

            @Test func aPreloadIsJoinedByPlaybackAndCanBeCanceled() async throws {
                let file = try ScriptResource.file(length: 3_000_000)
                try await ScriptWorld.check([file]) { world in
                    let cache = try world.openCache()
                    let url = try world.foundationURL(file)
                    let preload = cache.preload(url, .bytes(1_000_000))
                    #expect(await world.wait { world.bytesFetched >= 100_000 })
                    try world.makeItem("A", resource: file)
                    let request = try await world.ask("r", "A", 0, 500_000, information: true)
                    #expect(await world.wait { request.isOver })
                    preload.cancel()
                    for _ in 0..<200 { await world.tick() }
                    #expect(world.bytesFetched < 900_000)
                    #expect(world.network.state.withLock { $0.duplicates["A"] ?? 0 } == 0)
                    #expect(world.network.openExchanges == 0)
                }
            }

            @Test(.alsoLate) func aQueuePlayersLastItemStopsAndItsNextIsFetchedAhead() async throws {
                let files = try ["A", "B", "C"].map { try ScriptResource.file($0, length: 5_000_000) }
                try await ScriptWorld.check(files) { world in
                    let cache = try world.openCache()
                    for file in files { try world.makeItem(file.name, resource: file) }
                    let player = await Self.player(world, ["A", "B", "C"])
                    await MainActor.run { cache.follow(player, preloading: .bytes(300_000)) }
                    await Self.letObserversRun()
                    let first = try await world.ask("a", "A", 0, 1_000_000, information: true)
                    #expect(await world.wait { first.isOver })
                    // Playback goes first: the next item is fetched while the player is not waiting.
                    for _ in 0..<400 { await world.tick() }
                    let stored = try await cache.resource(for: world.url(of: files[1])).storedProgress().ranges
                    #expect(stored.contains(0..<300_000))
                    #expect(stored.byteCount < 400_000)
                    let request = try await world.ask("b", "A", 1_000_000, 4_000_000)
                    #expect(await world.wait { request.state.withLock { $0.bytes } >= 100_000 })
                    await MainActor.run { player.advanceToNextItem() }
                    await Self.letObserversRun()
                    #expect(await world.wait { request.isOver })
                    #expect(request.state.withLock { $0.error?.code } == NSURLErrorCancelled)
                    for _ in 0..<400 { await world.tick() }
                    let third = try await cache.resource(for: world.url(of: files[2])).storedProgress().ranges
                    #expect(third.contains(0..<300_000))
                    #expect(world.network.openExchanges == 0)
                    await MainActor.run { player.removeAllItems() }
                }
            }

            /// Those of an `AVPlayerLooper` are.
            @Test(.alsoLate) func anItemThatIsACopyOfTheOneThatWasLeftGoesOnLoading() async throws {
                let file = try ScriptResource.file(length: 5_000_000)
                try await ScriptWorld.check([file]) { world in
                    let cache = try world.openCache()
                    try world.makeItem(file.name, resource: file)
                    let player = await Self.loop(world, file.name)
                    await MainActor.run { cache.follow(player, ahead: 0) }
                    let request = try await world.ask("a", file.name, 0, 1_000_000, information: true)
                    #expect(await world.wait { request.state.withLock { $0.bytes } >= 100_000 })
                    await MainActor.run { player.advanceToNextItem() }
                    await Self.letObserversRun()
                    #expect(await world.wait { request.isOver })
                    #expect(request.state.withLock { $0.error } == nil)
                    await MainActor.run { player.removeAllItems() }
                }
            }

            /// Two items of one asset.
            @MainActor private static func loop(_ world: ScriptWorld, _ name: String) -> AVQueuePlayer {
                let item = world.state.withLock { $0.items[name]?.item }
                return AVQueuePlayer(items: [item, item.map { AVPlayerItem(asset: $0.asset) }].compactMap { $0 })
            }

            /// Observers are called on the main actor, for which the world's time does not wait.
            private static func letObserversRun() async { await MainActor.run {} }

            @MainActor private static func player(_ world: ScriptWorld, _ names: [String]) -> AVQueuePlayer {
                AVQueuePlayer(items: names.compactMap { name in world.state.withLock { $0.items[name]?.item } })
            }
        }
    }
#endif
