// Addresses for players of an app that take only a URL.

// snippet.hide
#if canImport(AVFoundation)
    import Foundation
    import RepriseAVPlayer

    /// A player that is no `AVPlayer`.
    @MainActor final class ForeignPlayer {
        private var address: PlaybackAddress?

        func play(_ film: URL, options: PlaybackOptions, with player: some OpensURLs) async throws {
            let cache = await MediaCache.forPlayback()
            // snippet.show
            let address = try cache.address(for: film, options: options)
            player.open(address.url)  // hold `address` while it plays
            // snippet.hide
            self.address = address
        }
    }

    protocol OpensURLs {
        func open(_ url: URL)
    }
#endif
