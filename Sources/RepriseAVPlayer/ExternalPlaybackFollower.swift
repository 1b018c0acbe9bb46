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
        /// Lasts as long as the player; a second call replaces the first, and what a receiver plays goes on. An item
        /// is exchanged once it is ready to play, and the new one starts at its time, unless it is live. Items that
        /// were not made by this library are left alone, as are those for which there is no local network: the receiver
        /// then gets the item's own URL. An item that fails at the receiver is exchanged back when external playback
        /// ends, and is not sent again.
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
            let plan = ExternalPlaybackFollower.Plan(cache: self, prepare: prepare) {
                [self] item throws(RepriseError) in
                try castURL(for: item)
            }
            ExternalPlaybackFollower.follow(player, plan)
        }
    }

    /// Watches whether a player sends its video to a receiver, and exchanges its item.
    @MainActor final class ExternalPlaybackFollower {
        /// What the app wants.
        struct Plan {
            let cache: MediaCache
            let prepare: @MainActor (AVPlayerItem, AVPlayerItem) -> Void
            let makeAddress: (CastItem) throws(RepriseError) -> CastURL
        }

        /// The item for the receiver, and what it stands for.
        private struct Cast {
            let item: AVPlayerItem
            let address: CastURL
            let original: CastItem
            let url: URL
            /// Where the item that it stands for was.
            let start: Position
        }

        /// How an item plays.
        private struct Position {
            /// Where in its media; `nil` if it is live.
            let time: CMTime?
            let rate: Float

            @MainActor init(of item: AVPlayerItem, in player: AVPlayer) {
                time = item.duration.isNumeric ? player.currentTime() : nil
                rate = player.rate
            }

            /// That of an item that has failed, which may have lost its duration and its time, and began at `start`.
            @MainActor init(ofFailed player: AVPlayer, from start: Position) {
                let now = player.currentTime()
                time = start.time.map { now.isNumeric && now.seconds > 0 ? now : $0 }
                rate = player.rate
            }
        }

        private var plan: Plan
        private weak var player: AVPlayer?
        private var rules = ExternalPlayback()
        private var cast: Cast?
        /// The item that took the place of one that failed at the receiver, where it would fail again.
        private weak var returned: AVPlayerItem?
        private var observations: [NSKeyValueObservation] = []
        /// The item whose status is observed.
        private weak var watched: AVPlayerItem?
        private var readiness: NSKeyValueObservation?
        /// The item with a time limit, the limit, and its timer.
        private var wait: (item: AVPlayerItem, time: Duration, task: Task<Void, Never>)?
        /// The item of the last exchange until it is ready, because players may drop earlier seeks.
        private var exchanged: (item: AVPlayerItem, position: Position, time: Duration)?
        /// Time after an exchange in which players have been seen to pause by themselves.
        private static let settlingTime = Duration.seconds(3)

        /// Follows `player` as long as it lives.
        ///
        /// One that is followed already keeps its follower, with the item that plays at a receiver; only the plan
        /// changes.
        @discardableResult static func follow(_ player: AVPlayer, _ plan: Plan) -> ExternalPlaybackFollower {
            let known = objc_getAssociatedObject(player, LoaderKey.externalPlayback) as? ExternalPlaybackFollower
            if let known {
                known.plan = plan
                return known
            }
            let new = ExternalPlaybackFollower(player, plan)
            objc_setAssociatedObject(player, LoaderKey.externalPlayback, new, .OBJC_ASSOCIATION_RETAIN)
            new.update()
            return new
        }

        private init(_ player: AVPlayer, _ plan: Plan) {
            self.player = player
            self.plan = plan
            // Observers are called on whatever thread made the change.
            observations = [
                player.observe(\.isExternalPlaybackActive) { [weak self] _, _ in
                    Task { @MainActor [weak self] in self?.update() }
                },
                player.observe(\.currentItem) { [weak self] _, _ in
                    Task { @MainActor [weak self] in self?.update() }
                },
            ]
        }

        /// The address at which the receiver loads; `nil` while nothing is sent to one.
        var address: CastURL? { cast?.address }

        func update() { update(takesTooLong: false) }

        private func update(takesTooLong: Bool) {
            guard let player else { return }
            watch(player.currentItem)
            settle(player)
            let (isExternal, current) = (player.isExternalPlaybackActive, current(of: player))
            defer {
                let item = player.currentItem
                let current = self.current(of: player)
                limitWait(for: item, to: rules.patience(for: current, isExternal: player.isExternalPlaybackActive))
            }
            switch rules.update(isExternal: isExternal, current: current, takesTooLong: takesTooLong) {
            case .none: return
            case .send: send(player)
            case .bringBack:
                if let cast { bringBack(cast, in: player, at: Position(of: cast.item, in: player)) }
            case .giveUp(let wasReady):
                guard let cast else { return }
                // What the receiver has never played comes back as it was sent.
                let position = wasReady ? Position(ofFailed: player, from: cast.start) : cast.start
                returned = bringBack(cast, in: player, at: position)
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

        /// Updates again with `takesTooLong` after `time`; `nil` cancels the timer.
        private func limitWait(for item: AVPlayerItem?, to time: Duration?) {
            if let wait, wait.time == time, wait.item === item { return }
            wait?.task.cancel()
            wait = nil
            guard let item, let time else { return }
            let clock = plan.cache.clock
            let task = Task { @MainActor [weak self, weak item] in
                guard (try? await clock.sleepWhileRunning(time)) != nil, let self, let item else { return }
                if wait?.item === item, wait?.time == time { update(takesTooLong: true) }
            }
            wait = (item, time, task)
        }

        /// Repeats the seek after an exchange, and the rate, if the player has dropped them.
        private func settle(_ player: AVPlayer) {
            guard let exchanged else { return }
            guard exchanged.item === player.currentItem else { return self.exchanged = nil }
            guard exchanged.item.status == .readyToPlay else { return }
            self.exchanged = nil
            // At any other position the seek has worked, or the user has sought since.
            let now = player.currentTime()
            if let time = exchanged.position.time, time.seconds > 1, !now.isNumeric || now.seconds < 1 {
                player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
            }
            let isEarly = plan.cache.clock.elapsed() - exchanged.time < Self.settlingTime
            if exchanged.position.rate != 0, player.rate == 0, isEarly { player.rate = exchanged.position.rate }
        }

        private func current(of player: AVPlayer) -> ExternalPlayback.Current {
            guard let item = player.currentItem else { return .other }
            if let cast, cast.item === item { return .cast(Self.readiness(of: item)) }
            let isLeftAlone = item === returned || MediaCache.source(of: item.asset) == nil
            return isLeftAlone ? .other : .cached(Self.readiness(of: item))
        }

        private static func readiness(of item: AVPlayerItem) -> ExternalPlayback.Readiness {
            switch item.status {
            case .readyToPlay: .ready
            case .failed: .failed
            default: .opening
            }
        }

        private func send(_ player: AVPlayer) {
            guard let item = player.currentItem, let source = MediaCache.source(of: item.asset),
                let url = URL(source.url)
            else { return rules.failed() }
            let original = CastItem(source, stream: MediaCache.stream(of: item.asset)?.proxy)
            guard let address = try? plan.makeAddress(original) else { return rules.failed() }
            let new = AVPlayerItem(url: address.url)
            if let asset = new.asset as? AVURLAsset { MediaCache.retain(original, by: asset) }
            let start = Position(of: item, in: player)
            cast = Cast(item: new, address: address, original: original, url: url, start: start)
            exchange(item, for: new, in: player, at: start)
        }

        @discardableResult private func bringBack(
            _ cast: Cast, in player: AVPlayer, at position: Position
        ) -> AVPlayerItem {
            let item = plan.cache.playerItem(for: cast.url, options: cast.original.currentOptions)
            exchange(cast.item, for: item, in: player, at: position)
            forget()
            return item
        }

        /// Ends the address; what is being sent to the receiver breaks off.
        private func forget() { cast = nil }

        /// Puts `new` in the place of `old`, and has it play as that did.
        private func exchange(
            _ old: AVPlayerItem, for new: AVPlayerItem, in player: AVPlayer, at position: Position
        ) {
            plan.prepare(old, new)
            if let queue = player as? AVQueuePlayer {
                queue.insert(new, after: old)
                queue.remove(old)
            } else {
                player.replaceCurrentItem(with: new)
            }
            // Otherwise playback would jump to a key frame, which may be many seconds away.
            if let time = position.time { player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) }
            if position.rate != 0 { player.rate = position.rate }
            exchanged = (new, position, plan.cache.clock.elapsed())
        }
    }
#endif

#if canImport(AVFoundation) && (os(visionOS) || os(watchOS) || !Streams)
    public import AVFoundation
    public import Reprise

    extension MediaCache {
        /// Needs the trait `Streams` of the package, and external playback, which visionOS does not have.
        @available(
            *, unavailable,
            message: "needs the trait Streams of the package reprise, and external playback (not on visionOS)"
        )
        @MainActor public func followExternalPlayback(
            of player: AVPlayer,
            prepare: @escaping @MainActor (_ old: AVPlayerItem, _ new: AVPlayerItem) -> Void = { _, _ in }
        ) {}
    }
#endif
