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
            let follower = QueueFollower(player, cache: self, plan: .next(amount))
            objc_setAssociatedObject(player, LoaderKey.address, follower, .OBJC_ASSOCIATION_RETAIN)
        }

        /// Keeps loading in step with `player`, as ``follow(_:preloading:)`` does, and fetches the beginnings of the
        /// next `count` items.
        ///
        /// They are what the cache preloads, as if ``preload(_:current:options:amount:)`` had been called with the
        /// queue: one such list holds at a time, and this one goes with the player. HLS items are among them.
        ///
        /// - Parameters:
        ///   - player: The player; a second call for it replaces the first.
        ///   - count: How many items behind the current one; none for numbers below 1.
        ///   - amount: How much to store of what lies so many places behind the current one, `nil` for nothing.
        @MainActor public func follow(
            _ player: AVQueuePlayer, ahead count: Int,
            amount: @escaping (_ distance: Int) -> PreloadAmount? = PreloadAmount.atDistance
        ) {
            let follower = QueueFollower(player, cache: self, plan: .list(count, amount))
            objc_setAssociatedObject(player, LoaderKey.address, follower, .OBJC_ASSOCIATION_RETAIN)
        }
    }

    /// Watches the current item of a queue player.
    @MainActor final class QueueFollower {
        /// What is fetched of the items that follow.
        enum Plan {
            /// So much of the next one.
            case next(PreloadAmount)
            /// Of so many, by their distance.
            case list(Int, (_ distance: Int) -> PreloadAmount?)
        }

        private let cache: MediaCache
        private let plan: Plan
        private weak var player: AVQueuePlayer?
        /// The loader of the current item, which an app may keep without the item.
        private weak var current: LoaderDelegate?
        private weak var next: AVPlayerItem?
        private var preload: PreloadTask?
        private var observation: NSKeyValueObservation?

        init(_ player: AVQueuePlayer, cache: MediaCache, plan: Plan) {
            self.player = player
            self.cache = cache
            self.plan = plan
            observation = player.observe(\.currentItem) { [weak self] _, _ in
                // Observers are called on whatever thread made the change.
                Task { @MainActor [weak self] in self?.update() }
            }
            update()
        }

        deinit {
            preload?.cancel()
            cache.endPreload(of: ObjectIdentifier(self))
        }

        /// Checks the queue, of which only the first item can be observed.
        func update() {
            guard let player else { return }
            let items = player.items()
            let loader = player.currentItem.flatMap { MediaCache.loader(of: $0.asset) }
            // Those of an `AVPlayerLooper` have the same asset.
            if let left = current, left !== loader,
                !items.contains(where: { MediaCache.loader(of: $0.asset) === left })
            {
                left.stop()
            }
            current = loader
            switch plan {
            case .next(let amount): preload(items.dropFirst().first, amount)
            case .list(let count, let amount):
                let following = items.dropFirst().prefix(max(0, count))
                cache.preload(
                    inOrder: following.enumerated().compactMap { index, item in
                        guard let amount = amount(index + 1), let resource = MediaCache.resource(of: item.asset)
                        else { return nil }
                        return (resource, amount)
                    }, of: ObjectIdentifier(self))
            }
        }

        private func preload(_ following: AVPlayerItem?, _ amount: PreloadAmount) {
            guard following !== next else { return }
            next = following
            preload?.cancel()
            let source = following.flatMap { MediaCache.loader(of: $0.asset) }?.feed.source
            preload = source.flatMap { $0.options.isStored ? $0.preload(amount) : nil }
        }
    }
#endif
