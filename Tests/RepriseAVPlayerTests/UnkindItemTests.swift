#if REPRISE_AVFOUNDATION_STAND_IN && Streams
    import AVFoundation
    import Foundation
    import HTTPTypes
    import Primitives
    import Reprise
    import RepriseHTTPClient
    import RepriseStreams
    import RepriseTesting
    import TestLimits
    import Testing

    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension StreamSite {
        /// Stores all that the feed of these URLs has.
        fileprivate func preloadAll(_ urls: [URL], options: PlaybackOptions = PlaybackOptions()) async {
            cache.preload(urls, options: options) { _ in .all }
            await eventually { cache.preloads.list.allSatisfy { Self.isOver($0) } }
        }

        private static func isOver(_ preload: Preload) -> Bool {
            switch preload.state {
            case .queued, .running: false
            case .done, .failed: true
            }
        }

        /// A live list of one segment, without anything by which it could be validated.
        fileprivate func publishLive(_ name: String, number: Int) {
            let list =
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXTINF:1,\n\(name).ts\n"
            origin.set(
                TestOrigin.Resource(
                    .bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: nil,
                    lastModified: nil, fields: [.cacheControl: "no-cache"]),
                at: "/live/list.m3u8")
        }

        /// Loads the live list until the origin is asked for it.
        fileprivate func reloadLive(_ url: URL) async throws {
            let before = origin.snapshot["/live/list.m3u8"].requestCount
            try await eventually {
                _ = try await load(url)
                return await origin.settledSnapshot()["/live/list.m3u8"].requestCount > before
            }
        }
    }

    /// Items, feeds, casts and removals of an app that its users do not treat gently.
    @Suite(.limit(minutes: 2)) struct UnkindItemTests {
        // MARK: - Options

        /// `cacheKey` belongs to one item; another item of the same URL must not be stored under it.
        @Test func theKeyOfOneItemIsNotThatOfTheNext() async throws {
            try await StreamSite.run { site in
                let url = try site.url()
                var options = PlaybackOptions()
                options.cacheKey = CacheKey("episode 7")
                let keyed = site.cache.asset(for: url, options: options)
                let plain = site.cache.asset(for: url)
                try await site.play(plain)
                let isCached = await site.cache.isCached(url)
                #expect(isCached, "it was played without a key")
                let isCachedUnderKey = await site.cache.isCached(url, options: options)
                #expect(!isCachedUnderKey, "the item with the key was never played")
                withExtendedLifetime([keyed, plain]) {}
            }
        }

        /// `isStored = false` promises that nothing is stored (a private mode), and a feed takes the items' options.
        @Test(arguments: ["/a.mp3", "/s/list.m3u8"])
        func aFeedOfWhatIsNotToBeStoredStoresNothing(path: String) async throws {
            try await StreamSite.run { site in
                var options = PlaybackOptions()
                options.isStored = false
                await site.preloadAll([try site.url(path)], options: options)
                await eventually { site.cache.isIdle }
                let entries = try await site.cache.entries()
                #expect(entries.isEmpty)
            }
        }

        /// A refused token is one item's; the other item, with a good one, must not fail with it.
        @Test func aRefusedTokenOfOneItemDoesNotFailAnother() async throws {
            try await StreamSite.run { site in
                site.origin.set(
                    TestOrigin.Resource(
                        .pattern(seed: 3, length: 50_000), mediaType: "audio/mpeg",
                        personality: TestOrigin.Personality { $0.demandedAuthorization = "Bearer new" }),
                    at: "/private.mp3")
                var (old, new) = (PlaybackOptions(), PlaybackOptions())
                old.headers = ["Authorization": "Bearer old"]
                new.headers = ["Authorization": "Bearer new"]
                let url = try site.url("/private.mp3")
                let first = try site.cache.address(for: url, options: old)
                let second = try site.cache.address(for: url, options: new)
                let (firstURL, secondURL) = (first.url, second.url)
                site.origin.holdHeads("/private.mp3")
                let refused = Task { try? await site.load(firstURL) }
                await site.origin.waitUntil { $0["/private.mp3"].requestCount > 0 }
                let allowed = Task { try? await site.load(secondURL) }
                // So that the second finds the first under way; what is expected does not depend on it.
                for _ in 0..<20 { await breathe() }
                site.origin.release("/private.mp3")
                let refusedStatus = await refused.value?.status
                #expect(refusedStatus != 200)
                let answer = await allowed.value
                let file = try #require(answer)
                #expect(file.status == 200)
                #expect(file.bytes.count == 50_000)
                withExtendedLifetime([first, second]) {}
            }
        }

        // MARK: - Feeds and queues

        /// A scroll callback sets lists all the time: what is in each of them goes on, what is in none never begins.
        @Test func twoHundredListsCostOneRequest() async throws {
            try await StreamSite.run { site in
                let lists = [
                    [try site.url("/a.mp3"), try site.url("/b.mp3")], [try site.url("/a.mp3"), try site.url("/c.mp3")],
                ]
                site.origin.holdHeads("/a.mp3")
                site.cache.preload(lists[0]) { _ in .all }
                await site.origin.waitUntil { $0["/a.mp3"].requestCount > 0 }
                for index in 0..<200 { site.cache.preload(lists[index % 2]) { _ in .all } }
                site.cache.preload(lists[0]) { _ in .all }
                site.origin.release("/a.mp3")
                await site.preloadAll(lists[0])
                let snapshot = await site.origin.settledSnapshot()
                #expect(snapshot["/a.mp3"].requestCount == 1)
                #expect(snapshot["/c.mp3"].requestCount == 0)
                let isCached = await site.cache.isCached(lists[0][1])
                #expect(isCached)
            }
        }

        /// A feed answers with a new signature at each refresh; with a key policy it is the same stream.
        @Test func aStreamOfAFeedSurvivesItsNextSignature() async throws {
            try await StreamSite.run(keyPolicy: .droppingQueryItems(["sig"])) { site in
                let (old, new) = (try site.url("/s/list.m3u8?sig=1"), try site.url("/s/list.m3u8?sig=2"))
                await site.preloadAll([old])
                await site.preloadAll([new])
                let asset = site.cache.asset(for: new)
                try await site.play(asset)
                let snapshot = await site.origin.settledSnapshot()
                #expect(snapshot["/s/a.ts"].requestCount == 1)
                #expect(snapshot["/s/b.ts"].requestCount == 1)
                let isCached = await site.cache.isCached(new, options: PlaybackOptions())
                #expect(isCached)
                let freed = try await site.cache.remove(new, options: PlaybackOptions())
                #expect(freed >= 10_000)
                let entries = try await site.cache.entries()
                #expect(entries.isEmpty)
                withExtendedLifetime(asset) {}
            }
        }

        /// An app may keep assets and let the player own the items: the one that is left stops loading all the same.
        @Test(.alsoLate) func anItemOfWhichOnlyTheAssetIsKeptStopsWhenItIsLeft() async throws {
            try await StreamSite.run { site in
                let asset = site.cache.asset(for: try site.url("/a.mp3"))
                let player = await Self.followedPlayer(asset, try site.url("/b.mp3"), site.cache)
                site.origin.holdHeads("/a.mp3")
                let request = AVAssetResourceLoadingRequest(
                    request: URLRequest(url: asset.url),
                    information: AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: nil),
                    data: AVAssetResourceLoadingDataRequest(offset: 0, length: 1000, toEnd: false)
                ) { _ in }
                let isTaken = await asset.resourceLoader.load(request)
                try #require(isTaken == true)
                await site.origin.waitUntil { $0["/a.mp3"].requestCount > 0 }
                await MainActor.run { player.advanceToNextItem() }
                let deadline = ContinuousClock.now.advanced(by: .seconds(10))
                await eventually { request.isFinished || ContinuousClock.now >= deadline }
                let isFinished = request.isFinished
                #expect(isFinished, "the player has left its item")
                site.origin.release("/a.mp3")
                await MainActor.run { player.removeAllItems() }
                withExtendedLifetime(asset) {}
            }
        }

        /// A player that alone owns its items.
        @MainActor private static func followedPlayer(
            _ asset: AVURLAsset, _ next: URL, _ cache: MediaCache
        ) -> AVQueuePlayer {
            let player = AVQueuePlayer(items: [AVPlayerItem(asset: asset), cache.playerItem(for: next)])
            cache.follow(player)
            return player
        }

        // MARK: - Removals

        /// The user clears a stream while its item is open, watches it again, and clears it again.
        @Test func aStreamThatIsRemovedWhileItsItemIsOpenIsStoredAgainAsAWhole() async throws {
            try await StreamSite.run { site in
                let url = try site.url()
                let asset = site.cache.asset(for: url)
                for round in 1...2 {
                    try await site.play(asset)
                    let isCached = await site.cache.isCached(url, options: PlaybackOptions())
                    #expect(isCached, "round \(round)")
                    let freed = try await site.cache.remove(url, options: PlaybackOptions())
                    #expect(freed >= 10_000, "round \(round)")
                    let entries = try await site.cache.entries()
                    #expect(entries.isEmpty, "round \(round)")
                }
                withExtendedLifetime(asset) {}
            }
        }

        /// A removed stream leaves nothing, not even the segment that was on its way.
        @Test func aSegmentOnItsWayGoesWithItsStream() async throws {
            try await StreamSite.run { site in
                let url = try site.url()
                let asset = site.cache.asset(for: url)
                try await site.play(asset, ["a.ts"])
                site.origin.hold("/s/b.ts", at: 2000)
                let segmentURL = try site.beside(asset.url, "b.ts")
                let segment = Task { try? await site.load(segmentURL) }
                await site.origin.waitUntil { $0["/s/b.ts"].bodyBytesSent >= 2000 }
                _ = try await site.cache.remove(url, options: PlaybackOptions())
                site.origin.release("/s/b.ts")
                _ = await segment.value
                await eventually { site.cache.isIdle }
                let entries = try await site.cache.entries()
                #expect(entries.isEmpty)
                withExtendedLifetime(asset) {}
            }
        }

        /// A hole in a stream is seen by `isCached`, and filled by the next list, which says "done" no longer.
        @Test func aSegmentThatIsRemovedIsMissedAndPreloadedAgain() async throws {
            try await StreamSite.run { site in
                let url = try site.url()
                await site.preloadAll([url])
                let atFirst = await site.cache.isCached(url, options: PlaybackOptions())
                #expect(atFirst)
                let freed = try await site.cache.remove(try site.url("/s/b.ts"), options: PlaybackOptions())
                #expect(freed > 0)
                let withHole = await site.cache.isCached(url, options: PlaybackOptions())
                #expect(!withHole)
                await site.preloadAll([url])
                let again = await site.cache.isCached(url, options: PlaybackOptions())
                #expect(again)
            }
        }

        // MARK: - Streams

        /// Without a network only the stored quality plays, and a player in the middle of the other one can go back.
        @Test(arguments: [nil, "anna"]) func offlineTheStoredQualityIsOfferedAlone(partition: String?) async throws {
            try await StreamSite.run { site in
                let film = HLSFilm(at: "/film", of: site.origin, segments: 3, hasMaps: true, length: { 9000 })
                let url = try #require(film.url)
                var options = PlaybackOptions()
                options.partition = partition
                let asset = site.cache.asset(for: url, options: options)
                let model = HLSPlayerModel(asset, client: site.network)
                try await model.start()
                for segment in try await model.segments(of: 0) { _ = try await model.load(segment) }
                let others = try await model.segments(of: 1)
                try #require(others.count == 3)
                _ = try await model.load(others[0])
                await eventually { site.cache.isIdle }
                let isCached = await site.cache.isCached(url, options: options)
                #expect(isCached)
                site.cache.setNetworkPolicy(.never, for: asset)
                let missing = try await site.load(others[1].url.absoluteURL)
                #expect(missing.status == 504)
                let again = HLSPlayerModel(asset, client: site.network)
                try await again.start()
                let names = again.variants.map(\.lastPathComponent)
                try #require(names == ["v0.m3u8"])
                var lengths: [Int] = []
                for segment in try await again.segments(of: 0) {
                    let loaded = try await again.load(segment)
                    lengths.append(loaded.bytes.count)
                }
                #expect(lengths == [9000, 9000, 9000])
                withExtendedLifetime(asset) {}
            }
        }

        /// A segment stays available after its list has dropped it (RFC 8216 §6.2.2); a receiver behind the edge asks
        /// for it after a reload that brought nothing new, or after a second one.
        @Test(arguments: [["b", "b"], ["b", "c"]])
        func aReceiverBehindTheEdgeGetsWhatItsListHasJustDropped(reloads: [String]) async throws {
            try await StreamSite.run { site in
                let names = ["a", "b", "c"]
                for name in names {
                    site.origin.set(
                        TestOrigin.Resource(.pattern(seed: 4, length: 5000), mediaType: "video/mp2t"),
                        at: "/live/\(name).ts")
                }
                site.publishLive("a", number: 0)
                let cast = try site.cache.castURL(for: try site.url("/live/list.m3u8"), at: "127.0.0.1")
                try await site.reloadLive(cast.url)
                for name in reloads {
                    site.publishLive(name, number: names.firstIndex(of: name) ?? 0)
                    try await site.reloadLive(cast.url)
                }
                let current = try await site.load(try site.beside(cast.url, "\(reloads[1]).ts"))
                #expect(current.status == 200)
                let former = try await site.load(try site.beside(cast.url, "a.ts"))
                #expect(former.status == 200)
                withExtendedLifetime(cast) {}
            }
        }
    }

    extension VirtualClockTests {
        @Suite struct UnkindNetworkTests {
            /// What the player has requested goes on, also at the edge of a Wi-Fi, where networks change often.
            @Test func aFetchSurvivesNetworksThatChangeBackAndForth() async throws {
                let file = try ScriptResource.file(length: 1_000_000)
                try await ScriptWorld.check([file]) { world in
                    try world.makeItem("A", resource: file)
                    let all = try await world.ask("all", "A", information: true)
                    let hasBegun = await world.wait { all.state.withLock { $0.bytes > 50_000 } }
                    try #require(hasBegun)
                    let asset = try #require(world.state.withLock { $0.items["A"]?.asset })
                    let cache = try world.openCache()
                    for _ in 0..<10 {
                        cache.setNetworkPolicy(.inexpensive, for: asset)
                        await world.tick()
                        cache.setNetworkPolicy(.any, for: asset)
                        await world.tick()
                    }
                    let isOver = await world.wait { all.isOver }
                    #expect(isOver)
                    let code = all.state.withLock { $0.error?.code }
                    #expect(code == nil)
                    let bytes = all.state.withLock { $0.bytes }
                    #expect(bytes == file.length)
                    let fetched = world.bytesFetched
                    #expect(fetched == file.length, "no byte is fetched twice")
                }
            }
        }
    }
#endif
