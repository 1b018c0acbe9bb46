// What an app may set for an item, ask of the cache, and change while an item plays.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    @MainActor final class Screen {
        struct Account { let id: String }
        struct Label { var text = "" }
        struct Bar { var parts: [ClosedRange<Double>] = [] }

        let cache: MediaCache
        let account = Account(id: "anna")
        var label = Label()
        var bar = Bar()

        init() async throws {
            // snippet.show
            let support = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            let cache = await MediaCache.forPlayback(directory: support.appendingPathComponent("Reprise"))
            // snippet.hide
            self.cache = cache
        }

        func item(for url: URL, id: Int, token: String) -> AVPlayerItem {
            // snippet.show
            var options = PlaybackOptions()
            options.headers = ["Authorization": "Bearer \(token)"]  // with every request; not part of the key
            options.partition = account.id  // whose media these are: separate keys for each account
            options.cacheKey = CacheKey("song/\(id)")  // instead of the URL
            options.fileType = "mp3"  // or a UTI; overrides what the server says
            options.readAhead = .toEnd  // .asRequested (default), .ahead(bytes), .toEnd
            options.isStored = false  // nothing is stored
            options.networkPolicy = .inexpensive  // no cellular; Low Data Mode: .inexpensiveAndUnconstrained
            options.timeout = .seconds(30)  // without a byte; 60 s by default
            let item = cache.playerItem(for: url, options: options)
            // snippet.hide
            return item
        }

        func assetForThumbnails(of url: URL) -> AVURLAsset {
            // snippet.show
            let asset = cache.asset(for: url, options: .storedOnly)
            // snippet.hide
            return asset
        }

        func mayUseCellular(_ item: AVPlayerItem) {
            // snippet.show
            cache.setNetworkPolicy(.any, for: item)
            // snippet.hide
        }

        func show(_ url: URL, file: URL) async throws {
            // snippet.show
            if await cache.isCached(url) { label.text = "On this device" }  // every byte is on disk
            for await progress in cache.progress(of: url) {
                bar.parts = progress.fractions  // stored parts of the file, 0...1
                label.text = "\(progress.statistics.bytesSaved) bytes saved"  // by the whole cache, since it was opened
            }
            let preload = cache.preload(url, .bytes(1_000_000))  // joined by playback
            preload.cancel()
            try await cache.export(url, to: file)  // the whole file, missing parts fetched
            try await cache.remove(url)
            try await cache.removeEntries(unusedFor: .seconds(30 * 86_400))
            // snippet.hide
        }

        func keepOnDevice(_ player: AVPlayer) {
            // snippet.show
            #if !os(visionOS)  // which has no external playback
                player.allowsExternalPlayback = false
            #endif
            // snippet.hide
        }
    }
#endif
