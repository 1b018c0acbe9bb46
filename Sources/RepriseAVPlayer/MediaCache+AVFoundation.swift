#if canImport(AVFoundation)
    public import AVFoundation
    import Dispatch
    public import Foundation
    import Primitives
    public import Reprise

    #if canImport(ObjectiveC)
        import ObjectiveC
    #endif

    extension MediaCache {
        /// A plain player item for the media at `url`, which is cached while it plays.
        ///
        /// ```swift
        /// let player = AVPlayer(playerItem: cache.playerItem(for: url))
        /// ```
        /// There is nothing to retain: the loader lives as long as the item's asset. HLS streams (`.m3u8`, or
        /// ``PlaybackOptions/fileType``) play through a proxy inside this process, if the package is built with its
        /// trait `Streams`, and uncached otherwise; their asset's URL is the proxy's. `file:` URLs and others that are
        /// not http or https are played as they are. What plays uncached uses only networks that
        /// ``PlaybackOptions/networkPolicy`` allows, and is requested without ``PlaybackOptions/headers``. `skd:` fails
        /// with `NSURLErrorUnsupportedURL`. Errors shown by the player are in `NSURLErrorDomain`, or of HLS in
        /// `CoreMediaErrorDomain`; ``loadingError(of:)-(AVPlayerItem)`` returns the underlying ``RepriseError``.
        public nonisolated func playerItem(
            for url: URL, options: PlaybackOptions = PlaybackOptions()
        ) -> AVPlayerItem {
            AVPlayerItem(asset: asset(for: url, options: options))
        }

        /// A plain asset for the media at `url`, which is cached while it is played or read.
        ///
        /// See ``playerItem(for:options:)``. Each call creates a separate asset; all assets of one URL share fetched
        /// bytes.
        public nonisolated func asset(for url: URL, options: PlaybackOptions = PlaybackOptions()) -> AVURLAsset {
            Self.asset(for: url, options: options, of: Promise(self))
        }

        /// An asset for the media at `url`, whose requests wait until `cache` is open.
        nonisolated static func asset(
            for url: URL, options: PlaybackOptions, of cache: @autoclosure () -> Promise<MediaCache>
        ) -> AVURLAsset {
            switch SourceURL(url, fileType: options.fileType) {
            case .cached(let resource, let loaderURL):
                let opening = cache()
                if let cache = opening.current { return cache.asset(for: resource, at: loaderURL, options: options) }
                let delegate = OpeningDelegate()
                let asset = asset(at: loaderURL, delegate: delegate, queue: delegate.queue)
                opening.whenFulfilled { [weak delegate, weak asset] cache in
                    guard let delegate, let asset else { return }
                    let loader = cache.loader(for: resource, at: loaderURL, options: options, queue: delegate.queue)
                    delegate.open(loader, of: asset.resourceLoader)
                }
                return asset
            case .stream(let resource): return streamAsset(for: resource, at: url, options: options, of: cache())
            case .refused(let reason): return asset(at: url, delegate: RefusingDelegate(reason), queue: refusals)
            case .direct: return directAsset(at: url, policy: options.networkPolicy)
            }
        }

        /// Stops loading for `asset`; bytes that have arrived stay stored.
        ///
        /// Requests in progress fail with `NSURLErrorCancelled`; later ones are answered as usual. Does nothing for
        /// assets that were not made by ``asset(for:options:)``, nor for HLS: its player itself makes the requests, and
        /// what it does not ask for any more ends. An `AVQueuePlayer` that advances to the next item does not cancel
        /// anything by itself: see ``follow(_:preloading:)``.
        public nonisolated func stopLoading(of asset: AVAsset) { Self.loader(of: asset)?.stop() }

        /// Stops loading for the asset of `item`.
        ///
        /// See ``stopLoading(of:)-(AVAsset)``.
        @MainActor public func stopLoading(of item: AVPlayerItem) { stopLoading(of: item.asset) }

        /// The error with which loading for `asset` failed last; `nil` if there is none, and for assets that were not
        /// made by ``asset(for:options:)``.
        ///
        /// The player's own error keeps only the domain and code; this one says what happened and how to remedy it.
        /// Playback may have continued since. For HLS, it is the last error of a proxy that all items with the same
        /// options share.
        public nonisolated func loadingError(of asset: AVAsset) -> RepriseError? {
            let delegate = (asset as? AVURLAsset)?.resourceLoader.delegate
            if let error = Self.loader(of: asset)?.error ?? (delegate as? RefusingDelegate)?.error { return error }
            #if Streams
                return Self.stream(of: asset)?.error
            #else
                return nil
            #endif
        }

        /// The error with which loading for the asset of `item` failed last.
        ///
        /// See ``loadingError(of:)-(AVAsset)``.
        @MainActor public func loadingError(of item: AVPlayerItem) -> RepriseError? { loadingError(of: item.asset) }

        /// Changes which networks `asset` may use, also while it plays.
        ///
        /// Holds at once for a file: what its player has requested goes on under the new policy. Of HLS what is being
        /// fetched goes on under the old one, and what is requested from now on is fetched under the new one. With
        /// ``NetworkPolicy/never``, stored bytes play, and the first byte that is not stored is an error. HLS items
        /// that were made with the same options change together. Does nothing for assets that this library has not
        /// made, nor for those that play uncached.
        public nonisolated func setNetworkPolicy(_ policy: NetworkPolicy, for asset: AVAsset) {
            Self.loader(of: asset)?.setNetworkPolicy(policy)
            #if Streams
                if let item = Self.stream(of: asset) {
                    StreamProxies.shared.setNetworkPolicy(policy, of: item.proxy)
                }
                (objc_getAssociatedObject(asset, LoaderKey.address) as? CastItem)?.setNetworkPolicy(policy)
            #endif
        }

        /// Changes which networks `item` may use, also while it plays.
        ///
        /// See ``setNetworkPolicy(_:for:)-(_,AVAsset)``.
        @MainActor public func setNetworkPolicy(_ policy: NetworkPolicy, for item: AVPlayerItem) {
            setNetworkPolicy(policy, for: item.asset)
        }

        private static let refusals = DispatchQueue(label: "reprise.refusals")

        /// An asset at `loaderURL` with a loader for `resource`.
        nonisolated func asset(
            for resource: ResourceURL, at loaderURL: URL, options: PlaybackOptions
        ) -> AVURLAsset {
            let delegate = loader(for: resource, at: loaderURL, options: options, queue: LoaderDelegate.makeQueue())
            return Self.asset(at: loaderURL, delegate: delegate, queue: delegate.queue)
        }

        private nonisolated func loader(
            for resource: ResourceURL, at loaderURL: URL, options: PlaybackOptions, queue: DispatchQueue
        ) -> LoaderDelegate {
            var options = options
            // Playlists change and would have to be validated each time.
            if SourceURL.isPlaylist(loaderURL) { options.isStored = false }
            let source = AssetSource(self, url: resource, options: options, play: beginPlay())
            return LoaderDelegate(source, loaderURL: loaderURL, queue: queue)
        }

        /// An asset for the HLS stream at `url`, which plays through the proxy, or directly if there is none.
        private nonisolated static func streamAsset(
            for resource: ResourceURL, at url: URL, options: PlaybackOptions, of cache: Promise<MediaCache>
        ) -> AVURLAsset {
            #if Streams
                do { _ = try options.fields() } catch { return refusedAsset(for: url, because: error) }
                // Without a port the stream plays as it would without a cache.
                if let proxy = try? StreamProxies.shared.proxy(cache, options: options),
                    let address = proxy.address(of: resource, key: options.cacheKey)
                {
                    let asset = AVURLAsset(url: address)
                    retain(StreamItem(proxy, url: resource, options: options), by: asset)
                    return asset
                }
            #endif
            return directAsset(at: url, policy: options.networkPolicy)
        }

        /// An asset that AVFoundation loads by itself, through networks that `policy` allows.
        private static func directAsset(at url: URL, policy: NetworkPolicy) -> AVURLAsset {
            guard ["http", "https"].contains(url.scheme?.lowercased()) else { return AVURLAsset(url: url) }
            switch policy {
            case .any: return AVURLAsset(url: url)
            case .inexpensive: return AVURLAsset(url: url, options: [AVURLAssetAllowsExpensiveNetworkAccessKey: false])
            case .inexpensiveAndUnconstrained:
                return AVURLAsset(
                    url: url,
                    options: [
                        AVURLAssetAllowsExpensiveNetworkAccessKey: false,
                        AVURLAssetAllowsConstrainedNetworkAccessKey: false,
                    ])
            case .never:
                let message = "The item plays uncached, and so from the network, which it may not use; allow one."
                return refusedAsset(for: url, because: RepriseError(.notStored, message))
            }
        }

        /// An asset that cannot be loaded.
        private static func refusedAsset(for url: URL, because error: RepriseError) -> AVURLAsset {
            // AVFoundation asks the delegate about schemes that it does not know.
            let loaderURL = URL(string: SourceURL.prefix + url.absoluteString) ?? url
            return asset(at: loaderURL, delegate: RefusingDelegate(error), queue: refusals)
        }

        private static func asset(
            at url: URL, delegate: any AVAssetResourceLoaderDelegate, queue: DispatchQueue
        ) -> AVURLAsset {
            let asset = AVURLAsset(url: url)
            // Set before an item is made of it, because AVFoundation looks for the delegate then.
            asset.resourceLoader.setDelegate(delegate, queue: queue)
            // AVFoundation retains delegates weakly.
            retain(delegate, by: asset)
            return asset
        }

        /// Keeps `object` as long as `asset` lives, or a copy of it: copies share a resource loader.
        nonisolated static func retain(_ object: AnyObject, by asset: AVURLAsset) {
            objc_setAssociatedObject(asset, LoaderKey.address, object, .OBJC_ASSOCIATION_RETAIN)
            objc_setAssociatedObject(asset.resourceLoader, LoaderKey.address, object, .OBJC_ASSOCIATION_RETAIN)
        }

        #if Streams
            /// The HLS stream that an asset made by a cache plays.
            nonisolated static func stream(of asset: AVAsset) -> StreamItem? {
                objc_getAssociatedObject(asset, LoaderKey.address) as? StreamItem
            }
        #endif

        /// What an asset made by a cache plays, and how.
        nonisolated static func source(of asset: AVAsset) -> AssetSource? {
            if let loader = loader(of: asset) { return loader.feed.source }
            #if Streams
                return stream(of: asset)?.source
            #else
                return nil
            #endif
        }

        /// The file or stream that an asset made by a cache plays, as it is preloaded; `nil` if it is not stored.
        nonisolated static func resource(of asset: AVAsset) -> MediaResource? {
            guard let source = source(of: asset), source.options.isStored else { return nil }
            return try? source.resource()
        }

        /// The loader of an asset made by a cache.
        nonisolated static func loader(of asset: AVAsset) -> LoaderDelegate? {
            let delegate = (asset as? AVURLAsset)?.resourceLoader.delegate
            return delegate as? LoaderDelegate ?? (delegate as? OpeningDelegate)?.loader
        }
    }

    /// The address used as key for objects associated with AVFoundation's.
    enum LoaderKey {
        /// One byte that is never read or freed; only its address matters.
        nonisolated(unsafe) static let address = UnsafeRawPointer(
            UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
        /// The same for what follows a player's external playback.
        nonisolated(unsafe) static let externalPlayback = UnsafeRawPointer(
            UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
    }

    extension AVPlayerItem {
        /// A player item for the media at `url`, which is cached by ``MediaCache/shared`` while it plays.
        ///
        /// ```swift
        /// let player = AVPlayer(playerItem: .cached(url))
        /// ```
        /// Returns immediately. The item's requests wait until the cache is open. Otherwise, this is
        /// ``MediaCache/playerItem(for:options:)`` of that cache, which apps with several caches use.
        public nonisolated static func cached(
            _ url: URL, options: PlaybackOptions = PlaybackOptions()
        ) -> AVPlayerItem {
            AVPlayerItem(asset: AVURLAsset.cached(url, options: options))
        }
    }

    extension AVURLAsset {
        /// An asset for the media at `url`, which is cached by ``MediaCache/shared`` while it is played or read.
        ///
        /// See `AVPlayerItem.cached(_:options:)`.
        public nonisolated static func cached(
            _ url: URL, options: PlaybackOptions = PlaybackOptions()
        ) -> AVURLAsset {
            MediaCache.asset(for: url, options: options, of: SharedCache.app.cache())
        }
    }
#endif
