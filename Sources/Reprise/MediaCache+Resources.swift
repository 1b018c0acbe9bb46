public import HTTPTypes

extension MediaCache {
    /// The resource at `url`, stored under `key` instead of what the key policy says.
    ///
    /// Throws ``RepriseError`` with code `closed` after ``close()``. Whoever names a key vouches that its URLs have one
    /// representation.
    public func resource(
        for url: ResourceURL, key: CacheKey, fields: HTTPFields = [:]
    ) throws(RepriseError) -> MediaResource {
        MediaResource(url: url, key: key, fields: fields, core: try engine.resource(key))
    }

    /// Whether every byte of the resource at `url` is on disk; looks into the index, never at the network.
    public func isCached(_ url: ResourceURL) async -> Bool {
        guard let resource = try? resource(for: url) else { return false }
        return await resource.storedProgress().isComplete
    }

    /// Removes every entry that nobody has used for longer than `age`, except those in use.
    ///
    /// Returns the bytes freed. Throws ``RepriseError`` when the index cannot be read or written.
    @discardableResult
    public func removeEntries(unusedFor age: Duration) async throws -> Int64 {
        let oldest = clock.wallClock() - age / .seconds(1)
        var freed: Int64 = 0
        for entry in try await entries() where entry.lastUsed < oldest {
            freed += try await engine.remove(entry.key, force: false) ?? 0
        }
        return freed
    }

    /// The time that this cache goes by.
    package var clock: CacheClock { engine.configuration.clock }

    /// A cache on the same origin that stores nothing.
    package func withoutStoring() -> MediaCache {
        MediaCache.withoutStore(origin: engine.origin, configuration: engine.configuration)
    }
}
