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
        /// The player of an item loads the playlist and these files beside it.
        private func play(_ names: [String], _ options: PlaybackOptions, at site: StreamSite) async throws {
            try await site.play(site.cache.asset(for: try site.url(), options: options), names)
        }

        /// Neither, a partition, a key, and both, of which the key counts.
        @Test(arguments: [nil, "anna"], [nil, "episode 7"])
        func aStreamIsCachedAndRemovedAsAWhole(partition: String?, key: String?) async throws {
            try await StreamSite.run { site in
                let url = try site.url()
                var options = PlaybackOptions()
                options.partition = partition
                options.cacheKey = key.map { CacheKey($0) }
                try await play(["a.ts"], options, at: site)
                #expect(await !site.cache.isCached(url, options: options), "the playlist is, and one segment")
                try await play(["b.ts"], options, at: site)
                #expect(await site.cache.isCached(url, options: options))
                let isPlain = partition == nil && key == nil
                #expect(await site.cache.isCached(url) == isPlain)
                let freed = try await site.cache.remove(url, options: options)
                #expect(freed > 10_000)
                #expect(try await site.cache.entries().isEmpty)
                #expect(await !site.cache.isCached(url, options: options))
            }
        }

        @Test func withoutOptionsTheSameIsMeant() async throws {
            try await StreamSite.run { site in
                let url = try site.url()
                try await play(["a.ts", "b.ts"], PlaybackOptions(), at: site)
                #expect(await site.cache.isCached(url))
                #expect(try await site.cache.remove(url) > 10_000)
                #expect(try await site.cache.entries().isEmpty)
            }
        }

        @Test func aStreamHasNoProgressOfAFileAndIsNotExportedAsOne() async throws {
            try await StreamSite.run { site in
                let url = try site.url()
                var elements = 0
                for await _ in site.cache.progress(of: url) { elements += 1 }
                #expect(elements == 0)
                let target = FileManager.default.temporaryDirectory.appendingPathComponent("never-written.ts")
                let error = await #expect(throws: RepriseError.self) {
                    try await site.cache.export(url, to: target)
                }
                #expect(error?.code == .invalidArgument && error?.message.contains("downloads") == true)
            }
        }
    }
#endif
