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

        /// What it plays, with the networks that all items of its proxy may use.
        var source: AssetSource {
            made.setNetworkPolicy(proxy.proxy.networkPolicy)
            return made
        }
    }

    /// What an item for a receiver of AirPlay plays, as its asset holds it.
    final class CastItem: Sendable {
        private let source: AssetSource
        private let rules: ItemRules

        /// Holds the rules of the receiver's address without keeping its port open.
        init(_ source: AssetSource, at address: CastURL) { (self.source, rules) = (source, address.rules) }

        /// Changes which networks may be used, by the receiver's requests and by the item that takes its place.
        func setNetworkPolicy(_ policy: NetworkPolicy) {
            source.setNetworkPolicy(policy)
            rules.setNetworkPolicy(policy)
        }
    }

    /// A proxy that stops when nothing holds it.
    final class StreamProxy: Sendable {
        let proxy: InAppProxy
        /// What it says of requests.
        let rules: ItemRules
        /// Retained, so that no other cache gets its identity.
        private let cache: MediaCache
        private let foreground: ForegroundObserver

        init(
            _ cache: MediaCache, options: PlaybackOptions, reach: InAppProxy.Reach = .process
        ) throws(RepriseError) {
            let rules = ItemRules(
                fields: try options.fields(), partition: options.partitionOfEntries,
                networkPolicy: options.networkPolicy)
            let proxy = try InAppProxy(options.isStored ? cache : cache.withoutStoring(), rules: rules, reach: reach)
            self.cache = cache
            self.proxy = proxy
            self.rules = rules
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
