public import HTTPTypes
import ByteRanges
import Primitives

/// A cache of remote media on disk: bytes that were read are stored, and stored bytes are not fetched again.
///
/// ```swift
/// let cache = try await MediaCache.open(directory: path, origin: origin)
/// for try await piece in try await cache.resource(for: url).read() { … }
/// ```
/// There is one cache per directory and process; opening a directory that is already open returns the same cache. Call
/// ``close()`` before the process ends so that the last second's records reach the disk. Without it, at most the last
/// second of each running download is fetched again.
public final class MediaCache: Sendable {
    let engine: Engine
    /// What is fetched to stay: the downloads, in their order.
    public let downloads: Downloads
    /// What is fetched because it may be played soon; set by ``preload(_:current:amount:)``.
    public let preloads: Preloads
    let upkeep: Upkeep
    /// Number of callers that opened the cache and have not closed it.
    private let users = Mutex(1)

    init(_ engine: Engine) {
        self.engine = engine
        downloads = Downloads(engine: engine)
        preloads = Preloads(engine: engine)
        upkeep = Upkeep(engine: engine)
        downloads.belong(to: self)
        engine.removalListener.withLock { listener in
            listener = RemovalListener { [weak preloads] keys, byEviction in
                preloads?.lose(keys, byEviction: byEviction)
            }
        }
    }

    // Resources and reads retain the cache, so nothing is being read any more. Records what is noted, and closes the
    // directory.
    deinit {
        upkeep.cancel()
        downloads.cancel()
        preloads.cancel()
        guard users.withLock({ $0 > 0 }) else { return }
        Task { [parts] in await parts.shutDown() }
    }

    /// Registers one more user of the cache; false once it is closed.
    func enter() -> Bool {
        users.withLock { users in
            guard users > 0 else { return false }
            users += 1
            return true
        }
    }

    /// Opens the cache in `directory`, creating it if necessary.
    ///
    /// If the directory is already open in this process, under whatever name, returns the same cache with its origin
    /// and its configuration. That cache closes when each caller has called ``close()``, or when the last reference to
    /// it, its resources and its reads is gone. Media are excluded from backups where the system has those, and
    /// readable after the device was first unlocked.
    ///
    /// A directory that cannot be written is opened for reading: stored bytes are served, holes come from the origin,
    /// and nothing is added (``isStoring``, ``storeProblem``).
    ///
    /// Throws ``RepriseError``: `storageLocked` when another process has the cache open, or this one with another limit
    /// or kind (``ReusePolicy/isShared``). `storageUnavailable` when the directory can neither be written nor read as a
    /// cache, or its index is newer than this version. `keyUnavailable` when the key cannot be obtained or is not the
    /// one the cache was made with (``Configuration/resetsWhenKeyDiffers``); nothing is changed then. A damaged index
    /// is not an error: it is set aside, the cache starts empty, and ``CacheEvent/storeReset(reason:)`` reports it.
    public static func open(
        directory: String, origin: any Origin, configuration: Configuration = Configuration()
    ) async throws -> MediaCache {
        let vault = try await DiskQueue.shared.run {
            try configuration.encryption.map { Vault(key: try $0.provider.key()) }
        }
        // Makes the directory so that its real path can be found; if this fails, opening the store reports why.
        try? await DiskQueue.shared.run { try configuration.fileSystem.makeDirectory(directory) }
        let cache = try await OpenCaches.shared.cache(in: directory) { path in
            let reporter = Reporter()
            let store = try await DiskQueue.shared.run {
                try Store(directory: path, configuration: configuration, vault: vault, reporter: reporter)
            }
            return MediaCache(Engine(origin: origin, configuration: configuration, store: store, reporter: reporter))
        } start: { cache in
            guard let store = cache.engine.store, store.problem == nil else { return }
            cache.upkeep.start(store)
            cache.downloads.resume(store, isIdle: !cache.engine.configuration.resumesDownloads)
        }
        if let refusal = cache.refusal(of: configuration, vault: vault, in: directory) {
            await cache.close()
            throw refusal
        }
        return cache
    }

    /// Why an open cache must not be shared with these settings; `nil` if it may.
    private func refusal(of configuration: Configuration, vault: Vault?, in directory: String) -> RepriseError? {
        if let store = engine.store,
            let difference = IndexDatabase.KeyDifference(made: store.vault?.check, given: vault)
        {
            return difference.error
        }
        guard let difference = engine.configuration.difference(from: configuration) else { return nil }
        return RepriseError(
            .storageLocked,
            "The cache in \(directory) is open in this process with another \(difference). Open it once, or close it "
                + "first.")
    }

