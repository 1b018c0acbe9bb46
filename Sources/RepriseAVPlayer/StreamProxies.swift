#if Streams
    import Foundation
    import Primitives
    import Reprise
    import RepriseProxy

    /// The proxies through which the HLS items of this process play: one for each cache and each set of options, which
    /// lives as long as an asset holds it.
    final class StreamProxies: Sendable {
        static let shared = StreamProxies()

        private struct Entry {
            weak var proxy: StreamProxy?
        }

        private let entries = Mutex<[Entry]>([])

        /// A proxy with a usable address; its clients wait until `cache` is open.
        ///
        /// Throws ``RepriseError``: `invalidArgument` for headers that cannot be sent, or if no port can be opened.
        func proxy(_ cache: Promise<MediaCache>, options: PlaybackOptions) throws(RepriseError) -> StreamProxy {
            let options = options.ofRequests
            let known = entries.withLock { $0.lazy.compactMap(\.proxy).first { $0.serves(cache, with: options) } }
            if let known, known.check() { return known }
            let new = try StreamProxy(cache, options: options)
            entries.withLock { entries in
                entries = entries.filter { $0.proxy.map { !$0.serves(cache, with: options) } ?? false }
                entries.append(Entry(proxy: new))
            }
            return new
        }

        /// Changes which networks the items of `proxy` may use; items that are made from now on get another one.
        func setNetworkPolicy(_ policy: NetworkPolicy, of proxy: StreamProxy) {
            entries.withLock { entries in entries = entries.filter { $0.proxy !== proxy } }
            proxy.proxy.setNetworkPolicy(policy)
        }
    }

    /// An HLS item as its asset holds it: what it plays, through which proxy.
    final class StreamItem: Sendable {
        let proxy: StreamProxy
        private let url: ResourceURL
        private let options: PlaybackOptions

        init(_ proxy: StreamProxy, url: ResourceURL, options: PlaybackOptions) {
            (self.proxy, self.url, self.options) = (proxy, url, options)
        }

        /// The error of the last failed request to its proxy.
        var error: RepriseError? { proxy.proxy.error }

        /// What it plays, with the networks that all items of its proxy may use now; `nil` until its cache is open.
        var source: AssetSource? {
            var options = options
            options.networkPolicy = proxy.proxy.networkPolicy
            return proxy.cache.map { AssetSource($0, url: url, options: options) }
        }
    }

    /// What an item for a receiver of AirPlay plays, as its asset holds it.
    ///
    /// It has no network policy of its own: that of the item for which it stands holds, and changes with it.
    final class CastItem: Sendable {
        private let source: AssetSource
        /// The proxy of the item for which it stands; `nil` if that is a file.
        private let stream: StreamProxy?

        init(_ source: AssetSource, stream: StreamProxy?) { (self.source, self.stream) = (source, stream) }

        var url: ResourceURL { source.url }

        /// Which networks may be used now, by the receiver's requests and by the item that takes its place.
        var networkPolicy: NetworkPolicy { stream?.proxy.networkPolicy ?? source.networkPolicy }

        /// The options, with the networks that may be used now.
        var currentOptions: PlaybackOptions {
            var options = source.options
            options.networkPolicy = networkPolicy
            return options
        }

        func setNetworkPolicy(_ policy: NetworkPolicy) {
            if let stream {
                StreamProxies.shared.setNetworkPolicy(policy, of: stream)
            } else {
                source.setNetworkPolicy(policy)
            }
        }
    }

    /// A proxy that stops when nothing holds it.
    final class StreamProxy: Sendable {
        let proxy: InAppProxy
        private let opening: Promise<MediaCache>
        private let options: PlaybackOptions
        private let foreground: ForegroundObserver

        /// Starts a proxy; its clients wait until `cache` is open.
        init(
            _ cache: Promise<MediaCache>, options: PlaybackOptions, reach: InAppProxy.Reach = .process,
            following networkPolicy: (@Sendable () -> NetworkPolicy)? = nil
        ) throws(RepriseError) {
            let rules = ItemRules(
                fields: try options.fields(), partition: options.partitionOfEntries,
                networkPolicy: options.networkPolicy, following: networkPolicy)
            let proxy = try InAppProxy(clock: cache.current?.clock ?? .system, rules: rules, reach: reach)
            cache.whenFulfilled { [weak proxy] cache in proxy?.open(options.isStored ? cache : cache.withoutStoring()) }
            opening = cache
            self.options = options
            self.proxy = proxy
            foreground = ForegroundObserver { proxy.checkSoon() }
        }

        /// Its cache; `nil` until that is open.
        var cache: MediaCache? { opening.current }

        /// Whether it serves items of `cache` with these options.
        fileprivate func serves(_ cache: Promise<MediaCache>, with options: PlaybackOptions) -> Bool {
            let isSame = opening === cache || self.cache != nil && self.cache === cache.current
            return isSame && self.options == options
        }

        deinit {
            let proxy = proxy
            Task { await proxy.stop() }
        }

        /// Whether its address can be used now.
        fileprivate func check() -> Bool { proxy.check() }

        /// The address of the stream at `url` for a player.
        func address(of url: ResourceURL, key: CacheKey?) -> URL? { URL(string: proxy.address(of: url, key: key)) }
    }

    /// Calls a function when the app comes back from the background, where it may have been suspended.
    private final class ForegroundObserver: Sendable {
        /// Set once, and only handed back to the notification center.
        private nonisolated(unsafe) let token: any NSObjectProtocol

        init(_ body: @escaping @Sendable () -> Void) {
            let name = Notification.Name("UIApplicationWillEnterForegroundNotification")
            token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in body() }
        }

        deinit { NotificationCenter.default.removeObserver(token) }
    }

    extension PlaybackOptions {
        /// The options that concern requests; items that differ in others only share a proxy.
        fileprivate var ofRequests: PlaybackOptions {
            var options = PlaybackOptions()
            options.headers = headers
            options.partition = partitionOfEntries
            options.isStored = isStored
            options.networkPolicy = networkPolicy
            return options
        }
    }
#endif
