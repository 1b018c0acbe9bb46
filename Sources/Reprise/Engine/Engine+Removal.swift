import Primitives

/// The removal of entries and titles on request; eviction goes its own way.
extension Engine {
    /// Entries that one transaction removes: few enough not to delay a batch of records for long.
    private static var removalBatch: Int { 500 }

    /// Removes the entries under `keys` in few transactions, after what `downloads` fetches of them has ended.
    ///
    /// Downloads that were done, and have some of them as files, fetch these again unless `areUnneeded` is true.
    /// Returns what is freed, the number of entries that are gone, that of files that could not be removed, and the
    /// error that reports them.
    func removed(
        _ keys: [CacheKey], endingIn downloads: Downloads, areUnneeded: Bool = false
    ) async throws -> (freed: Usage, entries: Int, left: Int, problem: RepriseError?) {
        guard let store else { return (Usage(), 0, 0, nil) }
        await downloads.end(keys)
        await store.recorder.flush()
        let titles = areUnneeded ? [] : try await titles(withFiles: keys, in: store)
        var (freed, entries) = (Usage(), 0)
        var left: [LeftFile] = []
        var rest = keys[...]
        do {
            while !rest.isEmpty {
                let outcome = try await remove(Array(rest.prefix(Self.removalBatch)), in: store, endingIn: downloads)
                freed = freed + outcome.freed
                entries += outcome.entries
                left += outcome.left
                rest = rest.dropFirst(Self.removalBatch)
            }
        } catch {
            // Of those that went before.
            await downloads.fetchAgain(titles)
            downloads.roomWasMade()
            throw error
        }
        await downloads.fetchAgain(titles)
        downloads.roomWasMade()
        return (freed, entries, left.count, LeftFile.error(left))
    }

    /// The keys of the titles that have one of the files under `keys`.
    private func titles(withFiles keys: [CacheKey], in store: Store) async throws -> Set<CacheKey> {
        try await store.index.look { try $0.titles.keys(withFiles: Set(keys)) }
    }

    /// Removes the titles of `keys`, with those of their files that belong to no other title and are not retained by
    /// themselves.
    ///
    /// `named` is what stored playlists name; `nil` for what those name that ``namedFiles(aroundTitles:)`` reads.
    /// Returns the bytes of media freed, and else what ``removed(_:endingIn:)`` does.
    func removedTitles(
        _ keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>]?, endingIn downloads: Downloads
    ) async throws -> (freed: Int64, entries: Int, problem: RepriseError?) {
        guard let store else { return (0, 0, nil) }
        // First: when it is canceled while it waits, nothing has happened.
        try await claims.take()
        defer { claims.leave() }
        await downloads.end(keys)
        await store.recorder.flush()
        let named = if let named { named } else { try await namedFiles(aroundTitles: keys) }
        let files = try await store.recorder.removeTitles(keys, knowing: named) { [self] in
            liveFiles(of: Set(keys), in: store)
        }
        let outcome = try await removed(Array(Set(keys + files)), endingIn: downloads)
        return (outcome.freed.stored, outcome.entries, outcome.problem)
    }

    /// Records which stored files the stored playlists of the titles of `keys` name, and those of titles that share
    /// files with them, so that none goes with a title that another one needs.
    func learnFiles(aroundTitles keys: [CacheKey]) async throws {
        guard let store else { return }
        await store.recorder.flush()
        for (title, files) in try await namedFiles(aroundTitles: keys) { store.recorder.note(Array(files), in: title) }
        await store.recorder.flush()
    }

    /// What ``StreamPlanner/storedFiles(aroundTitles:in:policy:)`` finds; nothing in a cache that reads no playlists.
    func namedFiles(aroundTitles keys: [CacheKey]) async throws -> [TitleReference: Set<CacheKey>] {
        guard let store, let planner = configuration.streamPlanner else { return [:] }
        let inspector = CacheInspector(store.index, directory: store.directory)
        return try await DiskQueue.shared.run { [self] in
            try planner.storedFiles(aroundTitles: keys, in: inspector, policy: configuration.keyPolicy)
        }
    }

    /// The files in memory that belong to `titles` only.
    ///
    /// Includes files that the index has not recorded yet. The titles may already be marked as removed.
    func liveFiles(of titles: Set<CacheKey>, in store: Store) -> [CacheKey] {
        liveResources.filter { resource in
            let claims = resource.liveGeneration?.record.claims ?? []
            return claims.contains { titles.contains($0.title.key) }
                && store.recorder.standing(claims).allSatisfy { titles.contains($0.title.key) }
        }.map(\.key)
    }
}
