import Foundation

#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import ByteRanges
    import Dispatch
    import Foundation
    import Primitives
    import Reprise
    import RepriseHTTPClient
    import RepriseTesting
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A stand-in player in front of the real engine, a real directory and the real test origin, on a virtual clock.
    ///
    /// One tick is 10 ms of virtual time. Between two ticks everything possible happens: the world waits until no task
    /// of the engine or the adapter can continue, and no socket is being waited for.
    final class ScriptWorld: Sendable {
        /// An asset and who keeps it alive.
        struct Item: Sendable {
            let resource: String
            var asset: AVURLAsset?
            var item: AVPlayerItem?
            let loader: AVAssetResourceLoader
            let queue: DispatchQueue
            /// The information first given to the player, for I8.
            var told: Told?
            var versions: Set<Int64>
        }

        struct Told: Sendable, Equatable {
            let length: Int64
            let type: String?
            let byteRange: Bool
        }

        struct State: Sendable {
            var ticks: Int64 = 0
            var items: [String: Item] = [:]
            var requests: [String: ScriptRequest] = [:]
            var order: [String] = []
            var violations: [String] = []
            var cache: MediaCache?
            /// From the caches before the last restart.
            var pastFromStore: Int64 = 0
            var largestPiece = 0
            var watched: [Watched] = []
            /// Queues of items that were released since the world was last calm; their blocks may still retain the
            /// loaders.
            var leftQueues: [DispatchQueue] = []
        }

        /// An object that must be released in the end.
        struct Watched: Sendable {
            let what: String
            let item: String
            let isAlive: @Sendable () -> Bool
        }

        let clock = ManualClock()
        let origin: TestOrigin
        let client: NIOOrigin
        let network: ScriptNetwork
        let directory: TemporaryDirectory
        let resources: [String: ScriptResource]
        let state = Mutex(State())
        private let wallClock = Date(timeIntervalSince1970: 1_750_000_000)
        private let configure: @Sendable (inout MediaCache.Configuration) -> Void
        /// Real time in which a callback must return, however busy the machine is.
        let callbackLimit: Duration

        private init(
            origin: TestOrigin, resources: [String: ScriptResource], directory: TemporaryDirectory,
            callbackLimit: Duration, configure: @escaping @Sendable (inout MediaCache.Configuration) -> Void
        ) {
            self.callbackLimit = callbackLimit
            self.configure = configure
            self.origin = origin
            self.resources = resources
            self.directory = directory
            client = NIOOrigin()
            network = ScriptNetwork(clock: clock, client: client)
        }

        /// Makes a world and takes it down after `body`, checking that nothing remains (I10).
        static func run(
            _ resources: [String: ScriptResource], servers: [String: ScriptServer] = [:],
            callbackLimit: Duration = .seconds(60),
            configure: @escaping @Sendable (inout MediaCache.Configuration) -> Void = { _ in },
            _ body: (ScriptWorld) async throws -> Void
        ) async throws -> [String] {
            let origin = try await TestOrigin.start()
            let world = ScriptWorld(
                origin: origin, resources: resources, directory: try TemporaryDirectory(), callbackLimit: callbackLimit,
                configure: configure)
            for (name, resource) in resources {
                world.network.state.withLock { $0.names[resource.path] = name }
                world.setServer(servers[name] ?? ScriptServer(), of: name)
            }
            _ = Exceptions.take()
            // First of all, so that every job is counted.
            _ = PoolJobs.shared
            try await withTaskExecutorPreference(TestThreads.shared) {
                let result: Result<Void, any Error>
                do {
                    try await world.open()
                    result = .success(try await body(world))
                } catch { result = .failure(error) }
                await world.tearDown(isComplete: (try? result.get()) != nil)
                try result.get()
            }
            return world.state.withLock { $0.violations }
        }

        // MARK: - The cache and the server

        var cache: MediaCache? { state.withLock { $0.cache } }

        private func open() async throws {
            var configuration = MediaCache.Configuration()
            configuration.clock = CacheClock(clock) { [clock, wallClock] in
                wallClock + clock.now.offset / .seconds(1)
            }
            configure(&configuration)
            let cache = try await MediaCache.open(
                directory: directory.path, origin: network, configuration: configuration)
            state.withLock { $0.cache = cache }
        }

        /// A new process on the same disk, or on an empty one.
        func restart(keepDisk: Bool) async throws {
            for name in state.withLock({ $0.items.keys.sorted() }) { await release(name, callbacks: false) }
            await settle()
            await closeCache()
            if !keepDisk {
                for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                    try FileManager.default.removeItem(atPath: directory.path(of: name))
                }
            }
            try await open()
        }

        /// Closes and releases the cache.
        func closeCache() async {
            let cache = state.withLock { state in
                defer { state.cache = nil }
                return state.cache
            }
            guard let cache else { return }
            let fromStore = cache.statistics.bytesFromStore
            state.withLock { $0.pastFromStore += fromStore }
            await cache.close()
        }

        func url(of resource: ScriptResource) -> String { origin.url(resource.path) }

        func server(of name: String) -> ScriptServer { network.state.withLock { $0.servers[name] ?? ScriptServer() } }

        func setServer(_ server: ScriptServer, of name: String) {
            network.state.withLock { $0.servers[name] = server }
            if let resource = resources[name] { origin.set(server.originResource(resource), at: resource.path) }
        }

        func currentLength(of resource: ScriptResource) -> Int64 { server(of: resource.name).currentLength(resource) }

        /// Stores ranges before the script begins.
        func preload(_ name: String, _ ranges: [Range<Int64>]) async throws {
            guard let resource = resources[name], let cache else { return }
            for range in ranges where !range.isEmpty {
                try await cache.resource(for: url(of: resource)).preload(.range(range))
            }
        }

        /// Bytes given from the store so far, restarts included.
        var bytesFromStore: Int64 {
            let (past, cache) = state.withLock { ($0.pastFromStore, $0.cache) }
            return past + (cache?.statistics.bytesFromStore ?? 0)
        }

        // MARK: - Time

        var ticks: Int64 { state.withLock { $0.ticks } }

        /// Waits until everything that can happen at this moment has happened.
        func settle() async {
            var calm = 0
            while calm < 3 {
                await network.idle()
                await PoolJobs.shared.idle()
                await DiskQueue.shared.idle()
                let (jobs, disk) = (PoolJobs.shared.count, DiskQueue.shared.load)
                guard PoolJobs.shared.isIdle, disk.isIdle, !network.isBusy else {
                    calm = 0
                    continue
                }
                let queues = state.withLock { state in state.items.values.map(\.queue) + state.leftQueues }
                // Queues that have nothing to do run this here, without another thread.
                for queue in queues { queue.sync {} }
                await Task.yield()
                let isCalm = PoolJobs.shared.count == jobs && DiskQueue.shared.load == disk && !network.isBusy
                calm = isCalm ? calm + 1 : 0
            }
            state.withLock { $0.leftQueues = [] }
        }

        func tick() async {
            state.withLock { $0.ticks += 1 }
            clock.advance(by: ScriptNetwork.tick)
            await settle()
        }

        /// Ticks until `condition` holds; false after `limit` ticks.
        func wait(limit: Int64 = 5000, until condition: () -> Bool) async -> Bool {
            await settle()
            var left = limit
            while !condition() {
                guard left > 0 else { return false }
                left -= 1
                await tick()
            }
            return true
        }

        // MARK: - The player

        func violation(_ rule: String, _ message: String) {
            state.withLock { $0.violations.append("\(rule): \(message)") }
        }

        /// Makes an asset with its loader, and an item.
        func makeItem(_ name: String, resource: ScriptResource, options: PlaybackOptions = PlaybackOptions()) throws {
            guard let cache, let url = URL(string: url(of: resource)),
                case .cached(let source, let loaderURL)? = SourceURL.cached(url)
            else { throw ScriptFormatError("\(name) cannot be cached") }
            // The same path as asset(for:), except that playlists get a loader, too.
            let asset = cache.asset(for: source, at: loaderURL, options: options)
            let loader = asset.resourceLoader
            guard let delegate = loader.delegate as? LoaderDelegate else { throw ScriptFormatError("no loader") }
            let versions = Set(1...max(server(of: resource.name).version, 1) + 8)
            state.withLock { state in
                state.items[name] = Item(
                    resource: resource.name, asset: asset, item: AVPlayerItem(asset: asset), loader: loader,
                    queue: delegate.queue, versions: versions)
                state.watched.append(Watched(what: "delegate", item: name) { [weak delegate] in delegate != nil })
                state.watched.append(
                    Watched(what: "requestTable", item: name) { [weak feed = delegate.feed] in feed != nil })
                state.watched.append(Watched(what: "asset", item: name) { [weak asset] in asset != nil })
            }
        }

        /// Releases an item, its asset and its requests.
        func release(_ name: String, callbacks: Bool) async {
            if callbacks {
                for request in requests(of: name) where !request.isOver { await cancel(request, callback: true) }
            }
            for request in requests(of: name) { request.request = nil }
            // The references are released outside the lock, because the asset's deinitialization runs code.
            let item = state.withLock { state in
                let item = state.items.removeValue(forKey: name)
                if let item { state.leftQueues.append(item.queue) }
                return item
            }
            _ = consume item
        }

        func requests(of item: String) -> [ScriptRequest] {
            state.withLock { state in state.order.compactMap { state.requests[$0] }.filter { $0.item == item } }
        }

        /// Sends a loading request and checks that the delegate takes it (I1).
        func send(_ request: ScriptRequest, url: URL) async throws {
            guard let item = state.withLock({ $0.items[request.item] }) else {
                throw ScriptFormatError("there is no item \(request.item)")
            }
            let data = request.offset.map {
                AVAssetResourceLoadingDataRequest(offset: $0, length: request.length, toEnd: request.reachesEnd)
            }
            let object = AVAssetResourceLoadingRequest(
                request: URLRequest(url: url), information: request.information, data: data
            ) { [weak self, weak request] happening in
                guard let self, let request else { return }
                observe(happening, request)
            }
            request.request = object
            state.withLock { state in
                state.requests[request.id] = request
                state.order.append(request.id)
                state.watched.append(
                    Watched(what: "request \(request.id)", item: request.item) { [weak object] in object != nil })
            }
            let answer = await watching(request.id) { await item.loader.load(object) }
            if answer != true {
                violation("I1", "\(request.id) was answered with \(answer.map(String.init) ?? "nothing")")
            }
        }

        /// The URL under which an item's player asks for a resource.
        func loaderURL(of resource: ScriptResource) throws -> URL {
            guard let url = URL(string: SourceURL.prefix + url(of: resource)) else { throw ScriptFormatError("no URL") }
            return url
        }

        /// The URL of a resource at its origin, as requested by a player that loads by itself.
        func originalURL(of resource: ScriptResource) throws -> URL {
            guard let url = URL(string: url(of: resource)) else { throw ScriptFormatError("no URL") }
            return url
        }

        /// Asks an item's delegate for `url` and returns whether it accepts; its data is ignored.
        func offer(_ url: URL, to name: String) async throws -> Bool? {
            guard let item = state.withLock({ $0.items[name] }) else {
                throw ScriptFormatError("there is no item \(name)")
            }
            let object = AVAssetResourceLoadingRequest(
                request: URLRequest(url: url),
                information: AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: nil),
                data: AVAssetResourceLoadingDataRequest(offset: 0, length: 2, toEnd: false)
            ) { [weak self] happening in
                guard case .data = happening else { return }
                self?.violation("I2", "\(url) got bytes of \(name)")
            }
            let answer = await watching(url.absoluteString) { await item.loader.load(object) }
            await settle()
            return answer
        }

        func cancel(_ request: ScriptRequest, callback: Bool) async {
            guard let object = request.request, let item = state.withLock({ $0.items[request.item] }) else { return }
            let (isFirst, isUnknown) = request.state.withLock { state in
                defer { state.isCancelled = true }
                return (!state.isCancelled, state.isFinished || state.wasToldOfCancel)
            }
            if isUnknown {
                await cancelUnknown(object, request.id, at: item.loader, callback: callback)
            } else {
                await watching(request.id) { await item.loader.cancel(object, callback: callback) }
            }
            request.state.withLock { state in
                if isFirst { state.currentOffset = (request.offset ?? 0) + state.bytes }
                if callback { state.wasToldOfCancel = true }
            }
        }
    }
#endif
