extension MediaCache {
    /// Keeps what is or will be stored of `resource` as `retention` says; only a flag changes, no byte moves.
    ///
    /// Where responses vary with the request (RFC 9111 §4.1), all of them are kept.
    ///
    /// `download` begins to fetch what is missing with the resource's fields, and goes on after a restart, then without
    /// them: secrets are not stored. How it ends is told (``CacheEvent/downloadEnded(_:error:)``). Throws ``RepriseError``:
    /// `storageFull` when what is kept would exceed the limit by itself; the flag is not set then.
    public func retain(_ resource: MediaResource, as retention: Retention) async throws {
        guard let store = engine.store else {
            throw RepriseError(.storageUnavailable, "Nothing can be stored: the cache has no directory.")
        }
        await store.recorder.flush()
        try await store.recorder.retain(retention, key: resource.key, url: resource.url)
        if retention != .cached, try store.catalogue.heldUsage().allocated > store.quota.limit {
            let reason = store.noRoomReason
            try await store.recorder.retain(.cached, key: resource.key, url: resource.url)
            throw RepriseError(.storageFull, reason)
        }
        if retention == .download {
            downloads.start(resource.key, resource.originRequest)
        } else {
            downloads.cancel(resource.key)
        }
    }

    /// Returns when what a crash left is put right: it is done in the background.
    package func settle() async { await upkeep.settle() }

    /// Removes the least recently used entries until the cache occupies at most `size` bytes, and those not used for
    /// `age`; never what is in use or kept.
    ///
    /// Returns the bytes that were freed on the disk.
    @discardableResult
    public func prune(toSize size: Int64? = nil, olderThan age: Duration? = nil) async -> Int64 {
        guard let store = engine.store else { return 0 }
        let before = store.quota.usage.allocated
        if let age {
            let date = engine.configuration.clock.now() - age / .seconds(1)
            await store.evictor.prune(before: date, size: nil, engine.hands(store))
        }
        if let size { await store.evictor.prune(before: nil, size: size, engine.hands(store)) }
        return max(0, before - store.quota.usage.allocated)
    }

    /// Removes what is stored under `keys`, as ``remove(_:)`` does, in few transactions.
    ///
    /// Returns the bytes of media freed.
    @discardableResult
    public func remove(_ keys: [CacheKey]) async throws -> Int64 {
        guard let store = engine.store else { return 0 }
        await store.recorder.flush()
        var freed: Int64 = 0
        var rest = keys[...]
        while !rest.isEmpty {
            freed += try await engine.remove(Array(rest.prefix(Self.removalBatch)), store)
            rest = rest.dropFirst(Self.removalBatch)
        }
        return freed
    }

    /// Entries that one transaction removes: few enough that a batch of records need not wait long.
    private static var removalBatch: Int { 500 }
}
