#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import Reprise
    import RepriseTesting
    import TestLimits
    import Testing
    @testable import RepriseAVPlayer

    /// Downloads with the options of an item.
    @Suite(.limit(minutes: 1)) struct DownloadOptionsTests {
        @Test func theItemWithTheSameOptionsFindsThem() async throws {
            try await StreamSite.run { site in
                let url = try site.url("/a.mp3")
                var options = PlaybackOptions(headers: ["X-Account": "ann"])
                options.cacheKey = "song-1"
                options.networkPolicy = .inexpensive
                try await site.cache.downloads.add(url, options: options, name: "Song")
                for await list in site.cache.downloads.updates(every: .zero) where list.first?.isDone == true {
                    #expect(list.first?.key == "song-1" && list.first?.name == "Song")
                    #expect(list.first?.networkPolicy == .inexpensive)
                    break
                }
                let requests = site.origin.snapshot["/a.mp3"].requests
                #expect(requests.allSatisfy { $0.fields.contains { $0.name.canonicalName == "x-account" } })
                try await site.cache.downloads.add(url, partition: "ann")
                for await list in site.cache.downloads.updates(partition: "ann", every: .zero)
                where list.first?.isDone == true { break }
                for await stored in site.cache.progress(of: url, partition: "ann") {
                    #expect(stored.fraction == 1)
                    break
                }
                options.networkPolicy = .never
                let source = AssetSource(site.cache, url: try ResourceURL(url), options: options)
                #expect(await (try source.resource()).isCached)
                #expect(await !site.cache.isCached(url), "under the key of the URL, nothing is stored")
                options.headers = ["Bad\nName": "x"]
                await #expect(throws: RepriseError.self) {
                    try await site.cache.downloads.add(url, options: options)
                }
            }
        }
    }
#endif
