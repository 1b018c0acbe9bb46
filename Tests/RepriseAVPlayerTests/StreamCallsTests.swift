#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
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

    /// What the calls with a URL mean of an HLS stream, which its player gets from the app's own proxy.
    @Suite(.limit(minutes: 2)) struct StreamCallsTests {
        private struct Site {
            let cache: MediaCache
            let url: URL

            static func run(_ body: (Site) async throws -> Void) async throws {
                let directory = try TemporaryDirectory()
                let origin = try await TestOrigin.start()
                let client = NIOOrigin()
                var configuration = MediaCache.Configuration()
                configuration.downloadsStreams = true
                let cache = try await MediaCache.open(
                    directory: directory.path, origin: client, configuration: configuration)
                let list = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXTINF:6,\nb.ts\n#EXT-X-ENDLIST\n"
                origin.set(
                    TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                    at: "/s/list.m3u8")
                for name in ["a", "b"] {
                    origin.set(
                        TestOrigin.Resource(.pattern(seed: 1, length: 5000), mediaType: "video/mp2t"),
                        at: "/s/\(name).ts")
                }
                let result: Result<Void, any Error>
                do {
                    let url = try #require(URL(string: origin.url("/s/list.m3u8")))
                    result = .success(try await body(Site(cache: cache, url: url)))
                } catch { result = .failure(error) }
                await cache.close()
                await client.shutdown()
                await origin.stop()
                directory.remove()
                try result.get()
            }

            /// Loads the playlist and these files beside it as the player of an item does.
            func play(_ names: [String], options: PlaybackOptions) async throws {
                let asset = cache.asset(for: url, options: options)
                let session = URLSession(configuration: .ephemeral)
                defer { session.invalidateAndCancel() }
                _ = try await session.data(from: asset.url)
                for name in names {
                    _ = try await session.data(
                        from: asset.url.deletingLastPathComponent().appendingPathComponent(name))
                }
                await eventually { cache.isIdle }
                withExtendedLifetime(asset) {}
            }
        }

        /// Neither, a partition, a key, and both, of which the key counts.
        @Test(arguments: [nil, "anna"], [nil, "episode 7"])
        func aStreamIsCachedAndRemovedAsAWhole(partition: String?, key: String?) async throws {
            try await Site.run { site in
                var options = PlaybackOptions()
                options.partition = partition
                options.cacheKey = key.map { CacheKey($0) }
                try await site.play(["a.ts"], options: options)
                #expect(await !site.cache.isCached(site.url, options: options), "the playlist is, and one segment")
                try await site.play(["b.ts"], options: options)
                #expect(await site.cache.isCached(site.url, options: options))
                let isPlain = partition == nil && key == nil
                #expect(await site.cache.isCached(site.url) == isPlain)
                let freed = try await site.cache.remove(site.url, options: options)
                #expect(freed > 10_000)
                #expect(try await site.cache.entries().isEmpty)
                #expect(await !site.cache.isCached(site.url, options: options))
            }
        }

        @Test func withoutOptionsTheSameIsMeant() async throws {
            try await Site.run { site in
                try await site.play(["a.ts", "b.ts"], options: PlaybackOptions())
                #expect(await site.cache.isCached(site.url))
                #expect(try await site.cache.remove(site.url) > 10_000)
                #expect(try await site.cache.entries().isEmpty)
            }
        }

        @Test func aStreamHasNoProgressOfAFileAndIsNotExportedAsOne() async throws {
            try await Site.run { site in
                var elements = 0
                for await _ in site.cache.progress(of: site.url) { elements += 1 }
                #expect(elements == 0)
                let target = FileManager.default.temporaryDirectory.appendingPathComponent("never-written.ts")
                let error = await #expect(throws: RepriseError.self) {
                    try await site.cache.export(site.url, to: target)
                }
                #expect(error?.code == .invalidArgument && error?.message.contains("downloads") == true)
            }
        }
    }
#endif
