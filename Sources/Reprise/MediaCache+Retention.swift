import ByteRanges

extension MediaCache {
    /// Sets how long the stored bytes of `resource`, present and future, are kept; only a flag changes, no bytes move.
    ///
    /// If responses vary with the request (RFC 9111 §4.1), this applies to all variants. If a title begins with
    /// `resource`, it applies to all its files, also to those stored later.
    ///
    /// `download` fetches the missing bytes, as ``Downloads`` says. ``CacheEvent/downloadEnded(_:error:)`` reports how
    /// that ends. A download that cannot be stored, because it is larger than the limit or must not be stored, ends
    /// before its bytes are fetched.
    ///
    /// `first` returns when the beginning is stored, and throws as ``MediaResource/preload(_:)`` does.
    ///
    /// Throws ``RepriseError``: `storageFull` when what is kept would exceed the limit, or that of its tag
    /// (``setLimit(_:forTag:)``), by itself; the retention then stays as it was.
    /// `invalidArgument` for the first bytes, seconds or segments if they are none, and for a download that may use no
    /// network (``NetworkPolicy/never``).
    public func retain(_ resource: MediaResource, as retention: Retention) async throws {
        try await retain(resource, as: retention, selection: nil)
    }

    /// As ``retain(_:as:)-(MediaResource,_)``, with the selection of a stream's download; `nil` keeps the one that it
    /// has.
    ///
    /// `arrived` is told the length of each piece that the origin sends of a beginning.
    package func retain(
        _ resource: MediaResource, as retention: Retention, selection: StreamSelection?,
        arrived: (@Sendable (Int) -> Void)? = nil
    ) async throws {
        guard retention != .download || resource.networkPolicy != .never else {
            throw RepriseError(
                .invalidArgument, "A download needs a network; give its resource another network policy.")
        }
        let store = try writableStore()
        var parts: [CacheKey: ByteRangeSet] = [:]
        if case .first(let amount) = retention {
            guard !amount.isNothing else {
                throw RepriseError(.invalidArgument, "A beginning that is kept has at least one byte.")
            }
            for (key, ranges) in try await resource.preload(amount, arrived: arrived) {
                parts[try await variant(key, with: ranges, for: resource, in: store)] = ranges
            }
        }
        await store.evictor.prepare()
        let former = selection == nil && retention == .download ? await downloads.found(resource.key)?.item : nil
        let selection = selection ?? former?.selection ?? StreamSelection()
        let retained = RetentionStore.Retained(
            key: resource.key, url: resource.url, retention: retention,
            selection: retention == .download ? selection : nil,
            keyRule: retention == .download ? resource.keyRule ?? engine.configuration.keyPolicy.rule : nil,
            parts: parts, files: try await namedFiles(of: resource, retention: retention))
        let mayRetain: @Sendable (Usage) throws -> Void = { usage in
            guard retention == .cached || usage.allocated <= store.quota.limit else {
                throw RepriseError(.storageFull, store.noRoomReason(retained: usage))
            }
        }
        try await store.recorder.retain(retained, networkPolicy: resource.networkPolicy, mayRetain: mayRetain) {
            [downloads] index throws(RepriseError) in
            guard retention == .download else { return _ = downloads.cancel([resource.key]) }
            // One that was there before has its own rule.
            let keyRule = try index.downloads.keyRule(ofDownload: resource.key)
            downloads.start(
                resource.key, request: resource.originRequest, name: try index.titles.givenName(of: resource.key),
                selection: selection, keyRule: keyRule)
        }
        if retention == .cached {
            await settleTags(try await store.index.look { try $0.titles.limitedTags(ofFile: resource.key) })
        }
        if retention == .download {
            store.recorder.noteUse(resource.key)
            await downloads.recordHours(again: resource.key)
        }
    }

    /// The files that go with a playlist under this retention: where it is pinned, those that it names.
    private func namedFiles(of resource: MediaResource, retention: Retention) async throws -> Set<CacheKey> {
        guard case .pinned = retention else { return [] }
        let title = TitleReference(key: resource.key, url: resource.url)
        let keyPolicy = resource.keyRule?.policy ?? engine.configuration.keyPolicy
        return try await engine.namedFiles(of: title, keyPolicy: keyPolicy) ?? []
    }

    /// The key of the stored response to `resource`, a variant's where responses vary; throws `storageFull` unless
    /// `ranges` of it are stored, as far as it has them.
    ///
    /// Where there is too little room, the first bytes of a long beginning are evicted for its last ones.
    private func variant(
        _ key: CacheKey, with ranges: ByteRangeSet, for resource: MediaResource, in store: Store
    ) async throws -> CacheKey {
        let stored = try await engine.resource(key).stored(for: resource.originRequest)
        let file = ByteRangeSet(0..<(stored?.information.completeLength ?? Usage.most))
        let missing = ranges.intersection(file).subtracting(stored?.storedRanges ?? [])
        guard let stored, missing.isEmpty else {
            throw RepriseError(.storageFull, store.noRoomReason(for: 1))
        }
        return stored.key
    }