    /// A cache that stores nothing: reads stream straight from the origin.
    ///
    /// Use this when no directory can be written.
    public static func withoutStore(
        origin: any Origin, configuration: Configuration = Configuration()
    ) -> MediaCache {
        MediaCache(Engine(origin: origin, configuration: configuration, store: nil, reporter: Reporter()))
    }

    /// A cache that stores nothing because of `error`, and reports it (``CacheEvent/storeBypassed(_:reason:)``).
    package static func withoutStore(
        origin: any Origin, configuration: Configuration, because error: any Error
    ) -> MediaCache {
        let problem =
            error as? RepriseError
            ?? RepriseError(.storageUnavailable, "The cache's directory cannot be used.", cause: error)
        let cache = MediaCache(
            Engine(origin: origin, configuration: configuration, store: nil, reporter: Reporter(), problem: problem))
        cache.engine.reporter.tell(.storeBypassed(nil, reason: "Nothing is stored. \(problem.explanation)"))
        return cache
    }

    /// Whether anything can be stored: false without a store, and when the directory can only be read.
    public var isStoring: Bool { engine.store.map { $0.problem == nil } ?? false }

    /// Why the cache started empty although its directory had an index (``CacheEvent/storeReset(reason:)``).
    package var resetReason: String? { engine.store?.reset }

    /// Whether the directory can only be read; its entries are served.
    package var isReadOnly: Bool { engine.store?.problem != nil }

    /// Whether nothing is being stored, for now or for good, although it was to be.
    package var isDegraded: Bool { storeProblem != nil || engine.store?.breaker.reason != nil || shortage != nil }

    /// The lack of free disk space because of which nothing can be stored, whatever is evicted.
    package var shortage: StorageObstacle? { engine.store?.shortage }

    /// Why nothing more can be stored, whatever is evicted.
    package func lackOfRoom() async -> StorageObstacle? { await engine.store?.lackOfRoom() }

    /// Returns once the index has written what came before; never while it is hung.
    package func turn() async { await engine.store?.recorder.turn() }

    /// Whether ``close()`` was called as often as the cache was opened.
    package var isClosed: Bool { engine.isClosed }

    /// Why nothing can be stored: the directory can only be read, or could not be used at all.
    ///
    /// Its ``RepriseError/message`` is meant for people. `nil` while ``isStoring`` is true, and in a cache that was
    /// deliberately made without a store.
    public var storeProblem: RepriseError? { engine.storeProblem }

    /// The resource at `url`.
    ///
    /// Throws ``RepriseError`` with code `closed` after ``close()``.
    ///
    /// `fields` go to the origin with every request for the resource (authorization, cookies) and are never logged.
    /// They are not part of the key, because credentials change by the hour. If one user must not see what another user
    /// may, pass a `partition`, such as the account's identifier. Entries of one partition are never used for another,
    /// and ``removeAll(partition:)`` removes them all. `nil`, the default, stands for no partition.
    public func resource(
        for url: ResourceURL, fields: HTTPFields = [:], partition: String? = nil
    ) throws(RepriseError) -> MediaResource {
        let key = engine.configuration.keyPolicy.key(for: url).inPartition(partition)
        return MediaResource(url: url, key: key, fields: fields, resource: try engine.resource(key), cache: self)
    }

    /// The resource at the URL in `text`.
    ///
    /// As ``resource(for:fields:partition:)``. Throws ``RepriseError`` with code `invalidURL` or `closed`.
    public func resource(
        for text: String, fields: HTTPFields = [:], partition: String? = nil
    ) throws(RepriseError) -> MediaResource {
        try resource(for: ResourceURL(text), fields: fields, partition: partition)
    }

    /// The stored entries, most recently used first.
    ///
    /// Waits for the disk and for other reads of the whole index. Throws ``RepriseError`` with code
    /// `storageUnavailable`, or `CancellationError`.
    public func entries() async throws -> [CacheEntry] {
        guard let store = engine.store else { return [] }
        await store.recorder.flush()
        return try await store.index.scan { try $0.entries.all() }
    }

    /// Removes the entry stored under `key`, even while it is being read; such reads end at their next hole.
    ///
    /// Returns the bytes freed; 0 if there was nothing.
    @discardableResult
    public func remove(_ key: CacheKey) async throws -> Int64 {
        try await remove([key])
    }

