// Further options for an app: headers, progress, a queue, preloading.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    // snippet.show
    /// A song whose signature changes with each visit, fetched completely once it plays, and not over cellular
    /// networks.
    func item(for url: URL, id: String, token: String, in cache: MediaCache) -> AVPlayerItem {
        var options = PlaybackOptions()
        options.headers = ["Authorization": "Bearer \(token)"]
        options.cacheKey = CacheKey("song/\(id)")
        options.readAhead = .toEnd
        options.networkPolicy = .inexpensive
        return cache.playerItem(for: url, options: options)
    }

    /// A bar with the stored parts of the file.
    func showBar(for url: URL, in cache: MediaCache) async {
        for await progress in cache.progress(of: url) {
            print(progress.fractions, progress.statistics.bytesSaved)
        }
    }

    /// A queue that stops loading an item when it is left, and whose next item starts at once.
    @MainActor func playQueue(_ urls: [URL], in cache: MediaCache) -> AVQueuePlayer {
        let player = AVQueuePlayer(items: urls.map { cache.playerItem(for: $0) })
        cache.follow(player, preloading: .bytes(1 << 20))
        player.play()
        return player
    }
// snippet.hide
#endif
