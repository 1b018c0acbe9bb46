#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    import RepriseProxy
    import RepriseTesting
    import TestLimits
    import Testing
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Items of a cache that is opened on first use.
    @Suite(.limit(minutes: 2)) struct SharedCacheTests {
        /// A shared cache that opens `cache` when ``gate`` is fulfilled.
        private struct Opening {
            let gate = Promise<Void>()
            let shared: SharedCache

            init(_ cache: MediaCache) {
                shared = SharedCache { [gate] in
                    await gate.value
                    return cache
                }
            }

            func asset(for url: URL) -> AVURLAsset {
                MediaCache.asset(for: url, options: PlaybackOptions(), of: shared.cache())
            }
        }

        /// One request of a player for a whole file.
        private final class Load: Sendable {
            let bytes = Mutex<[UInt8]>([])
            let end = Promise<(any Error)?>()
            let request = Mutex<AVAssetResourceLoadingRequest?>(nil)

            /// Sends the request to the delegate of `asset`.
            init(_ asset: AVURLAsset, length: Int) async {
                let request = AVAssetResourceLoadingRequest(
                    request: URLRequest(url: asset.url),
                    information: AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: nil),
                    data: AVAssetResourceLoadingDataRequest(offset: 0, length: length, toEnd: true)
                ) { [weak self] happening in
                    switch happening {
                    case .data(let data, _): self?.bytes.withLock { $0 += data }
                    case .finished(let error): self?.end.fulfill(error)
                    }
                }
                self.request.withLock { $0 = request }
                #expect(await asset.resourceLoader.load(request) == true)
            }
        }

        @Test func requestsForAFileWaitUntilTheCacheIsOpen() async throws {
            try await StreamSite.run { site in
                let opening = Opening(site.cache)
                let asset = opening.asset(for: try site.url("/a.mp3"))
                let load = await Load(asset, length: 50_000)
                #expect(MediaCache.loader(of: asset) == nil && !load.end.isFulfilled)
                opening.gate.fulfill()
                #expect(await load.end.value == nil)
                #expect(load.bytes.withLock { $0 } == TestPattern.bytes(in: 0..<50_000, seed: 2))
                #expect(await site.cache.isCached(try site.url("/a.mp3")))
                #expect(Exceptions.take() == [])
            }
        }

        @Test func aLoaderIsThereBeforeAnyoneElseGetsTheCache() async throws {
            try await StreamSite.run { site in
                let opening = Opening(site.cache)
                let asset = opening.asset(for: try site.url("/a.mp3"))
                async let cache = opening.shared.cache().value
                opening.gate.fulfill()
                #expect(await cache === site.cache)
                #expect(MediaCache.loader(of: asset) != nil)
                #expect(opening.shared.cache().current === site.cache)
                let second = opening.asset(for: try site.url("/b.mp3"))
                #expect(second.resourceLoader.delegate is LoaderDelegate, "nothing has to wait now")
            }
        }

        @Test func aRequestThatIsCanceledMeanwhileIsNotSent() async throws {
            try await StreamSite.run { site in
                let opening = Opening(site.cache)
                let asset = opening.asset(for: try site.url("/a.mp3"))
                let canceled = await Load(asset, length: 50_000)
                let request = try #require(canceled.request.withLock { $0 })
                await asset.resourceLoader.cancel(request, callback: true)
                let second = opening.asset(for: try site.url("/b.mp3"))
                let other = await Load(second, length: 50_000)
                opening.gate.fulfill()
                #expect(await other.end.value == nil)
                #expect(MediaCache.loader(of: second) != nil)
                #expect(site.origin.snapshot["/a.mp3"].requestCount == 0)
                #expect(!canceled.end.isFulfilled)
                #expect(Exceptions.take() == [])
            }
        }

        @Test func aStreamHasItsAddressAtOnceAndItsPlayerWaits() async throws {
            try await StreamSite.run { site in
                let opening = Opening(site.cache)
                let asset = opening.asset(for: try site.url())
                #expect(asset.url.host() == "127.0.0.1")
                #expect(MediaCache.source(of: asset) == nil)
                async let list = site.load(asset.url)
                await eventually { MediaCache.stream(of: asset)?.proxy.proxy.hasWaitingClients == true }
                #expect(site.origin.snapshot["/s/list.m3u8"].requestCount == 0)
                opening.gate.fulfill()
                #expect(try await list.status == 200)
                try await site.play(asset)
                #expect(await opening.shared.cache().value === site.cache)
                #expect(MediaCache.source(of: asset)?.url.target == "/s/list.m3u8")
                let later = opening.asset(for: try site.url())
                #expect(later.url == asset.url, "items with the same options share a proxy")
                #expect(site.origin.snapshot["/s/a.ts"].requestCount == 1)
            }
        }

        @Test func aStreamWhoseCacheIsNeverOpenedLeavesNoPlayerWaiting() async throws {
            try await StreamSite.run { site in
                let opening = Opening(site.cache)
                let asset = Mutex<AVURLAsset?>(opening.asset(for: try site.url()))
                let url = try #require(asset.withLock { $0?.url })
                async let list: Loaded? = try? site.load(url)
                await eventually {
                    asset.withLock { $0.flatMap { MediaCache.stream(of: $0) } }?.proxy.proxy.hasWaitingClients == true
                }
                asset.withLock { $0 = nil }
                #expect(await list == nil)
                opening.gate.fulfill()
                #expect(await opening.shared.cache().value === site.cache)
            }
        }

        @Test func itIsConfiguredBeforeItsFirstUseOnly() async throws {
            try await StreamSite.run { site in
                let shared = SharedCache {
                    Issue.record("another function was given")
                    return site.cache
                }
                try shared.opens { site.cache }
                #expect(await shared.cache().value === site.cache)
                #expect(throws: RepriseError.self) { try shared.opens { site.cache } }
            }
        }

        @Test func aClosedCacheAndOneThatStoresNothingAreOpenedAgain() async throws {
            let directory = try TemporaryDirectory()
            let folder = URL(fileURLWithPath: try directory.write([1], to: "cache"))
            let shared = SharedCache(retryInterval: .zero) { await MediaCache.forPlayback(directory: folder) }
            let patient = SharedCache(retryInterval: .seconds(3600)) { await MediaCache.forPlayback(directory: folder) }
            let first = await shared.cache().value
            #expect(!first.isStoring && shared.cache().current == nil)
            let kept = await patient.cache().value
            #expect(patient.cache().current === kept, "not each item tries again")
            try FileManager.default.removeItem(at: folder)
            let second = await shared.cache().value
            #expect(second.isStoring && shared.cache().current === second)
            await second.close()
            #expect(shared.cache().current == nil)
            let third = await shared.cache().value
            #expect(third !== second && third.isStoring)
            for cache in [third, first, kept] { await cache.close() }
        }

        @Test func whatIsNotCachedDoesNotOpenIt() async throws {
            let shared = SharedCache {
                Issue.record("nothing needs it")
                return await MediaCache.forPlayback()
            }
            let local = URL(fileURLWithPath: "/tmp/a.mp3")
            #expect(MediaCache.asset(for: local, options: PlaybackOptions(), of: shared.cache()).url == local)
            let key = try #require(URL(string: "skd://key"))
            let refused = MediaCache.asset(for: key, options: PlaybackOptions(), of: shared.cache())
            #expect(refused.resourceLoader.delegate is RefusingDelegate)
        }
    }
#endif
