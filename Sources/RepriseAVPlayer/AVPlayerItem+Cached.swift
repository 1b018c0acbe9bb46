#if canImport(AVFoundation)
    public import AVFoundation
    public import Foundation
    import Reprise

    extension AVPlayerItem {
        /// A player item for the media at `url`, which is cached by ``MediaCache/shared`` while it plays.
        ///
        /// ```swift
        /// let player = AVPlayer(playerItem: .cached(url))
        /// ```
        /// Returns immediately. The item's requests wait until the cache is open. Otherwise, this is
        /// ``MediaCache/playerItem(for:options:)`` of that cache, which apps with several caches use.
        public nonisolated static func cached(
            _ url: URL, options: PlaybackOptions = PlaybackOptions()
        ) -> AVPlayerItem {
            AVPlayerItem(asset: AVURLAsset.cached(url, options: options))
        }
    }

    extension AVURLAsset {
        /// An asset for the media at `url`, which is cached by ``MediaCache/shared`` while it is played or read.
        ///
        /// See `AVPlayerItem.cached(_:options:)`.
        public nonisolated static func cached(
            _ url: URL, options: PlaybackOptions = PlaybackOptions()
        ) -> AVURLAsset {
            MediaCache.asset(for: url, options: options, of: SharedCache.app.cache())
        }
    }
#endif
