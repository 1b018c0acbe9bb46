// Plays a file with AVPlayer, and stores it along the way.

// snippet.hide
#if canImport(AVFoundation)
    import Foundation

    func example() async throws {
        guard let url = URL(string: "https://example.com/song.mp3") else { return }
        try await play(url)
    }
    // snippet.show
    import AVFoundation
    import RepriseAVPlayer

    @MainActor func play(_ url: URL) async throws {
        let cache = await MediaCache.forPlayback()  // once, and kept
        let player = AVPlayer(playerItem: cache.playerItem(for: url))
        player.play()
    }
// snippet.hide
#endif
