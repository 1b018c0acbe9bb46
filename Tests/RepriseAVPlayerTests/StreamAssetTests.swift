#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import HTTPTypes
    import Primitives
    import Reprise
    import RepriseHTTPClient
    import RepriseTesting
    import TestLimits
    import Testing
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// HLS items as an app makes them, played over HTTP as AVFoundation does.
    @Suite(.limit(minutes: 2)) struct StreamAssetTests {
        private static let list =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"

        private struct Site {
            let origin: TestOrigin
            let cache: MediaCache

            static func run(_ body: (Site) async throws -> Void) async throws {
                let directory = try TemporaryDirectory()
                let origin = try await TestOrigin.start()
                let client = NIOOrigin()
                let cache = try await MediaCache.open(directory: directory.path, origin: client)
                origin.set(
                    TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                    at: "/s/list.m3u8")
                origin.set(
                    TestOrigin.Resource(.pattern(seed: 1, length: 5000), mediaType: "video/mp2t"), at: "/s/a.ts")
                let result: Result<Void, any Error>
                do { result = .success(try await body(Site(origin: origin, cache: cache))) } catch {
                    result = .failure(error)
                }
                await cache.close()
                await client.shutdown()
                await origin.stop()
                directory.remove()
                try result.get()
            }

            func url(_ path: String = "/s/list.m3u8") throws -> URL { try #require(URL(string: origin.url(path))) }
        }

        /// The body at `url`; throws if nothing listens there.
        private static func load(_ url: URL) async throws -> [UInt8] {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            return [UInt8](try await session.data(from: url).0)
        }

        @Test func aStreamPlaysFromTheCacheTheSecondTime() async throws {
            try await Site.run { site in
                for _ in 0..<2 {
                    let asset = site.cache.asset(for: try site.url())
                    #expect(asset.url.host() == "127.0.0.1")
                    #expect(asset.url.path.hasSuffix("/s/list.m3u8"))
                    #expect(asset.resourceLoader.delegate == nil, "the app's own key session is left alone")
                    let list = try await Self.load(asset.url)
                    #expect(String(decoding: list, as: UTF8.self) == Self.list, "its links need no change")
                    let segment = try await Self.load(
                        asset.url.deletingLastPathComponent().appendingPathComponent("a.ts"))
                    #expect(segment == TestPattern.bytes(in: 0..<5000, seed: 1))
                }
                #expect(site.origin.snapshot["/s/a.ts"].requestCount == 1)
            }
        }

        @Test func anErrorOfTheOriginIsTheErrorOfTheItem() async throws {
            try await Site.run { site in
                let asset = site.cache.asset(for: try site.url("/s/gone.m3u8"))
                #expect(site.cache.loadingError(of: asset) == nil)
                site.origin.set(
                    TestOrigin.Resource(.bytes([]), personality: TestOrigin.Personality { $0.status = 403 }),
                    at: "/s/gone.m3u8")
                _ = try await Self.load(asset.url)
                #expect(site.cache.loadingError(of: asset)?.code == .originRefused)
            }
        }

        @Test func aFileHasAnAddressForPlayersThatTakeOnlyAURL() async throws {
            try await Site.run { site in
                var options = PlaybackOptions()
                options.fileType = "m3u8"
                for _ in 0..<2 {
                    let asset = site.cache.asset(for: try site.url("/s/a.ts"), options: options)
                    #expect(asset.url.host() == "127.0.0.1")
                    let file = try await Self.load(asset.url)
                    #expect(file == TestPattern.bytes(in: 0..<5000, seed: 1))
                }
                #expect(site.origin.snapshot["/s/a.ts"].requestCount == 1)
                let local = URL(fileURLWithPath: "/tmp/a.mp3")
                let direct = site.cache.asset(for: local, options: options)
                #expect(direct.url == local)
            }
        }

        @Test func itemsWithTheSameOptionsShareAProxyAndOthersDoNot() async throws {
            try await Site.run { site in
                let first = site.cache.asset(for: try site.url())
                let second = site.cache.asset(for: try site.url("/other.m3u8"))
                var options = PlaybackOptions()
                options.readAhead = .toEnd
                let third = site.cache.asset(for: try site.url(), options: options)
                options.partition = "anna"
                let fourth = site.cache.asset(for: try site.url(), options: options)
                #expect(first.url.port == second.url.port)
                #expect(first.url == third.url)
                #expect(first.url.port != fourth.url.port)
                withExtendedLifetime([first, second, third, fourth]) {}
            }
        }

        @Test func withTheLastAssetTheProxyGoes() async throws {
            try await Site.run { site in
                let address = try await Self.play(site)
                await eventually {
                    do {
                        _ = try await Self.load(address)
                        return false
                    } catch { return true }
                }
            }
        }

        /// Plays with an item that is gone afterwards.
        @MainActor private static func play(_ site: Site) async throws -> URL {
            let item = site.cache.playerItem(for: try site.url())
            let address = try #require(item.asset as? AVURLAsset).url
            #expect(type(of: item) == AVPlayerItem.self)
            _ = try await load(address)
            return address
        }

        @Test func aStreamOfStoredBytesOnlyAsksNoOrigin() async throws {
            try await Site.run { site in
                let first = site.cache.asset(for: try site.url())
                let folder = first.url.deletingLastPathComponent()
                _ = try await Self.load(first.url)
                _ = try await Self.load(folder.appendingPathComponent("a.ts"))
                let requests = site.origin.snapshot.requestCount
                let offline = site.cache.asset(for: try site.url(), options: .storedOnly)
                let stored = offline.url.deletingLastPathComponent()
                #expect(String(decoding: try await Self.load(offline.url), as: UTF8.self) == Self.list)
                let segment = try await Self.load(stored.appendingPathComponent("a.ts"))
                #expect(segment == TestPattern.bytes(in: 0..<5000, seed: 1))
                #expect(try await Self.status(of: stored.appendingPathComponent("other.ts")) == 504)
                #expect(site.origin.snapshot.requestCount == requests)
                withExtendedLifetime([first, offline]) {}
            }
        }

        @Test func theNetworkPolicyOfAStreamChangesWhileItPlays() async throws {
            try await Site.run { site in
                let asset = site.cache.asset(for: try site.url())
                _ = try await Self.load(asset.url)
                site.cache.setNetworkPolicy(.never, for: asset)
                let segment = asset.url.deletingLastPathComponent().appendingPathComponent("a.ts")
                #expect(try await Self.status(of: segment) == 504)
                #expect(site.origin.snapshot["/s/a.ts"].requestCount == 0)
                let other = site.cache.asset(for: try site.url())
                #expect(other.url.port != asset.url.port, "its options allow the network")
                site.cache.setNetworkPolicy(.any, for: asset)
                #expect(try await Self.status(of: segment) == 200)
                withExtendedLifetime([asset, other]) {}
            }
        }

        /// Those are made of the item's source: by `follow(_:ahead:)` and `followExternalPlayback(of:)`.
        @Test func theNetworkPolicyOfAStreamHoldsForItsPreloadAndItsCast() async throws {
            try await Site.run { site in
                let assets = [site.cache.asset(for: try site.url()), site.cache.asset(for: try site.url("/s/b.m3u8"))]
                site.cache.setNetworkPolicy(.never, for: assets[0])
                // Those with the same options change together.
                for asset in assets {
                    let source = try #require(MediaCache.source(of: asset))
                    #expect(source.currentOptions.networkPolicy == .never)
                    let resource = try #require(MediaCache.resource(of: asset))
                    #expect(resource.networkPolicy == .never)
                }
            }
        }

        private static func status(of url: URL) async throws -> Int? {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            return (try await session.data(from: url).1 as? HTTPURLResponse)?.statusCode
        }

        @Test func headersThatCannotBeSentFailAsForFiles() async throws {
            try await Site.run { site in
                var options = PlaybackOptions()
                options.headers = ["A name": "x"]
                let asset = site.cache.asset(for: try site.url(), options: options)
                #expect(asset.url.scheme == "reprise+http")
                #expect(site.cache.loadingError(of: asset)?.code == .invalidArgument)
            }
        }

        @Test func mediaThatAreNotToBeStoredAreNot() async throws {
            try await Site.run { site in
                var options = PlaybackOptions()
                options.isStored = false
                let asset = site.cache.asset(for: try site.url(), options: options)
                _ = try await Self.load(asset.url)
                #expect(await !site.cache.isCached(try site.url()))
            }
        }
    }
#endif
