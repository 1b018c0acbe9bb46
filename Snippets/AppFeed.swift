// A feed of clips, and a queue, in an app.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    @MainActor final class Feed {
        let cache: MediaCache
        let clips: [URL]
        let player = AVPlayer()

        init(_ clips: [URL]) async {
            self.clips = clips
            // snippet.show
            let cache = await MediaCache.shared
            // snippet.hide
            self.cache = cache
        }

        func scrolled(to visible: Int) {
            // snippet.show
            // In the callback of the scroll view:
            cache.preload(clips, current: visible)
            player.replaceCurrentItem(with: cache.playerItem(for: clips[visible]))
            // snippet.hide
        }

        func playAll() {
            // snippet.show
            let queuePlayer = AVQueuePlayer(items: clips.map { cache.playerItem(for: $0) })
            cache.follow(queuePlayer, ahead: 3)
            // snippet.hide
            queuePlayer.play()
        }
    }
#endif
