#if canImport(AVFoundation)
    import AVFoundation
    import Dispatch
    import Foundation
    import Primitives
    import Reprise

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Answers AVFoundation for one asset; lives as long as the asset, which retains it.
    ///
    /// The callbacks return at once: they wait for no network, disk or task.
    final class LoaderDelegate: NSObject, AVAssetResourceLoaderDelegate, Sendable {
        /// The asset's own URL, as requested by AVFoundation.
        let loaderURL: URL
        let feed: AssetFeed
        let queue: DispatchQueue
        /// Resources referenced by a playlist, by URL: keys and further playlists.
        private let links = Mutex<[String: AssetFeed]>([:])
        private let isNamedPlaylist: Bool
        /// Why the last link was not left to the player.
        private let refusal = Mutex<RepriseError?>(nil)

        init(_ source: AssetSource, loaderURL: URL, queue: DispatchQueue) {
            self.loaderURL = loaderURL
            self.queue = queue
            feed = AssetFeed(source, queue: queue)
            isNamedPlaylist = SourceURL.isPlaylist(loaderURL)
        }

        /// A queue for the callbacks of one asset.
        static func makeQueue() -> DispatchQueue { DispatchQueue(label: "reprise.asset", qos: .userInitiated) }

        deinit {
            feed.release()
            for link in links.withLock({ Array($0.values) }) { link.release() }
        }

        /// Number of requests that have not ended.
        var outstanding: Int {
            links.withLock { Array($0.values) }.reduce(feed.outstanding) { $0 + $1.outstanding }
        }

        /// The error with which a request failed last.
        var error: RepriseError? {
            feed.error ?? links.withLock { Array($0.values) }.lazy.compactMap(\.error).first ?? refusal.withLock { $0 }
        }

        /// Whether it is a playlist by its name or by the origin's response.
        private var isPlaylist: Bool { isNamedPlaylist || feed.isPlaylist }

        /// Fails the requests in progress.
        func stop() {
            feed.stop()
            for link in links.withLock({ Array($0.values) }) { link.stop() }
        }

        /// Changes which networks further requests may use.
        func setNetworkPolicy(_ policy: NetworkPolicy) {
            feed.setNetworkPolicy(policy)
            for link in links.withLock({ Array($0.values) }) { link.setNetworkPolicy(policy) }
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool {
            switch LoaderRoute(loadingRequest.request.url, loaderURL: loaderURL, isPlaylist: isPlaylist) {
            case .asset: loadAsset(loadingRequest)
            case .link(let original): load(loadingRequest, linkedAt: original)
            case .player: return false
            }
            return true
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
        ) {
            let object = ObjectIdentifier(loadingRequest)
            feed.cancel(object)
            for link in links.withLock({ Array($0.values) }) { link.cancel(object) }
        }

        private func loadAsset(_ loadingRequest: AVAssetResourceLoadingRequest) {
            let url = feed.source.url
            let isAgain = loadingRequest.contentInformationRequest != nil && feed.isPlaylist && feed.outstanding == 0
            // A playlist that is requested again may have changed; an asset's media does not.
            if isAgain || links.withLock({ $0[url.description] != nil }) {
                return receive(loadingRequest, at: url, fileType: feed.source.options.fileType)
            }
            feed.receive(AVLoadingRequest(loadingRequest), for: ObjectIdentifier(loadingRequest))
        }

        /// AVFoundation accepts playlists, subtitles and keys from a delegate, but segments only from an HTTP server
        /// (CoreMediaErrorDomain -12881), so those are redirected there.
        private func load(_ loadingRequest: AVAssetResourceLoadingRequest, linkedAt url: URL) {
            let isText = ["m3u8", "m3u", "vtt", "webvtt"].contains(url.pathExtension.lowercased())
            let isKey = ["key", "bin"].contains(url.pathExtension.lowercased())
            guard isText || isKey, case .cached(let resource, _) = SourceURL.cached(url) else {
                guard feed.source.networkPolicy == .any else { return refuse(loadingRequest) }
                refusal.withLock { $0 = nil }
                loadingRequest.redirect = URLRequest(url: url)
                loadingRequest.response = HTTPURLResponse(
                    url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: ["Location": url.absoluteString])
                return loadingRequest.finishLoading()
            }
            receive(loadingRequest, at: resource, fileType: isKey ? ContentType.contentKey.identifier : nil)
        }

        /// Fails a request that AVFoundation would send over any network.
        private func refuse(_ loadingRequest: AVAssetResourceLoadingRequest) {
            let error = RepriseError(
                feed.source.networkPolicy == .never ? .notStored : .networkUnavailable,
                """
                The segments of \(feed.source.url.redacted) play uncached, over networks that the item may not use; \
                set its fileType to m3u8.
                """)
            refusal.withLock { $0 = error }
            loadingRequest.finishLoading(with: LoadingError.make(error))
        }

        /// Answers with the current resource at `url`.
        private func receive(
            _ loadingRequest: AVAssetResourceLoadingRequest, at url: ResourceURL, fileType: String? = nil
        ) {
            let (link, old) = links.withLock { links in
                let old = links[url.description]
                // A resource that is requested again may have changed: only concurrent requests share an answer, and
                // requests without content information continue with the one they have.
                if let old, old.outstanding > 0 || loadingRequest.contentInformationRequest == nil {
                    return (old, AssetFeed?.none)
                }
                // Playlists change and keys are secret, so neither is stored.
                var options = feed.source.currentOptions
                options.isStored = false
                options.fileType = nil
                let link = AssetFeed(
                    AssetSource(feed.source.cache, url: url, options: options, fileType: fileType), queue: queue)
                links[url.description] = link
                return (link, old)
            }
            old?.release()
            link.receive(AVLoadingRequest(loadingRequest), for: ObjectIdentifier(loadingRequest))
        }
    }

    /// Holds the requests for one asset until its cache is open, then passes them to ``loader``.
    final class OpeningDelegate: NSObject, AVAssetResourceLoaderDelegate, Sendable {
        private struct State {
            var loader: LoaderDelegate?
            /// Requests that arrived before the loader was set, in order.
            var waiting: [AVAssetResourceLoadingRequest] = []
        }

        let queue = LoaderDelegate.makeQueue()
        private let state = Mutex(State())

        /// The loader; `nil` until the cache is open.
        var loader: LoaderDelegate? { state.withLock { $0.loader } }

        /// Passes all requests to `loader`, which must use the same queue.
        func open(_ loader: LoaderDelegate, of resourceLoader: AVAssetResourceLoader) {
            state.withLock { $0.loader = loader }
            queue.async { [self] in
                let waiting = state.withLock { state in
                    defer { state.waiting = [] }
                    return state.waiting
                }
                for request in waiting {
                    if loader.resourceLoader(resourceLoader, shouldWaitForLoadingOfRequestedResource: request) {
                        continue
                    }
                    request.finishLoading(with: LoadingError.make(URLError(.unsupportedURL)))
                }
            }
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool {
            let loader = state.withLock { state in
                if state.loader == nil { state.waiting.append(loadingRequest) }
                return state.loader
            }
            return loader?.resourceLoader(
                resourceLoader, shouldWaitForLoadingOfRequestedResource: loadingRequest) ?? true
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
        ) {
            let loader = state.withLock { state in
                state.waiting.removeAll { $0 === loadingRequest }
                return state.loader
            }
            loader?.resourceLoader(resourceLoader, didCancel: loadingRequest)
        }
    }

    /// Reports to AVFoundation why an asset cannot be loaded.
    final class RefusingDelegate: NSObject, AVAssetResourceLoaderDelegate, Sendable {
        let error: RepriseError

        init(_ error: RepriseError) { self.error = error }

        convenience init(_ reason: String) {
            self.init(RepriseError(.invalidURL, reason, cause: URLError(.unsupportedURL)))
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool {
            loadingRequest.finishLoading(with: LoadingError.make(error))
            return true
        }
    }

    /// AVFoundation's request as a portable ``LoadingRequest``.
    final class AVLoadingRequest: LoadingRequest {
        private let request: AVAssetResourceLoadingRequest

        init(_ request: AVAssetResourceLoadingRequest) { self.request = request }

        var wantsInformation: Bool { request.contentInformationRequest != nil }

        var extent: LoadingExtent? {
            request.dataRequest.map { data in
                LoadingExtent(
                    offset: data.currentOffset, length: data.requestedLength,
                    reachesEnd: data.requestsAllDataToEndOfResource)
            }
        }

        var isCancelled: Bool { request.isCancelled }

        var allowedContentTypes: [String] { request.contentInformationRequest?.allowedContentTypes ?? [] }

        func fill(_ information: AssetInformation, contentType: String?) {
            guard let wanted = request.contentInformationRequest else { return }
            wanted.contentType = contentType
            wanted.contentLength = information.completeLength
            // Always true: the cache can eventually deliver any part, even if the origin cannot.
            wanted.isByteRangeAccessSupported = true
            wanted.isEntireLengthAvailableOnDemand = information.isEntirelyStored
        }

        func respond(with data: Data) { request.dataRequest?.respond(with: data) }
        func finish() { request.finishLoading() }
        func finish(with error: NSError) { request.finishLoading(with: error) }
    }
#endif
