// Addresses for players of an app that take only a URL.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    // snippet.show
    /// Gives the players of this app that take only a URL addresses that lead through the cache.
    actor CachedAddresses {
        /// Hold the proxies: addresses are valid as long as an asset that was made with the same options lives.
        private var assets: [PlaybackOptions: AVURLAsset] = [:]

        func address(of url: URL, headers: [String: String] = [:]) async -> URL {
            let cache = await MediaCache.forPlayback()
            var options = PlaybackOptions()
            options.headers = headers
            options.fileType = "m3u8"  // through the proxy, whatever it is
            let asset = cache.asset(for: url, options: options)
            if asset.url != url { assets[options] = asset }
            return asset.url
        }
    }
// snippet.hide
#endif
