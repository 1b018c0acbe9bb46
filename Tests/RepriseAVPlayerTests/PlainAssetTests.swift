#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    import RepriseTesting
    import TestLimits
    import Testing
    @testable import RepriseAVPlayer

    extension VirtualClockTests {
        /// Uses only Apple's AVFoundation interface, and so runs against the real one if there is one; on Linux,
        /// against the stand-in.
        @Suite(.limit(minutes: 2)) struct PlainAssetTests {
            @Test func anItemIsPlainAndItsLoaderLivesAsLongAsItsAsset() async throws {
                try await Self.withCache { cache, _ in
                    let url = try #require(URL(string: "https://example.com/a/film.mp4?x=1"))
                    for left in try await Self.checkItem(cache, url) { #expect(await Self.isGone(left)) }
                }
            }

            /// Returns closures that say whether the asset and its loader still exist once the item is released.
            @MainActor private static func checkItem(
                _ cache: MediaCache, _ url: URL
            ) throws -> [@Sendable () -> Bool] {
                let item = cache.playerItem(for: url)
                #expect(type(of: item) == AVPlayerItem.self)
                let asset = try #require(item.asset as? AVURLAsset)
                #expect(asset.url.absoluteString == "reprise+https://example.com/a/film.mp4?x=1")
                let loader = try #require(asset.resourceLoader.delegate as? LoaderDelegate)
                #expect(asset.resourceLoader.delegateQueue === loader.queue)
                #expect(loader.queue !== DispatchQueue.main)
                return [{ [weak asset] in asset != nil }, { [weak loader] in loader != nil }]
            }

            /// AVFoundation releases its objects at any time, the stand-in immediately.
            private static func isGone(_ isLeft: @Sendable () -> Bool) async -> Bool {
                let deadline = ContinuousClock.now.advanced(by: .seconds(10))
                await eventually { !isLeft() || ContinuousClock.now >= deadline }
                return !isLeft()
            }

            @Test(arguments: ["file:///tmp/a.mp3", "https://me:secret@example.com/live.m3u8", "ipod-library://item/1"])
            func whatIsNotCachedIsPlayedAsItIs(_ text: String) async throws {
                try await Self.withCache { cache, _ in
                    let url = try #require(URL(string: text))
                    let asset = cache.asset(for: url)
                    #expect(asset.url == url)
                    #expect(asset.resourceLoader.delegate == nil)
                    #expect(await !cache.isCached(url))
                }
            }

            @Test func whatWouldPlayWithoutTheCacheFailsIfItMayUseNoNetwork() async throws {
                try await Self.withCache { cache, _ in
                    let url = try #require(URL(string: "https://me:secret@example.com/live.m3u8"))
                    let asset = cache.asset(for: url, options: .storedOnly)
                    #expect(asset.url.absoluteString == "reprise+https://me:secret@example.com/live.m3u8")
                    #expect(asset.resourceLoader.delegate is RefusingDelegate)
                    #expect(cache.loadingError(of: asset)?.code == .notStored)
                    let local = URL(fileURLWithPath: "/tmp/a.mp3")
                    #expect(cache.asset(for: local, options: .storedOnly).url == local)
                }
            }

            #if REPRISE_AVFOUNDATION_STAND_IN
                @Test(arguments: [
                    (NetworkPolicy.any, [String]()), (.inexpensive, [AVURLAssetAllowsExpensiveNetworkAccessKey]),
                    (
                        .inexpensiveAndUnconstrained,
                        [AVURLAssetAllowsExpensiveNetworkAccessKey, AVURLAssetAllowsConstrainedNetworkAccessKey]
                    ),
                ]) func whatPlaysWithoutTheCacheKeepsToItsNetworks(_ policy: NetworkPolicy, _ forbidden: [String])
                    async throws
                {
                    try await Self.withCache { cache, _ in
                        let url = try #require(URL(string: "https://me:secret@example.com/live.m3u8"))
                        var options = PlaybackOptions()
                        options.networkPolicy = policy
                        let asset = cache.asset(for: url, options: options)
                        #expect(asset.url == url)
                        let found = asset.options.filter { $0.value as? Bool == false }.keys
                        #expect(Set(found) == Set(forbidden))
                    }
                }
            #endif

            @Test func aFairPlayKeyHasALoaderThatRefuses() async throws {
                try await Self.withCache { cache, _ in
                    let url = try #require(URL(string: "skd://key"))
                    let asset = cache.asset(for: url)
                    #expect(asset.url == url)
                    #expect(asset.resourceLoader.delegate is RefusingDelegate)
                }
            }

            @Test func aQueueIsFollowedFromItemToItem() async throws {
                try await Self.withCache { cache, origin in
                    let player = try await Self.player(cache, ["a", "b"])
                    await MainActor.run { cache.follow(player) }
                    await origin.waitForRequest("/b.mp3")
                    try await Self.insert("c", in: player, cache)
                    await MainActor.run { player.advanceToNextItem() }
                    await origin.waitForRequest("/c.mp3")
                    await MainActor.run { player.removeAllItems() }
                }
            }

            /// AVFoundation reports the current item only, not the items behind it.
            @Test func anItemInsertedMeanwhileIsFetchedAheadOnceTheQueueIsFollowedAnew() async throws {
                try await Self.withCache { cache, origin in
                    let player = try await Self.player(cache, ["a"])
                    await MainActor.run { cache.follow(player) }
                    try await Self.insert("b", in: player, cache)
                    await MainActor.run { cache.follow(player) }
                    await origin.waitForRequest("/b.mp3")
                    await MainActor.run { player.removeAllItems() }
                }
            }

            @MainActor private static func player(_ cache: MediaCache, _ names: [String]) throws -> AVQueuePlayer {
                AVQueuePlayer(items: try names.map { try item($0, cache) })
            }

            @MainActor private static func insert(
                _ name: String, in player: AVQueuePlayer, _ cache: MediaCache
            ) throws {
                player.insert(try item(name, cache), after: nil)
            }

            @MainActor private static func item(_ name: String, _ cache: MediaCache) throws -> AVPlayerItem {
                cache.playerItem(for: try #require(URL(string: "https://example.com/\(name).mp3")))
            }

            private static func withCache(_ body: (MediaCache, SilentOrigin) async throws -> Void) async throws {
                let directory = try TemporaryDirectory()
                let origin = SilentOrigin()
                let cache = try await MediaCache.open(directory: directory.path, origin: origin)
                let result: Result<Void, any Error>
                do { result = .success(try await body(cache, origin)) } catch { result = .failure(error) }
                await cache.close()
                try result.get()
            }
        }
    }

    /// An origin that receives every request and answers none.
    private final class SilentOrigin: Origin {
        private let targets: AsyncStream<String>
        private let heard: AsyncStream<String>.Continuation

        init() { (targets, heard) = AsyncStream.makeStream() }

        /// Waits for a request for `target` after those already waited for.
        func waitForRequest(_ target: String) async { for await heard in targets where heard == target { return } }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            heard.yield(request.url.target)
            let (silence, continuation) = AsyncStream.makeStream(of: Never.self)
            // Until the request is canceled.
            for await _ in silence {}
            continuation.finish()
            throw CancellationError()
        }
    }
#endif
