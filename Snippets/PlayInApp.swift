// Plays a file with AVPlayer, and stores it along the way.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    func configure() throws {
        // snippet.show
        let support = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        var configuration = MediaCache.Configuration()
        configuration.limit = 5_000_000_000
        try MediaCache.configureShared(
            directory: support.appendingPathComponent("Reprise"), configuration: configuration)
        // snippet.hide
    }

    func check(_ url: URL) async -> Bool {
        // snippet.show
        let isStored = await MediaCache.shared.isCached(url)
        // snippet.hide
        return isStored
    }

    @MainActor func play(_ url: URL) {
        // snippet.show
        let player = AVPlayer(playerItem: .cached(url))
        player.play()
        // snippet.hide
    }

    @MainActor func play(_ url: URL, in folder: URL) async {
        // snippet.show
        let cache = await MediaCache.forPlayback()  // once, and kept
        let player = AVPlayer(playerItem: cache.playerItem(for: url))
        player.play()
        // snippet.hide
    }
#endif
