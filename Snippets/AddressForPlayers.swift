// Addresses for players of an app that take only a URL.

// snippet.hide
#if canImport(AVFoundation)
    import Foundation
    import RepriseAVPlayer

    /// A player that is no `AVPlayer`.
    @MainActor final class ForeignPlayer {
        private var address: PlaybackAddress?

        func play(_ film: URL, options: PlaybackOptions, with player: some OpensURLs) async throws {
            let cache = await MediaCache.shared
            // snippet.show
            let address = try cache.address(for: film, options: options)
            player.open(address.url)  // hold `address` while it plays
            // snippet.hide
            self.address = address
        }
    }

    // snippet.show
    /// Addresses for the players of the app.
    @MainActor enum Addresses {
        /// The newest for each set of request fields; its proxy serves those before, too.
        private static var newest: [PlaybackOptions: PlaybackAddress] = [:]

        static func cached(_ text: String, headers: [String: String]) async throws -> String {
            guard let url = URL(string: text) else { return text }
            var options = PlaybackOptions()
            options.headers = headers
            let address = try await MediaCache.shared.address(for: url, options: options)
            newest[options] = address
            return address.url.absoluteString
        }
    }
    // snippet.hide

    protocol OpensURLs {
        func open(_ url: URL)
    }
#endif