    /// Bytes of media on disk.
    public var storedBytes: Int64 { engine.store?.quota.usage.stored ?? 0 }

    /// Bytes that the media and the index occupy on disk, in the file system's blocks.
    public var allocatedBytes: AllocatedBytes {
        AllocatedBytes(
            media: engine.store?.quota.usage.allocated ?? 0, index: engine.store?.quota.indexBytes ?? 0)
    }

    /// Remarks about hosts since the cache was opened, oldest first.
    package var hostRemarks: [HostRemark] { engine.reporter.hostRemarks }

    /// Records `reason` as a remark about the host of `url`; each remark is recorded once.
    package func remark(_ reason: String, about url: ResourceURL) {
        engine.reporter.remark(reason, about: engine.configuration.keyPolicy.key(for: url), at: url.authority)
    }

    /// Whether the cache follows the rules for several users.
    package var isShared: Bool { engine.configuration.reuse.isShared }

    /// Whether origins are never asked.
    package var isOffline: Bool { engine.configuration.reuse.isOffline }

    /// Transactions that wrote to the index since the cache was opened.
    package var transactionCount: Int { engine.store?.index.database.transactionCount ?? 0 }

    /// Records of entries, titles and pins that were read from the index since the cache was opened.
    package var readRecordCount: Int { engine.store?.index.database.codec.decoded.withLock { $0 } ?? 0 }

    /// Number of index reads since the cache was opened; one read may look up many keys.
    package var indexReadCount: Int { engine.store?.index.database.readCount ?? 0 }

    /// Whether nothing is being read, fetched or opened.
    package var isIdle: Bool { engine.isIdle }

    /// Counts since this cache was opened.
    public var statistics: CacheStatistics { engine.reporter.current }

    /// What was counted since this cache was opened, in more detail than ``statistics``.
    package var tally: CacheTally { engine.reporter.tally }

    /// Number of fetches that run.
    package var fetchesUnderWay: Int { engine.fetchesUnderWay.withLock { $0 } }

    /// Counts over the whole life of the directory.
    public func lifetimeStatistics() async throws -> CacheStatistics {
        guard let store = engine.store else { return statistics }
        await store.recorder.flush()
        return try await DiskQueue.shared.run {
            CacheStatistics(totals: try store.index.statistics.totals())
        }
    }

    /// The events from now on.
    ///
    /// The first stream starts with up to 64 earlier events, those of the opening among them. A consumer that falls
    /// 1,024 events behind loses the oldest; ``statistics`` never does.
    public func events() -> AsyncStream<CacheEvent> { engine.reporter.events() }

    /// Records a use of the resource under `key`, which is being served from ``HitFinder/hit(_:atMost:for:)``.
    package func noteUse(of key: CacheKey) { engine.store?.recorder.noteUse(key) }

    /// Counts responses with media of `host` served without a read: those that ended, complete or not, and bytes sent.
    package func noteServed(reads: Int64, bytes: Int64, from source: PieceSource = .store, of host: String) {
        engine.reporter.count { tally in
            // What another source has goes around the store.
            tally.noteReads(reads, source == .store ? .hit : .bypass, isCollapsed: source == .joined)
            tally.noteServed(bytes, from: source, of: host)
        }
    }

    /// Ends every fetch, records everything and closes the directory; nothing is written afterwards.
    ///
    /// Open reads end at their next hole. A cache that was opened several times closes with the last matching call.
    /// Further calls do nothing.
    public func close() async {
        let isLast = users.withLock { users in
            defer { users = max(0, users - 1) }
            return users == 1
        }
        guard isLast else { return }
        guard let store = engine.store else { return await parts.shutDown() }
        await OpenCaches.shared.close(store.directory) { [parts] in await parts.shutDown() }
    }

    /// What goes on when the last reference to the cache is gone, until it has ended.
    private struct Parts {
        let engine: Engine
        let upkeep: Upkeep
        let downloads: Downloads
        let preloads: Preloads

        func shutDown() async {
            await upkeep.stop()
            await preloads.stop()
            await downloads.stop()
            // A short-lived process leaves tags within their limits, too; afterwards nothing can be evicted.
            await engine.store?.recorder.flush()
            await engine.store?.tagKeeper.stop()
            await engine.shutDown()
        }
    }

    private var parts: Parts {
        Parts(engine: engine, upkeep: upkeep, downloads: downloads, preloads: preloads)
    }
}
