package import ByteRanges
package import HTTPTypes

/// What the cache is doing at one moment, for those who look after it.
extension MediaCache {
    /// A resource that is being read or fetched.
    package struct Activity: Sendable {
        /// Its key.
        package let key: CacheKey
        /// Its URL.
        package let url: ResourceURL
        /// The stored bytes.
        package let stored: ByteRangeSet
        /// Complete length in bytes; `nil` while unknown.
        package let completeLength: Int64?
        /// Number of reads.
        package let readers: Int
        /// Number of fetches.
        package let fetches: Int
    }

    /// The resources that are being read or fetched, at most `limit` of them, by key.
    package func activities(atMost limit: Int) -> [Activity] {
        let active = engine.liveKeys.compactMap { engine.liveResource($0)?.liveGeneration }.filter { !$0.isIdle }
        return active.sorted { $0.key.text < $1.key.text }.prefix(limit).map(\.activity)
    }

    /// Bytes that are free on the disk of the cache; `nil` if that is unknown.
    package var freeBytes: Int64? { engine.store?.quota.free }

    /// The events from now on, without those of the opening, which are left to ``events()``.
    package func laterEvents() -> AsyncStream<CacheEvent> { engine.reporter.events(withEarlier: false) }

    /// Records everything that is noted, so that those who read the directory find it.
    package func flush() async { await engine.store?.recorder.flush() }

    /// Calls `body` with a look at the index, in which everything noted so far is recorded; `nil` without a store.
    package func inspecting<T: Sendable>(_ body: @escaping @Sendable (CacheInspector) throws -> T) async throws -> T? {
        guard let inspector = await inspector() else { return nil }
        return try await DiskQueue.shared.run { try body(inspector) }
    }

    /// Whether downloads run while this cache is open.
    package var resumesDownloads: Bool { engine.configuration.resumesDownloads }

    /// The resource at `url` under the key that `keyPolicy` gives it, whatever the cache's own says; a download of it
    /// follows that policy, too.
    package func resource(
        for url: ResourceURL, keyPolicy: CacheKeyPolicy, fields: HTTPFields = [:]
    ) throws(RepriseError) -> MediaResource {
        var resource = try resource(for: url, key: keyPolicy.key(for: url), fields: fields)
        resource.keyRule = keyPolicy.rule
        return resource
    }

    /// The directory; `nil` without a store.
    package var directory: String? { engine.store?.directory }
}

extension Generation {
    fileprivate var activity: MediaCache.Activity {
        let (readers, fetches) = workload
        let record = record
        return MediaCache.Activity(
            key: key, url: record.url, stored: storedRanges, completeLength: record.completeLength, readers: readers,
            fetches: fetches)
    }
}
