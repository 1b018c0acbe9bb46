import HTTPSemantics

extension MediaCache {
    /// Sets how many bytes on disk all titles with `tag` may occupy together, and records it in the directory; `nil`
    /// for no limit but that of the cache.
    ///
    /// Evicts the files of titles with the tag, the least recently used title first, when they occupy more: at once,
    /// and while more of them is stored, at the latest a second after that. Pinned titles, downloads and kept
    /// beginnings stay, and so do files that belong to a title without the tag, and ranges that are being read. Titles
    /// go as wholes. Of the one that was used last, only as much as must goes, the least recently used files and
    /// extents first.
    ///
    /// Does nothing in a cache without a store. Throws ``RepriseError``, and the limit stays as it was: `storageFull`
    /// when what is kept of the tag occupies more; `invalidArgument` for what is no tag
    /// (``nameTitle(of:name:tag:)``); `storageUnavailable` when nothing can be recorded. Negative numbers count as 0.
    public func setLimit(_ limit: Int64?, forTag tag: String) async throws {
        try Self.check(tag)
        guard engine.store != nil else { return }
        let store = try writableStore()
        await store.evictor.prepare()
        let limit = limit.map { Store.limit($0) }
        try await store.recorder.change { index async throws(RepriseError) in
            try await index.titles.setLimit(limit, ofTag: tag)
        }
        await settleTags([store.index.titles.name(ofTag: tag)])
        downloads.roomWasMade()
    }

    /// Most bytes on disk that titles with `tag` may occupy together; `nil` for no limit of their own.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    public func limit(forTag tag: String) async throws -> Int64? {
        guard let store = engine.store else { return nil }
        return try await store.index.look { try $0.titles.limit(ofTag: tag) }
    }

    /// The tags of titles, and those that have a limit, in alphabetical order.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    public func tags() async throws -> [TitleTag] {
        guard let store = engine.store else { return [] }
        await store.recorder.flush()
        return try await store.index.look { try $0.titles.tags() }
    }

    /// Returns when everything is recorded, and tags of which more was stored fit their limits again.
    package func settleTags() async {
        await engine.store?.recorder.flush()
        await settleTags([])
    }

    /// Holds the tags with these names to their limits.
    func settleTags(_ names: Set<String>) async {
        engine.store?.tagKeeper.note(names)
        await engine.store?.tagKeeper.settle()
    }
}
