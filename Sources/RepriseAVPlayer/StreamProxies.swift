#if Streams
    import Foundation
    import Primitives
    import Reprise
    import RepriseProxy

    /// The proxies through which the HLS items of this process play: one for each cache and each set of options, which
    /// lives as long as an asset holds it.
    final class StreamProxies: Sendable {
        static let shared = StreamProxies()

        private struct Key: Hashable {
            let cache: ObjectIdentifier
            let options: PlaybackOptions
        }

        private struct Entry {
            weak var proxy: StreamProxy?
        }

        private let entries = Mutex<[Key: Entry]>([:])

        /// A proxy whose address can be used now.
        ///
        /// Throws ``RepriseError``: `invalidArgument` for headers that cannot be sent, or if no port can be opened.
        func proxy(_ cache: MediaCache, options: PlaybackOptions) throws(RepriseError) -> StreamProxy {
            let options = options.ofRequests
            let key = Key(cache: ObjectIdentifier(cache), options: options)
            if let known = entries.withLock({ $0[key]?.proxy }), known.check() { return known }
            let new = try StreamProxy(cache, options: options)
            entries.withLock { entries in
                entries = entries.filter { $0.value.proxy != nil }
                entries[key] = Entry(proxy: new)
            }
            return new
        }

        /// Changes which networks the items of `proxy` may use; items that are made from now on get another one.
        func setNetworkPolicy(_ policy: NetworkPolicy, of proxy: StreamProxy) {
            entries.withLock { entries in entries = entries.filter { $0.value.proxy !== proxy } }
            proxy.proxy.setNetworkPolicy(policy)
        }
    }

    /// An HLS item as its asset holds it: what it plays, through which proxy.
    final class StreamItem: Sendable {
        let proxy: StreamProxy
        private let made: AssetSource

        init(_ proxy: StreamProxy, source: AssetSource) { (self.proxy, made) = (proxy, source) }

        /// What it plays, with the networks that all items of its proxy may use now.
        var source: AssetSource {
            var options = made.options
            options.networkPolicy = proxy.proxy.networkPolicy
            return AssetSource(made.cache, url: made.url, options: options)
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
        /// Retained, so that no other cache gets its identity.
        private let cache: MediaCache
        private let foreground: ForegroundObserver

        init(
            _ cache: MediaCache, options: PlaybackOptions, reach: InAppProxy.Reach = .process,
            following networkPolicy: (@Sendable () -> NetworkPolicy)? = nil
        ) throws(RepriseError) {
            let rules = ItemRules(
                fields: try options.fields(), partition: options.partitionOfEntries,
                networkPolicy: options.networkPolicy, following: networkPolicy)
            let proxy = try InAppProxy(options.isStored ? cache : cache.withoutStoring(), rules: rules, reach: reach)
            self.cache = cache
            self.proxy = proxy
            foreground = ForegroundObserver { proxy.checkSoon() }
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
