import Foundation
public import HTTPTypes

extension MediaCache {
    /// The resource at `url`, stored under `key` instead of what the key policy says.
    ///
    /// Throws ``RepriseError`` with code `closed` after ``close()``. By naming a key you guarantee that all its URLs
    /// have one representation.
    public func resource(
        for url: ResourceURL, key: CacheKey, fields: HTTPFields = [:]
    ) throws(RepriseError) -> MediaResource {
        MediaResource(url: url, key: key, fields: fields, resource: try engine.resource(key), cache: self)
    }

    /// Whether every byte of the resource at `url` is on disk, in `partition` if one is given; consults the index,
    /// never the network.
    ///
    /// Of a stream as ``MediaResource/isCached`` says.
    public func isCached(_ url: ResourceURL, partition: String? = nil) async -> Bool {
        await (try? resource(for: url, partition: partition))?.isCached ?? false
    }

    /// The stored entries that are complete, or those with holes, most recently used first.
    ///
    /// Complete files play without the origin. Waits for the disk. Throws ``RepriseError`` with code
    /// `storageUnavailable`.
    public func entries(complete: Bool) async throws -> [CacheEntry] {
        try await entries().filter { $0.isComplete == complete }
    }

    /// Removes everything stored from `host`, of every partition, even while it is being read, including pinned entries
    /// and downloads.
    ///
    /// The host is compared as a whole, without regard to case and port. Returns the bytes freed; 0 if there was
    /// nothing. Throws ``RepriseError`` when the index cannot be read or written.
    @discardableResult
    public func remove(host: String) async throws -> Int64 {
        guard let store = engine.store else { return 0 }
        let host = host.lowercased()
        return try await remove(Array(Set(try await recorded(in: store).filter { $0.url.host == host }.map(\.key))))
    }

    /// Removes every entry of every partition, also entries that are being read, pinned entries and downloads.
    ///
    /// Returns the bytes freed. Throws ``RepriseError`` when the index cannot be read or written.
    @discardableResult
    public func removeAll() async throws -> Int64 { try await removeAll { _ in true } }

    /// Removes everything stored in `partition`, even while it is being read, including pinned entries and downloads.
    ///
    /// Leaves other partitions and unpartitioned entries alone. Returns the bytes freed; 0 if there was nothing. Throws
    /// ``RepriseError`` when the index cannot be read or written.
    @discardableResult
    public func removeAll(partition: String) async throws -> Int64 {
        try await removeAll { $0.partition == partition }
    }

    private func removeAll(_ isMeant: (CacheKey) -> Bool) async throws -> Int64 {
        guard let store = engine.store else { return 0 }
        let keys = Set(try await recorded(in: store).map(\.key) + engine.liveKeys).filter(isMeant)
        store.recorder.noteRemoval(ofTitles: keys)
        return try await remove(Array(keys))
    }

    /// The stored entries, and retentions of which nothing is stored yet.
    private func recorded(in store: Store) async throws -> [(key: CacheKey, url: ResourceURL)] {
        let held = try await store.index.look { try $0.retentions.all() }
        return try await entries().map { ($0.key, $0.url) } + held.map { ($0.key, $0.url) }
    }

    /// Removes every entry that has not been used for longer than `age`, except those in use, pinned ones, downloads
    /// and those of which the beginning is kept.
    ///
    /// Returns the bytes freed. Throws ``RepriseError`` when the index cannot be read or written, or a file cannot be
    /// removed.
    @discardableResult
    public func removeEntries(unusedFor age: Duration) async throws -> Int64 {
        guard let store = engine.store else { return 0 }
        let oldest = clock.wallClock() - age / .seconds(1)
        let old = try await entries().filter { $0.lastUsed < oldest && $0.retention == .cached }.map { entry in
            EntryStore.Candidate(
                name: store.index.name(of: entry.key), key: entry.key,
                isPlaylist: entry.information.role.map { $0.kind == .playlist } ?? entry.url.namesPlaylist)
        }
        let postponed = try await store.index.entries.postponePlaylists(among: old)
        let candidates = old.filter { postponed[$0.name] ?? 0 < oldest.timeIntervalSince1970 }
        let outcome = try await engine.remove(candidates, force: false, in: store)
        if let problem = LeftFile.error(outcome.left) { throw problem }
        return outcome.removed.reduce(0) { $0 + $1.usage.stored }
    }

    /// The clock of this cache.
    package var clock: CacheClock { engine.clock }

    /// A cache with the same origin that stores nothing.
    package func withoutStoring() -> MediaCache {
        MediaCache.withoutStore(origin: engine.client, configuration: engine.configuration)
    }
}
