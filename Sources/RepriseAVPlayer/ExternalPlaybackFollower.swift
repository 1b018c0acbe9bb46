#if canImport(AVFoundation) && Streams && !os(visionOS) && !os(watchOS)
    public import AVFoundation
    import Foundation
    public import Reprise

    #if canImport(ObjectiveC)
        import ObjectiveC
    #endif

    extension MediaCache {
        /// Lets receivers of AirPlay play what `player` plays from this cache: while the player sends its video to one,
        /// the item is exchanged for one with a ``CastURL``, and afterwards for one that plays on this device.
        ///
        /// ```swift
        /// cache.followExternalPlayback(of: player)
        /// ```
        /// Lasts as long as the player; a second call replaces the first. The new item starts at the time of the old
        /// one, unless it is live. Items that were not made by this library are left alone, as are those for which
        /// there is no local network: the receiver then gets the item's own URL. What the app observes of an item, it
        /// has to observe of the new one: see `currentItem` of the player.
        @MainActor public func followExternalPlayback(of player: AVPlayer) {
            let follower = ExternalPlaybackFollower(player, cache: self) { [self] source throws(RepriseError) in
                try castURL(for: source.url, options: source.currentOptions)
            }
            objc_setAssociatedObject(player, LoaderKey.externalPlayback, follower, .OBJC_ASSOCIATION_RETAIN)
        }
    }

    /// Watches whether a player sends its video to a receiver, and exchanges its item.
    @MainActor final class ExternalPlaybackFollower {
        /// The item for the receiver, and what it stands for.
        private struct Cast {
            let item: AVPlayerItem
            let address: CastURL
            let original: URL
            let options: PlaybackOptions
            /// Where the item that it stands for was; `nil` if that was live.
            let start: CMTime?
        }

        private let cache: MediaCache
        private let makeAddress: (AssetSource) throws(RepriseError) -> CastURL
        private weak var player: AVPlayer?
        private var rules = ExternalPlayback()
        private var cast: Cast?
        private var observations: [NSKeyValueObservation] = []
        private var readiness: NSKeyValueObservation?

        init(
            _ player: AVPlayer, cache: MediaCache,
            makeAddress: @escaping (AssetSource) throws(RepriseError) -> CastURL
        ) {
            self.player = player
            self.cache = cache
            self.makeAddress = makeAddress
            // Observers are called on whatever thread made the change.
            observations = [
                player.observe(\.isExternalPlaybackActive) { [weak self] _, _ in
                    Task { @MainActor [weak self] in self?.update() }
                },
                player.observe(\.currentItem) { [weak self] _, _ in
                    Task { @MainActor [weak self] in self?.update() }
                },
            ]
            update()
        }

        /// The address at which the receiver loads; `nil` while nothing is sent to one.
        var address: CastURL? { cast?.address }

        func update() {
            guard let player else { return }
            switch rules.update(isExternal: player.isExternalPlaybackActive, current: current(of: player)) {
            case .none: return
            case .send: send(player)
            case .bringBack: bringBack(player)
            case .end:
                forget()
                // The item that follows is sent, too; nothing else reports it.
                update()
            }
        }

        private func current(of player: AVPlayer) -> ExternalPlayback.Current {
            guard let item = player.currentItem else { return .other }
            if let cast, cast.item === item { return .cast(isOpening: item.status == .unknown) }
            return MediaCache.source(of: item.asset) == nil ? .other : .cached
        }

        private func send(_ player: AVPlayer) {
            guard let item = player.currentItem, let source = MediaCache.source(of: item.asset),
                let original = URL(string: source.url.description), let address = try? makeAddress(source)
            else { return rules.failed() }
            let new = AVPlayerItem(url: address.url)
            let start = Self.time(of: item, in: player)
            cast = Cast(item: new, address: address, original: original, options: source.currentOptions, start: start)
            readiness = new.observe(\.status) { [weak self] _, _ in
                Task { @MainActor [weak self] in self?.update() }
            }
            Self.exchange(item, for: new, in: player, at: start)
        }

        private func bringBack(_ player: AVPlayer) {
            guard let cast else { return }
            let item = cache.playerItem(for: cast.original, options: cast.options)
            Self.exchange(cast.item, for: item, in: player, at: Self.time(of: cast, in: player))
            forget()
        }

        /// Ends the address; what is being sent to the receiver breaks off.
        private func forget() { (cast, readiness) = (nil, nil) }

        /// Where `item` is in its media; `nil` if it is live.
        private static func time(of item: AVPlayerItem, in player: AVPlayer) -> CMTime? {
            item.duration.isNumeric ? player.currentTime() : nil
        }

        private static func time(of cast: Cast, in player: AVPlayer) -> CMTime? {
            guard cast.item.status == .failed else { return time(of: cast.item, in: player) }
            // It may have no duration, and if it has never played, no time either.
            return cast.start.map { start in
                let now = player.currentTime()
                return now.isNumeric && now.seconds > start.seconds ? now : start
            }
        }

        /// Puts `new` in the place of `old`, at `time` of the media, as fast as before.
        private static func exchange(
            _ old: AVPlayerItem, for new: AVPlayerItem, in player: AVPlayer, at time: CMTime?
        ) {
            let rate = player.rate
            if let queue = player as? AVQueuePlayer {
                queue.insert(new, after: old)
                queue.remove(old)
            } else {
                player.replaceCurrentItem(with: new)
            }
            if let time { player.seek(to: time) }
            if rate != 0 { player.rate = rate }
        }
    }
#endif
