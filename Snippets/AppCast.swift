// Media of an app's cache on another device of the network.

// snippet.hide
#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import RepriseAVPlayer

    @MainActor final class CastingPlayer {
        let cache: MediaCache
        let player = AVPlayer()
        private var cast: CastURL?

        init(cache: MediaCache) { self.cache = cache }

        func followAirPlay() {
            // snippet.show
            #if !os(visionOS)  // which has no external playback
                cache.followExternalPlayback(of: player)
            #endif
            // snippet.hide
        }

        func start(_ film: URL, options: PlaybackOptions, on receiver: some LoadsURLs) throws {
            // snippet.show
            let cast = try cache.castURL(for: film, options: options)
            receiver.load(cast.url)  // hold `cast` while it plays
            // snippet.hide
            self.cast = cast
        }

        func end() async { await cast?.end() }
    }

    protocol LoadsURLs {
        func load(_ url: URL)
    }
#endif
