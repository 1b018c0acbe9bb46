public import HTTPTypes
import ByteRanges
import Locks

/// A cache of remote media on disk: what was read is stored, what is stored is not fetched again.
///
/// ```swift
/// let cache = try await MediaCache.open(directory: path, origin: origin)
/// for try await piece in try await cache.resource(for: url).read() { … }
/// ```
/// There is one per directory and process: whoever opens a directory that is open gets the same cache. Call ``close()``
/// before the process ends so that the last second's records reach the disk (without it at most the last second of each
/// running download is fetched again).
public final class MediaCache: Sendable {
    let engine: Engine
    let downloads: Downloads
    let upkeep: Upkeep
    /// How many opened it and have not closed it.
    private let users = Mutex(1)

    init(_ engine: Engine) {
        self.engine = engine
        downloads = Downloads(engine: engine)
        upkeep = Upkeep(engine: engine)
    }

    // Resources and reads keep it: nothing is read any more. What is noted is recorded, and the directory let go.
    deinit {
        upkeep.cancel()
        downloads.cancel()
        guard users.withLock({ $0 > 0 }) else { return }
        Task { [engine, upkeep, downloads] in await Self.shutDown(engine, upkeep, downloads) }
    }

    /// One more has opened it; false once it is closed.
    func enter() -> Bool {
        users.withLock { users in
            guard users > 0 else { return false }
            users += 1
            return true
        }
    }

    /// Opens the cache in `directory`, creating it if need be.
    ///
    /// A directory that is open in this process already, under whatever name, gives the same cache with its origin and its
    /// configuration; it is closed when each caller has called ``close()``, or when nobody has it, a resource or a read of it any more. The media are excluded from
    /// backups where the system has those, and readable after the device was unlocked once.
    ///
    /// A directory that cannot be written is read: stored bytes are served, holes come from the origin, and nothing is
    /// added (``isStoring``, ``storeProblem``).
    ///
    /// Throws ``RepriseError``: `storageLocked` when another process has it, or this one with another limit or kind
    /// (``ReusePolicy/isShared``); `storageUnavailable` when it can neither be written nor read as a cache, or its index is
    /// newer than this version; `keyUnavailable` when the key cannot be had, or is not the one that the cache was made with
    /// (``Configuration/resetsWhenKeyDiffers``): nothing is changed then. A damaged index is no error: it is set aside, the
    /// cache starts empty and tells so (``CacheEvent/storeReset(reason:)``).
    public static func open(
        directory: String, origin: any Origin, configuration: Configuration = Configuration()
    ) async throws -> MediaCache {
        let vault = try await withTaskExecutorPreference(DiskExecutor.shared) {
            try configuration.encryption.map { Vault(key: try $0.provider.key()) }
        }
        // So that it has a path; where it cannot be made the store says why.
        try? configuration.fileSystem.makeDirectory(directory)
        let cache = try await OpenCaches.shared.cache(in: directory) { path in
            let journal = Journal()
            let store = try await withTaskExecutorPreference(DiskExecutor.shared) {
                try Store(directory: path, configuration: configuration, vault: vault, journal: journal)
            }
            return MediaCache(Engine(origin: origin, configuration: configuration, store: store, journal: journal))
        } start: { cache in
            guard let store = cache.engine.store, store.problem == nil else { return }
            cache.upkeep.start(store)
            if cache.engine.configuration.resumesDownloads { cache.downloads.resume(store) }
        }
        if let refusal = cache.refusal(of: configuration, vault, directory) {
            await cache.close()
            throw refusal
        }
        return cache
    }

    /// Why a cache that is open must not be had with these settings; `nil` if it may.
    private func refusal(of configuration: Configuration, _ vault: Vault?, _ directory: String) -> RepriseError? {
        if let store = engine.store, let difference = Catalogue.KeyDifference(made: store.vault?.check, given: vault) {
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
    /// For when no directory can be written.
    public static func withoutStore(
        origin: any Origin, configuration: Configuration = Configuration()
    ) -> MediaCache {
        MediaCache(Engine(origin: origin, configuration: configuration, store: nil, journal: Journal()))
    }

    /// A cache that stores nothing because of `error`, and says so (``CacheEvent/storeBypassed(_:reason:)``).
    package static func withoutStore(
        origin: any Origin, configuration: Configuration, because error: any Error
    ) -> MediaCache {
        let problem =
            error as? RepriseError
            ?? RepriseError(.storageUnavailable, "The cache's directory cannot be used.", cause: error)
        let cache = MediaCache(
            Engine(origin: origin, configuration: configuration, store: nil, journal: Journal(), problem: problem))
        cache.engine.journal.tell(.storeBypassed(nil, reason: "Nothing is stored. \(problem.description)"))
        return cache
    }

    /// Whether anything can be stored: false in a cache without a store, and where its directory can only be read.
    public var isStoring: Bool { engine.store.map { $0.problem == nil } ?? false }

    /// Its directory has entries that are served, and can only be read.
    package var isReadOnly: Bool { engine.store?.problem != nil }

    /// Why nothing can be stored, although it was to be: the directory can only be read, or could not be used at all.
    ///
    /// Its ``RepriseError/message`` is for people. `nil` while ``isStoring`` is true, and in a cache that was made without a
    /// store on purpose.
    public var storeProblem: RepriseError? { engine.storeProblem }

    /// The resource at `url`.
    ///
    /// Throws ``RepriseError`` with code `closed` after ``close()``.
    ///
    /// `fields` go to the origin with every request for it (authorisation, cookies) and are never logged. They are no part of
    /// the key: credentials change by the hour. Users do not: where what one user may see is not for the next one, name a
    /// `partition`, such as the account's identifier. Entries of one partition are never used for another one, and
    /// ``removeAll(partition:)`` removes them as a whole. `nil`, the default, stands for no partition.
    public func resource(
        for url: ResourceURL, fields: HTTPFields = [:], partition: String? = nil
    ) throws(RepriseError) -> MediaResource {
        let key = engine.configuration.keyPolicy.key(for: url).inPartition(partition)
        return MediaResource(url: url, key: key, fields: fields, core: try engine.resource(key), cache: self)
    }

    /// The resource at the URL in `text`.
    ///
    /// As ``resource(for:fields:partition:)``. Throws ``RepriseError`` with code `invalidURL` or `closed`.
    public func resource(
        for text: String, fields: HTTPFields = [:], partition: String? = nil
    ) throws(RepriseError) -> MediaResource {
        try resource(for: ResourceURL(text), fields: fields, partition: partition)
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

    /// Ends every fetch, records everything, and lets go of the directory; nothing is written afterwards.
    ///
    /// Reads still open end at their next hole. A cache that was opened several times ends with the last call; one call for
    /// each opening. Further calls do nothing.
    public func close() async {
        let isLast = users.withLock { users in
            defer { users = max(0, users - 1) }
            return users == 1
        }
        guard isLast else { return }
        guard let store = engine.store else { return await Self.shutDown(engine, upkeep, downloads) }
        await OpenCaches.shared.close(store.directory) { [engine, upkeep, downloads] in
            await Self.shutDown(engine, upkeep, downloads)
        }
    }

    private static func shutDown(_ engine: Engine, _ upkeep: Upkeep, _ downloads: Downloads) async {
        await upkeep.stop()
        await downloads.stop()
        await engine.shutDown()
    }
}
