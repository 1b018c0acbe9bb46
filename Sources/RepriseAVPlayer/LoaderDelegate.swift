#if canImport(AVFoundation)
    import AVFoundation
    import Dispatch
    import Foundation
    import Locks
    import Reprise

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Answers AVFoundation for one asset; lives as long as the asset, which holds it.
    ///
    /// The callbacks hand on and return: they wait for no network, no disk and no task.
    final class LoaderDelegate: NSObject, AVAssetResourceLoaderDelegate, Sendable {
        /// The asset's own URL, as AVFoundation asks for it.
        let loaderURL: URL
        let feed: AssetFeed
        let queue: DispatchQueue
        /// What a playlist leads to, by URL: keys and further playlists.
        private let links = Mutex<[String: AssetFeed]>([:])
        private let isNamedPlaylist: Bool

        init(_ source: AssetSource, loaderURL: URL) {
            self.loaderURL = loaderURL
            queue = DispatchQueue(label: "reprise.asset", qos: .userInitiated)
            feed = AssetFeed(source, queue: queue)
            isNamedPlaylist = SourceURL.isPlaylist(loaderURL)
        }

        deinit {
            feed.release()
            for link in links.withLock({ Array($0.values) }) { link.release() }
        }

        /// Requests that have not ended.
        var outstanding: Int {
            links.withLock { Array($0.values) }.reduce(feed.outstanding) { $0 + $1.outstanding }
        }

        /// The error with which a request failed last.
        var error: RepriseError? {
            feed.error ?? links.withLock { Array($0.values) }.lazy.compactMap(\.error).first
        }

        /// By its name, or by what the origin sent.
        private var isPlaylist: Bool { isNamedPlaylist || feed.isPlaylist }

        /// Fails what is under way.
        func stop() {
            feed.stop()
            for link in links.withLock({ Array($0.values) }) { link.stop() }
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
            // A playlist that is asked for again may have changed; media of an asset does not.
            if isAgain || links.withLock({ $0[url.description] != nil }) {
                return receive(loadingRequest, at: url, fileType: feed.source.options.fileType)
            }
            feed.receive(AVLoadingRequest(loadingRequest), for: ObjectIdentifier(loadingRequest))
        }

        /// AVFoundation takes playlists, subtitles and keys from a delegate; segments only from an HTTP server
        /// (CoreMediaErrorDomain -12881), so that those are sent there.
        private func load(_ loadingRequest: AVAssetResourceLoadingRequest, linkedAt url: URL) {
            let isText = ["m3u8", "m3u", "vtt", "webvtt"].contains(url.pathExtension.lowercased())
            let isKey = ["key", "bin"].contains(url.pathExtension.lowercased())
            guard isText || isKey, case .cached(let resource, _) = SourceURL.cached(url) else {
                loadingRequest.redirect = URLRequest(url: url)
                loadingRequest.response = HTTPURLResponse(
                    url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: ["Location": url.absoluteString])
                return loadingRequest.finishLoading()
            }
            receive(loadingRequest, at: resource, fileType: isKey ? ContentType.contentKey.identifier : nil)
        }

        /// Answers with what lies at `url` at this moment.
        private func receive(
            _ loadingRequest: AVAssetResourceLoadingRequest, at url: ResourceURL, fileType: String? = nil
        ) {
            let (link, old) = links.withLock { links in
                let old = links[url.description]
                // What is asked for again may have changed: only requests that wait together share an answer, and those that
                // want no information go on with the one that they have.
                if let old, old.outstanding > 0 || loadingRequest.contentInformationRequest == nil {
                    return (old, AssetFeed?.none)
                }
                // Playlists change and keys are secret: neither is stored.
                var options = feed.source.options
                options.isStored = false
                options.fileType = nil
                let link = AssetFeed(
                    AssetSource(feed.source.cache, url, options, fileType: fileType), queue: queue)
                links[url.description] = link
                return (link, old)
            }
            old?.release()
            link.receive(AVLoadingRequest(loadingRequest), for: ObjectIdentifier(loadingRequest))
        }
    }

    /// Tells AVFoundation why an asset is not loaded at all.
    final class RefusingDelegate: NSObject, AVAssetResourceLoaderDelegate, Sendable {
        let error: RepriseError

        init(_ reason: String) { error = RepriseError(.invalidURL, reason, cause: URLError(.unsupportedURL)) }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool {
            loadingRequest.finishLoading(with: LoadingError.make(error))
            return true
        }
    }

    /// AVFoundation's request behind the portable face.
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
            // Always: the cache can give any part sooner or later, also where the origin cannot.
            wanted.isByteRangeAccessSupported = true
            wanted.isEntireLengthAvailableOnDemand = information.isEntirelyStored
        }

        func respond(with data: Data) { request.dataRequest?.respond(with: data) }
        func finish() { request.finishLoading() }
        func finish(with error: NSError) { request.finishLoading(with: error) }
    }
#endif
