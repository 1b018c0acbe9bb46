#if canImport(AVFoundation)
    import AVFoundation
    import Dispatch
    import Foundation
    import Observation
    import RepriseAVPlayer

    /// A queue player, and the stored parts of the file that it plays.
    @MainActor @Observable final class PlayerModel {
        let player = AVQueuePlayer()
        private(set) var progress = StoredProgress()
        private(set) var position = 0.0
        private(set) var duration = 0.0
        private(set) var message = ""
        private let cache: MediaCache
        private var entries: [Entry] = []
        /// The URL of the file whose stored parts are shown.
        private var watched: URL?
        private var watcher: Task<Void, Never>?
        private var ticker: Any?
        private var observation: NSKeyValueObservation?
        /// The item that has stopped because its buffer is empty.
        private weak var stalled: AVPlayerItem?
        private var stalls: (any NSObjectProtocol)?
        private var buffering: NSKeyValueObservation?

        /// An item of the queue, and what it plays.
        private struct Entry {
            let item: AVPlayerItem
            let url: URL
        }

        init(cache: MediaCache) {
            self.cache = cache
            cache.follow(player)
            #if !os(visionOS)
                cache.followExternalPlayback(of: player) { [weak self] old, new in self?.exchange(old, for: new) }
            #endif
            // The queue also advances by itself, on whatever thread.
            observation = player.observe(\.currentItem) { [weak self] _, _ in
                Task { @MainActor [weak self] in self?.watch() }
            }
            // AVFoundation advises this if a delegate loads the media. The player then stays stopped after a stall.
            player.automaticallyWaitsToMinimizeStalling = false
            stalls = NotificationCenter.default.addObserver(
                forName: .AVPlayerItemPlaybackStalled, object: nil, queue: nil
            ) { [weak self] notification in
                let item = notification.object as? AVPlayerItem
                Task { @MainActor [weak self] in self?.noteStall(of: item) }
            }
            let interval = CMTime(value: 1, timescale: 4)
            ticker = player.addPeriodicTimeObserver(forInterval: interval, queue: .main) { [weak self] _ in
                MainActor.assumeIsolated { self?.tick() }
            }
        }

        /// Whether the player has stopped because its buffer is empty.
        var isStalled: Bool { stalled != nil }

        /// Whether items use stored bytes only; also changes those that play.
        var isOffline = false {
            didSet {
                let policy: NetworkPolicy = isOffline ? .never : .any
                for item in player.items() { cache.setNetworkPolicy(policy, for: item) }
            }
        }

        /// Ends playback; a player must not be released while its time is observed.
        func close() {
            if let ticker { player.removeTimeObserver(ticker) }
            ticker = nil
            observation = nil
            if let stalls { NotificationCenter.default.removeObserver(stalls) }
            (stalls, buffering) = (nil, nil)
            player.removeAllItems()
            watch()
        }

        /// Plays the URLs of some lines, one after the other.
        func play(_ lines: String) {
            let urls = lines.split(whereSeparator: \.isNewline).compactMap {
                URL(string: $0.trimmingCharacters(in: .whitespaces))
            }
            message = ""
            player.removeAllItems()
            let options = PlaybackOptions.demo(isOffline: isOffline)
            entries = urls.map { Entry(item: cache.playerItem(for: $0, options: options), url: $0) }
            for entry in entries { player.insert(entry.item, after: nil) }
            watch()
            player.play()
        }

        func next() {
            player.advanceToNextItem()
            watch()
        }

        func seek(to seconds: Double) {
            guard duration > 0 else { return }
            player.seek(to: CMTime(seconds: seconds, preferredTimescale: 600))
        }

        func clear() {
            player.removeAllItems()
            watch()
            Task {
                do {
                    try await cache.removeAll()
                    progress = StoredProgress()
                    message = "cleared"
                } catch {
                    message = "\(error)"
                }
            }
        }

        /// Notes what the item plays that takes the place of another one because AirPlay begins or ends.
        private func exchange(_ old: AVPlayerItem, for new: AVPlayerItem) {
            guard let url = entries.first(where: { $0.item === old })?.url else { return }
            entries.append(Entry(item: new, url: url))
        }

        /// Shows the stored parts of the current item.
        private func watch() {
            let items = player.items()
            entries.removeAll { entry in !items.contains { $0 === entry.item } }
            let url = entries.first { $0.item === player.currentItem }?.url
            guard url != watched else { return }
            watched = url
            watcher?.cancel()
            progress = StoredProgress()
            guard let url else { return }
            // Of an HLS stream there is no such progress: its segments are files of their own.
            watcher = Task { [cache, weak self] in
                for await progress in cache.progress(of: url) where !Task.isCancelled { self?.progress = progress }
            }
        }

        /// Plays on when the buffer of the current item is filled again.
        private func noteStall(of item: AVPlayerItem?) {
            guard let item, item === player.currentItem else { return }
            stalled = item
            buffering = item.observe(\.isPlaybackLikelyToKeepUp) { [weak self] _, _ in
                Task { @MainActor [weak self] in self?.playOn() }
            }
            playOn()
        }

        private func playOn() {
            guard let item = stalled, item.isPlaybackLikelyToKeepUp else { return }
            (stalled, buffering) = (nil, nil)
            if item === player.currentItem { player.play() }
        }

        private func tick() {
            position = player.currentTime().seconds
            duration = player.currentItem.map { $0.duration.isNumeric ? $0.duration.seconds : 0 } ?? 0
            guard let item = player.currentItem, let error = item.error else { return }
            message = cache.loadingError(of: item)?.message ?? error.localizedDescription
        }
    }
#endif