    /// The retention of `resource`.
    package func retention(of resource: MediaResource) async throws -> Retention {
        guard let store = engine.store else { return .cached }
        return try await store.index.look { try $0.retentions.retention(of: resource.key) }
    }

    /// Pins and downloads of which nothing is stored yet.
    package func awaitedEntries() async throws -> [CacheInspector.AwaitedEntry] {
        guard let inspector = await inspector() else { return [] }
        return try await DiskQueue.scans.runCancelable { try inspector.awaitedEntries() }
    }

    /// Records the limit again that was chosen before this cache was opened, for a command that failed; not where more
    /// is stored by now than that allows.
    package func restoreLimit() async throws(RepriseError) {
        guard let store = engine.store, store.problem == nil, engine.configuration.isLimitGiven,
            store.quota.usage.allocated <= store.limitBefore ?? Configuration().limit
        else { return }
        try await store.index.database.record(limit: store.limitBefore)
    }

    /// Returns when the background cleanup after a crash is done.
    package func settle() async { await upkeep.settle() }

    /// Removes the least recently used entries until the cache occupies at most `size` bytes, and those not used for
    /// `age`; never entries in use, pinned or downloading.
    ///
    /// Stops when the task is canceled, and when a file cannot be removed from the disk; its bytes count until it is.
    /// Returns the bytes freed on disk.
    @discardableResult
    public func prune(toSize size: Int64? = nil, olderThan age: Duration? = nil) async -> Int64 {
        await pruned(toSize: size, olderThan: age).freed
    }

    /// As ``prune(toSize:olderThan:)``, with the error that reports files which could not be removed.
    package func pruned(
        toSize size: Int64?, olderThan age: Duration?
    ) async -> (freed: Int64, problem: RepriseError?) {
        guard let store = engine.store else { return (0, nil) }
        let before = store.quota.usage.allocated
        var left: [LeftFile] = []
        if let age {
            let date = engine.clock.now() - age / .seconds(1)
            left += await store.evictor.prune(before: date, size: nil, by: engine.hands(store, because: .prune))
        }
        if let size, left.isEmpty {
            left += await store.evictor.prune(before: nil, size: size, by: engine.hands(store, because: .prune))
        }
        return (max(0, before - store.quota.usage.allocated), LeftFile.error(left))
    }

    /// What ``pruned(toSize:olderThan:)`` would free on disk, with a URL for each entry; entries in use stay.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable`.
    package func forecast(ofPruningToSize size: Int64?, olderThan age: Duration?) async throws -> RemovalForecast {
        guard engine.store != nil else { return RemovalForecast() }
        let store = try writableStore()
        let date = age.map { engine.clock.now() - $0 / .seconds(1) }
        let hands = engine.hands(store, because: .prune)
        let candidates = try await store.evictor.prunable(before: date, size: size, by: hands) { [engine] key in
            engine.isInUse(key)
        }
        return RemovalForecast(
            urls: candidates.compactMap(\.url),
            trimmed: Set(candidates.filter { $0.kept != nil }.compactMap(\.url)), entries: candidates.count,
            freedBytes: candidates.reduce(0) { $0 + $1.allocated })
    }

    /// Changes the limit in bytes (``Configuration/limit``) while the cache is in use, and records it in the directory.
    ///
    /// Evicts least recently used entries where the cache occupies more; entries in use, pinned entries and downloads
    /// stay. Does nothing in a cache without a store. Throws ``RepriseError``: `storageUnavailable` when the index
    /// cannot be written; the limit is as it was before then.
    public func setLimit(_ limit: Int64) async throws {
        guard let store = engine.store else { return }
        if let problem = store.problem { throw problem }
        let limit = Store.limit(limit)
        try await store.index.database.record(limit: limit)
        store.quota.setLimit(limit)
        await prune(toSize: limit)
        downloads.roomWasMade()
    }

    /// Most bytes that the cache may occupy on disk; 0 in a cache without a store.
    public var limit: Int64 { engine.store?.quota.limit ?? 0 }

    /// Removes the entries stored under `keys`, as ``remove(_:)`` does, in few transactions.
    ///
    /// Returns the bytes of media freed. Throws ``RepriseError`` with code `storageUnavailable`, also when a file could
    /// not be removed from the disk; the entries are gone then, and such files count until they are.
    @discardableResult
    public func remove(_ keys: [CacheKey]) async throws -> Int64 {
        let outcome = try await engine.removed(keys, endingIn: downloads)
        if let problem = outcome.problem { throw problem }
        return outcome.freed.stored
    }
}
