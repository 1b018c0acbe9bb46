// What an app may set for a cache and an item, ask of the cache, and change while an item plays.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    @MainActor final class Screen {
        struct Account { let id: String }
        struct Tokens { func fresh() async throws -> String { "token" } }
        struct Label { var text = "" }
        struct Bar { var parts: [ClosedRange<Double>] = [] }

        let cache: MediaCache
        let account = Account(id: "anna")
        var label = Label()
        var bar = Bar()
        private var watcher: Task<Void, Never>?

        init(tokens: Tokens, in folder: URL) async throws {
            // snippet.show
            var configuration = MediaCache.Configuration()
            configuration.authorize = { request in
                guard request.url.host == "media.example.com" else { return nil }
                let token = try await tokens.fresh()
                return Authorization(fields: [.authorization: "Bearer \(token)"])
            }
            try MediaCache.configureShared(directory: folder, configuration: configuration)
            // snippet.hide
            cache = await MediaCache.shared
        }

        func item(for url: URL, token: String) -> AVPlayerItem {
            // snippet.show
            let options = PlaybackOptions(headers: ["Authorization": "Bearer \(token)"], partition: account.id)
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
            let watcher = Task {  // cancel it with the view
                for await progress in cache.progress(of: url) {
                    bar.parts = progress.fractions  // stored parts of the file, 0...1
                    label.text = "\(progress.statistics.bytesSaved) bytes saved"  // by the whole cache so far
                }
            }
            let preload = cache.preload(url, .bytes(1_000_000))  // joined by playback
            preload.cancel()
            try await cache.export(url, to: file)  // the whole file, missing parts fetched
            try await cache.remove(url)
            try await cache.removeEntries(unusedFor: .seconds(30 * 86_400))
            // snippet.hide
            self.watcher = watcher
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
