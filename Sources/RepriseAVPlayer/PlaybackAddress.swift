public import Foundation
import Primitives
public import Reprise

/// An address in this process that leads through a cache, for players that take only a URL.
///
/// It can be used as long as this object, or another one that was made with the same cache and options, is held, and
/// not beyond the launch of the app. After a suspension of the app it is the same.
public final class PlaybackAddress: Sendable {
    /// The address for the player: at 127.0.0.1, or the media's own where it cannot be cached.
    public let url: URL
    /// What serves it.
    private let proxy: (any Sendable)?

    init(_ url: URL, proxy: (any Sendable)? = nil) { (self.url, self.proxy) = (url, proxy) }
}

extension MediaCache {
    #if Streams
        /// An address of the file or stream at `url` that leads through this cache, for a player that takes only a
        /// URL; hold it while that plays.
        ///
        /// ```swift
        /// let address = try cache.address(for: film)
        /// player.open(address.url)
        /// ```
        /// A proxy on 127.0.0.1 answers it, which is opened again, if it must be, each time that an address is asked
        /// for and when the app comes to the foreground. Of `options`, headers, partition, key, storing and network
        /// policy count; the others belong to `AVPlayer`'s own way of loading. A `url` that is not http or https is
        /// returned as it is. Throws ``RepriseError``: `invalidArgument` for headers that cannot be sent, or if no port
        /// can be opened.
        public nonisolated func address(
            for url: URL, options: PlaybackOptions = PlaybackOptions()
        ) throws(RepriseError) -> PlaybackAddress {
            guard case .cached(let resource, _)? = Self.cachedForm(of: url) else { return PlaybackAddress(url) }
            let proxy = try StreamProxies.shared.proxy(Promise(self), options: options)
            guard let address = proxy.address(of: resource, key: options.cacheKey) else { return PlaybackAddress(url) }
            return PlaybackAddress(address, proxy: proxy)
        }

        private nonisolated static func cachedForm(of url: URL) -> SourceURL? {
            switch url.scheme?.lowercased() {
            case "http", "https": SourceURL.cached(url)
            default: nil
            }
        }
    #else
        /// Needs the trait `Streams` of the package.
        @available(*, unavailable, message: "address(for:options:) needs the trait Streams of the package reprise")
        public nonisolated func address(
            for url: URL, options: PlaybackOptions = PlaybackOptions()
        ) throws(RepriseError) -> PlaybackAddress {
            PlaybackAddress(url)
        }
    #endif
}
