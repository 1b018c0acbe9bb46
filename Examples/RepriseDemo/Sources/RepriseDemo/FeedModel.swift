#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import Observation
    import RepriseAVPlayer

    /// A feed of clips: the visible one plays, and the beginnings of the next ones are stored.
    @MainActor @Observable final class FeedModel {
        let player = AVPlayer()
        let clips: [URL]
        private(set) var visible: Int?
        private let cache: MediaCache

        init(cache: MediaCache, clips: [URL]) {
            self.cache = cache
            self.clips = clips
        }

        /// Whether clips use stored bytes only.
        var isOffline = false {
            didSet {
                let policy: NetworkPolicy = isOffline ? .never : .any
                if let item = player.currentItem { cache.setNetworkPolicy(policy, for: item) }
                preload()
            }
        }

        /// Plays the clip that is visible now.
        func show(_ index: Int) {
            guard index != visible, clips.indices.contains(index) else { return }
            visible = index
            preload()
            let options = PlaybackOptions.demo(isOffline: isOffline)
            player.replaceCurrentItem(with: cache.playerItem(for: clips[index], options: options))
            player.play()
        }

        /// Ends playback and preloading.
        func leave() {
            visible = nil
            player.replaceCurrentItem(with: nil)
            preload()
        }

        private func preload() {
            cache.preload(visible == nil || isOffline ? [URL]() : clips, current: visible)
        }
    }
#endif
