#if canImport(AVFoundation)
    public import AVFoundation
    import Foundation
    public import Reprise

    #if canImport(ObjectiveC)
        import ObjectiveC
    #endif

    extension MediaCache {
        /// Keeps loading in step with `player`: stops loading for an item that the player has left, which the player
        /// itself doesn't do, and fetches the beginning of the next.
        ///
        /// Lasts as long as the player; a second call replaces the first. Items that were not made by this library are
        /// ignored. A player only reports its current item: items inserted after it during playback are noticed when
        /// the player advances, or immediately by calling this again.
        @MainActor public func follow(_ player: AVQueuePlayer, preloading amount: PreloadAmount = .bytes(1 << 20)) {
            let follower = QueueFollower(player, cache: self, amount: amount)
            objc_setAssociatedObject(player, LoaderKey.address, follower, .OBJC_ASSOCIATION_RETAIN)
        }
    }

    /// Watches the current item of a queue player.
    @MainActor final class QueueFollower {
        private let cache: MediaCache
        private let amount: PreloadAmount
        private weak var player: AVQueuePlayer?
        private weak var current: AVPlayerItem?
        private weak var next: AVPlayerItem?
        private var preload: PreloadTask?
        private var observation: NSKeyValueObservation?

        init(_ player: AVQueuePlayer, cache: MediaCache, amount: PreloadAmount) {
            self.player = player
            self.cache = cache
            self.amount = amount
            observation = player.observe(\.currentItem) { [weak self] _, _ in
                // Observers are called on whatever thread made the change.
                Task { @MainActor [weak self] in self?.update() }
            }
            update()
        }

        deinit { preload?.cancel() }

        /// Checks the queue, of which only the first item can be observed.
        func update() {
            guard let player else { return }
            let items = player.items()
            if let left = current, left !== player.currentItem, !items.contains(where: { $0 === left }) {
                cache.stopLoading(of: left)
            }
            current = player.currentItem
            let following = items.dropFirst().first
            guard following !== next else { return }
            next = following
            preload?.cancel()
            preload = following.flatMap { MediaCache.loader(of: $0.asset) }.map { $0.feed.source.preload(amount) }
        }
    }
#endif
