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
        /// Lasts as long as the player; a second call replaces the first. An item is exchanged once it is ready to
        /// play, and the new one starts at its time, unless it is live. Items that were not made by this library are
        /// left alone, as are those for which there is no local network: the receiver then gets the item's own URL.
        ///
        /// The new item has nothing else of the old one: `prepare` carries over what the app has set, such as bit rate
        /// limits, external metadata, chosen subtitles and observers. With FairPlay it makes the new item's asset a
        /// recipient of the app's `AVContentKeySession`; the player asks for keys as soon as it has the item.
        ///
        /// ```swift
        /// cache.followExternalPlayback(of: player) { [keys] old, new in
        ///     new.preferredPeakBitRate = old.preferredPeakBitRate
        ///     if let asset = new.asset as? AVURLAsset { keys.addContentKeyRecipient(asset) }
        /// }
        /// ```
        /// - Parameters:
        ///   - player: The player.
        ///   - prepare: Called with the old and the new item before each exchange, there and back. It is kept as long
        ///     as the player, which it must not retain.
        @MainActor public func followExternalPlayback(
            of player: AVPlayer,
            prepare: @escaping @MainActor (_ old: AVPlayerItem, _ new: AVPlayerItem) -> Void = { _, _ in }
        ) {
            let follower = ExternalPlaybackFollower(player, cache: self, prepare: prepare) {
                [self] item throws(RepriseError) in
                try castURL(for: item)
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
            let original: CastItem
            let url: URL
            /// Where the item that it stands for was; `nil` if that was live.
            let start: CMTime?
        }

        private let cache: MediaCache
        private let prepare: @MainActor (AVPlayerItem, AVPlayerItem) -> Void
        private let makeAddress: (CastItem) throws(RepriseError) -> CastURL
        private weak var player: AVPlayer?
        private var rules = ExternalPlayback()
        private var cast: Cast?
        private var observations: [NSKeyValueObservation] = []
        /// The item whose status is observed.
        private weak var watched: AVPlayerItem?
        private var readiness: NSKeyValueObservation?

        init(
            _ player: AVPlayer, cache: MediaCache,
            prepare: @escaping @MainActor (AVPlayerItem, AVPlayerItem) -> Void,
            makeAddress: @escaping (CastItem) throws(RepriseError) -> CastURL
        ) {
            self.player = player
            self.cache = cache
            self.prepare = prepare
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
            watch(player.currentItem)
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

        /// Observes whether the current item can be played, which decides when it is exchanged.
        private func watch(_ item: AVPlayerItem?) {
            guard item !== watched else { return }
            watched = item
            readiness = item?.observe(\.status) { [weak self] _, _ in
                Task { @MainActor [weak self] in self?.update() }
            }
        }

        private func current(of player: AVPlayer) -> ExternalPlayback.Current {
            guard let item = player.currentItem else { return .other }
            let isOpening = item.status == .unknown
            if let cast, cast.item === item { return .cast(isOpening: isOpening) }
            return MediaCache.source(of: item.asset) == nil ? .other : .cached(isOpening: isOpening)
        }

        private func send(_ player: AVPlayer) {
            guard let item = player.currentItem, let source = MediaCache.source(of: item.asset),
                let url = URL(string: source.url.description)
            else { return rules.failed() }
            let original = CastItem(source, stream: MediaCache.stream(of: item.asset)?.proxy)
            guard let address = try? makeAddress(original) else { return rules.failed() }
            let new = AVPlayerItem(url: address.url)
            if let asset = new.asset as? AVURLAsset { MediaCache.retain(original, by: asset) }
            let start = Self.time(of: item, in: player)
            cast = Cast(item: new, address: address, original: original, url: url, start: start)
            exchange(item, for: new, in: player, at: start)
        }

        private func bringBack(_ player: AVPlayer) {
            guard let cast else { return }
            let item = cache.playerItem(for: cast.url, options: cast.original.currentOptions)
            exchange(cast.item, for: item, in: player, at: Self.time(of: cast, in: player))
            forget()
        }

        /// Ends the address; what is being sent to the receiver breaks off.
        private func forget() { cast = nil }

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
        private func exchange(_ old: AVPlayerItem, for new: AVPlayerItem, in player: AVPlayer, at time: CMTime?) {
            prepare(old, new)
            let rate = player.rate
            if let queue = player as? AVQueuePlayer {
                queue.insert(new, after: old)
                queue.remove(old)
            } else {
                player.replaceCurrentItem(with: new)
            }
            // Otherwise playback would jump to a key frame, which may be many seconds away.
            if let time { player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) }
            if rate != 0 { player.rate = rate }
        }
    }
#endif
