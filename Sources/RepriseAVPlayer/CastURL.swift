public import Foundation
import Primitives
public import Reprise

#if Streams
    import RepriseProxy
#endif

/// The address of one file or stream of a cache for other devices of the local network, such as a receiver of AirPlay
/// or Chromecast.
///
/// It can be used until ``end()`` is called or this object is released. Who knows the address gets that file or stream
/// and the files that its playlists name, and nothing else of the cache, of its servers or of the network. It is plain
/// HTTP: others in the network may see what is sent, and the query of the media's own URL.
public final class CastURL: Sendable {
    /// The address for the receiver: that of this device in the local network, a port and a token.
    public let url: URL

    #if Streams
        private let proxy: StreamProxy

        fileprivate init(_ url: URL, proxy: StreamProxy) { (self.url, self.proxy) = (url, proxy) }

        /// Closes the port, breaks off what is being sent, and returns when that is done.
        public func end() async { await proxy.proxy.stop() }
    #else
        /// Does nothing: there are no such addresses without the trait `Streams`.
        public func end() async {}

        private init(_ url: URL) { self.url = url }
    #endif
}

#if Streams
    extension MediaCache {
        /// An address of the file or stream at `url` that leads through this cache, for another device of the local
        /// network; hold it while that plays.
        ///
        /// ```swift
        /// let cast = try cache.castURL(for: film)
        /// receiver.load(cast.url)
        /// ```
        /// The app opens a port for it, which other devices reach. Devices get no more than this title, whatever they
        /// ask for, and nothing that they send reaches its server. Of `options`, headers, partition, key, storing and
        /// network policy count.
        ///
        /// - Parameters:
        ///   - url: The file or stream; http or https.
        ///   - options: Those with which it is played on this device.
        ///   - address: The IPv4 address of this device to listen on; by default that of Wi-Fi or a cable.
        /// - Returns: The address, and what keeps it open.
        /// - Throws: ``RepriseError``: `invalidURL` for what is not http or https, `networkUnavailable` if this device
        ///   is in no local network, `invalidArgument` for headers that cannot be sent, for what is no IPv4 address,
        ///   and if no port can be opened.
        public nonisolated func castURL(
            for url: URL, options: PlaybackOptions = PlaybackOptions(), at address: String? = nil
        ) throws(RepriseError) -> CastURL {
            guard ["http", "https"].contains(url.scheme?.lowercased()),
                case .cached(let resource, _)? = SourceURL.cached(url)
            else { throw RepriseError(.invalidURL, "Only http and https URLs can be cast through the cache.") }
            return try castURL(for: resource, options: options, at: address)
        }

        /// An address for a receiver that uses the networks that `item` may use at the time of each request.
        nonisolated func castURL(
            for item: CastItem, at address: String? = nil
        ) throws(RepriseError) -> CastURL {
            try castURL(for: item.url, options: item.currentOptions, at: address) { item.networkPolicy }
        }

        private nonisolated func castURL(
            for resource: ResourceURL, options: PlaybackOptions, at address: String?,
            following networkPolicy: (@Sendable () -> NetworkPolicy)? = nil
        ) throws(RepriseError) -> CastURL {
            let reach = InAppProxy.Reach.network(try Self.localAddress(address), CastScope(resource))
            let proxy = try StreamProxy(Promise(self), options: options, reach: reach, following: networkPolicy)
            guard let url = proxy.address(of: resource, key: options.cacheKey) else {
                throw RepriseError(.invalidURL, "The URL cannot be part of another one.")
            }
            return CastURL(url, proxy: proxy)
        }

        private nonisolated static func localAddress(_ text: String?) throws(RepriseError) -> IPv4Address {
            if let text {
                guard let address = IPv4Address(text) else {
                    throw RepriseError(.invalidArgument, "\"\(text)\" is no IPv4 address, such as 192.168.1.20.")
                }
                return address
            }
            guard let address = NetworkInterface.localAddress() else {
                throw RepriseError(
                    .networkUnavailable, "This device is in no local network. Connect it to Wi-Fi or a cable.")
            }
            return address
        }
    }
#else
    extension MediaCache {
        /// Needs the trait `Streams` of the package.
        @available(*, unavailable, message: "castURL(for:options:at:) needs the trait Streams of the package reprise")
        public nonisolated func castURL(
            for url: URL, options: PlaybackOptions = PlaybackOptions(), at address: String? = nil
        ) throws(RepriseError) -> CastURL {
            throw RepriseError(.invalidArgument, "The package is built without the trait Streams.")
        }
    }
#endif
