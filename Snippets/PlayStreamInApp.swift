// Plays an HLS stream with AVPlayer, and stores it along the way.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    @MainActor func play(_ url: URL) {
        // snippet.show
        let player = AVPlayer(playerItem: .cached(url))  // https://example.com/film/index.m3u8
        player.play()
        // snippet.hide
    }
#endif
