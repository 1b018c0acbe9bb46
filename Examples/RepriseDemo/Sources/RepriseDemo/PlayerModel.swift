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
        private var urls: [URL] = []
        private var watcher: Task<Void, Never>?
        private var ticker: Any?

        init(cache: MediaCache) {
            self.cache = cache
            cache.follow(player)
            let interval = CMTime(value: 1, timescale: 4)
            ticker = player.addPeriodicTimeObserver(forInterval: interval, queue: .main) { [weak self] _ in
                MainActor.assumeIsolated { self?.tick() }
            }
        }

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
            watcher?.cancel()
            player.removeAllItems()
        }

        /// Plays the URLs of some lines, one after the other.
        func play(_ lines: String) {
            urls = lines.split(whereSeparator: \.isNewline).compactMap {
                URL(string: $0.trimmingCharacters(in: .whitespaces))
            }
            message = ""
            player.removeAllItems()
            let options = PlaybackOptions.demo(isOffline: isOffline)
            for url in urls { player.insert(cache.playerItem(for: url, options: options), after: nil) }
            watch()
            player.play()
        }

        func next() {
            if !urls.isEmpty { urls.removeFirst() }
            player.advanceToNextItem()
            watch()
        }

        func seek(to seconds: Double) {
            guard duration > 0 else { return }
            player.seek(to: CMTime(seconds: seconds, preferredTimescale: 600))
        }

        func clear() {
            player.removeAllItems()
            watcher?.cancel()
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

        private func watch() {
            watcher?.cancel()
            progress = StoredProgress()
            guard let url = urls.first else { return }
            // Of an HLS stream there is no such progress: its segments are files of their own.
            watcher = Task { [cache, weak self] in
                for await progress in cache.progress(of: url) { self?.progress = progress }
            }
        }

        private func tick() {
            position = player.currentTime().seconds
            duration = player.currentItem.map { $0.duration.isNumeric ? $0.duration.seconds : 0 } ?? 0
            guard let item = player.currentItem, let error = item.error else { return }
            message = cache.loadingError(of: item)?.message ?? error.localizedDescription
        }
    }
#endif
