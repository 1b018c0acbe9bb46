// Plays an HLS stream with AVPlayer, and stores it along the way.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    func example() async throws {
        guard let url = URL(string: "https://example.com/film/index.m3u8") else { return }
        try await play(url)
    }

    @MainActor func play(_ url: URL) async throws {
        // snippet.show
        let cache = await MediaCache.forPlayback()  // once, and kept
        let player = AVPlayer(playerItem: cache.playerItem(for: url))  // https://example.com/film/index.m3u8
        player.play()
        // snippet.hide
    }
#endif
