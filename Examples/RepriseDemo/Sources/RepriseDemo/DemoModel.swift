#if canImport(AVFoundation)
    import Foundation
    import Observation
    import RepriseAVPlayer

    /// The state of the app: one cache, and what plays through it.
    ///
    /// None of the models needs SwiftUI, so that a machine without it can compile them, too.
    @MainActor @Observable final class DemoModel {
        let player: PlayerModel
        let feed: FeedModel
        let downloads: DownloadsModel
        private let cache: MediaCache

        init(cache: MediaCache, clips: [URL] = Samples.clips) {
            self.cache = cache
            player = PlayerModel(cache: cache)
            feed = FeedModel(cache: cache, clips: clips)
            downloads = DownloadsModel(cache: cache)
        }

        /// Opens the app's cache, and makes the models.
        static func open() async -> DemoModel { DemoModel(cache: await openCache()) }

        /// The app's cache, the same for each caller, in a folder that the system does not empty, because it has
        /// downloads.
        static func openCache() async -> MediaCache {
            await MediaCache.forPlayback(directory: directory, origin: origin)
        }

        /// On iOS downloads go on while the app does not run (`AppDelegate`).
        private static var origin: URLSessionOrigin {
            #if os(iOS)
                URLSessionOrigin(backgroundDownloads: "reprise.demo.downloads")
            #else
                URLSessionOrigin()
            #endif
        }

        private static var directory: URL? {
            #if os(tvOS)
                // It has no such folder.
                nil
            #else
                try? FileManager.default.url(
                    for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true
                ).appendingPathComponent("RepriseDemo", isDirectory: true)
            #endif
        }

        /// Whether players use stored bytes only; downloads go on.
        var isOffline = false {
            didSet {
                player.isOffline = isOffline
                feed.isOffline = isOffline
            }
        }

        /// What the cache has saved since it was opened.
        var savings: String {
            let statistics = cache.statistics
            // While a file is played for the first time, its fetch is ahead of the player.
            return
                "saved \(Self.text(max(statistics.bytesSaved, 0))): played \(Self.text(statistics.bytesServed)), "
                + "fetched \(Self.text(statistics.bytesFetched)) in \(statistics.originRequests) requests"
        }

        /// Why nothing is stored; `nil` if it is.
        var problem: String? { cache.storeProblem?.message }

        static func text(_ bytes: Int64) -> String {
            ByteCountFormatter.string(fromByteCount: bytes, countStyle: .file)
        }

        /// Ends playback, and closes the cache.
        func close() async {
            player.close()
            feed.leave()
            downloads.close()
            await cache.close()
        }
    }

    extension PlaybackOptions {
        /// The options of the app's items.
        static func demo(isOffline: Bool) -> PlaybackOptions { isOffline ? .storedOnly : PlaybackOptions() }
    }
#endif
