public import HTTPTypes
import ByteRanges
import Locks

/// A cache of remote media on disk: what was read is stored, what is stored is not fetched again.
///
/// ```swift
/// let cache = try await MediaCache.open(directory: path, origin: origin)
/// for try await piece in try await cache.resource(for: url).read() { … }
/// ```
/// Open one per directory and process; a second one is refused. Call ``close()`` before the process ends so that the last
/// second's records reach the disk (without it at most the last second of each running download is fetched again).
public final class MediaCache: Sendable {
    let engine: Engine
    let downloads: Downloads
    let upkeep: Upkeep

    init(_ engine: Engine) {
        self.engine = engine
        downloads = Downloads(engine: engine)
        upkeep = Upkeep(engine: engine)
    }

    deinit {
        upkeep.cancel()
        downloads.cancel()
        _ = engine.close()
    }

    /// Opens the cache in `directory`, creating it if need be.
    ///
    /// Throws ``RepriseError``: `storageLocked` when another process has it, `storageUnavailable` when it cannot be written
    /// or its index is newer than this version, `keyUnavailable` when it is encrypted and its key cannot be had. A damaged
    /// index is no error: it is set aside, the cache starts empty and tells so (``CacheEvent/storeReset(reason:)``).
    public static func open(
        directory: String, origin: any Origin, configuration: Configuration = Configuration()
    ) async throws -> MediaCache {
        let journal = Journal()
        let store = try await withTaskExecutorPreference(DiskExecutor.shared) {
            try Store(
                directory: directory, configuration: configuration, journal: journal)
        }
        let cache = MediaCache(
            Engine(origin: origin, configuration: configuration, store: store, journal: journal))
        cache.upkeep.start(store)
        if configuration.resumesDownloads { cache.downloads.resume(store) }
        return cache
    }

    /// A cache that stores nothing: reads stream straight from the origin.
    ///
    /// For when no directory can be written.
    public static func withoutStore(
        origin: any Origin, configuration: Configuration = Configuration()
    ) -> MediaCache {
        MediaCache(Engine(origin: origin, configuration: configuration, store: nil, journal: Journal()))
    }

    /// Whether anything can be stored.
    public var isStoring: Bool { engine.store != nil }

    /// The resource at `url`.
    ///
    /// Throws ``RepriseError`` with code `closed` after ``close()``.
    ///
    /// `fields` go to the origin with every request for it (authorisation, cookies) and are never logged.
    public func resource(for url: ResourceURL, fields: HTTPFields = [:]) throws(RepriseError) -> MediaResource {
        let key = engine.configuration.keyPolicy.key(for: url)
        return MediaResource(url: url, key: key, fields: fields, core: try engine.resource(key))
    }

    /// The resource at the URL in `text`.
    ///
    /// Throws ``RepriseError`` with code `invalidURL` or `closed`.
    public func resource(for text: String, fields: HTTPFields = [:]) throws(RepriseError) -> MediaResource {
        try resource(for: ResourceURL(text), fields: fields)
    }

    /// What is stored, the most recently used first.
    ///
    /// Waits for the disk.
    public func entries() async throws -> [CacheEntry] {
        guard let store = engine.store else { return [] }
        await store.recorder.flush()
        return try await withTaskExecutorPreference(DiskExecutor.shared) { try store.catalogue.entries() }
    }

    /// Removes what is stored under `key`, also while it is being read: such reads end at their next hole.
    ///
    /// Returns the bytes freed; 0 if there was nothing.
    @discardableResult
    public func remove(_ key: CacheKey) async throws -> Int64 {
        try await remove([key])
    }

    /// Bytes of media on disk.
    public var storedBytes: Int64 { engine.store?.quota.usage.stored ?? 0 }

    /// What the media occupy on disk, in the file system's blocks, and what the index occupies.
    public var allocatedBytes: (media: Int64, index: Int64) {
        engine.store.map { ($0.quota.usage.allocated, $0.quota.indexBytes) } ?? (0, 0)
    }

    /// Transactions that wrote to the index since the cache was opened.
    package var transactionCount: Int { engine.store?.catalogue.transactions.withLock { $0 } ?? 0 }

    /// Nothing is being read, fetched or opened.
    package var isIdle: Bool { engine.isIdle }

    /// Counts since this cache was opened.
    public var statistics: CacheStatistics { engine.journal.current }

    /// Counts over the whole life of the directory.
    public func lifetimeStatistics() async throws -> CacheStatistics {
        guard let store = engine.store else { return statistics }
        await store.recorder.flush()
        return try await withTaskExecutorPreference(DiskExecutor.shared) {
            CacheStatistics(totals: try store.catalogue.totals())
        }
    }

    /// What happens from now on.
    ///
    /// The first stream begins with what happened before, up to 64 events, those of the opening among them. A consumer
    /// that falls 1,024 events behind loses the oldest; ``statistics`` never does.
    public func events() -> AsyncStream<CacheEvent> { engine.journal.events() }

    /// Notes that `resource` is being served from ``MediaResource/storedHit(_:atMost:directives:)``.
    package func noteUse(of resource: MediaResource) { engine.store?.recorder.noteUse(resource.key) }

    /// Counts what was served so: responses that ended, whole or not, and bytes that left.
    package func noteServed(reads: Int64, bytes: Int64) {
        engine.journal.count { statistics in
            statistics.reads += reads
            statistics.bytesFromStore += bytes
        }
    }

    /// Ends every fetch, records everything, and lets go of the directory.
    ///
    /// Reads still open end at their next hole.
    public func close() async {
        await upkeep.stop()
        await downloads.stop()
        for resource in engine.close() { await resource.liveGeneration?.stopFetches() }
        do {
            try await engine.store?.close()
        } catch {
            engine.journal.tell(.storeBypassed(nil, reason: error.description))
        }
        engine.progress.finish()
        engine.journal.finish()
    }
}
