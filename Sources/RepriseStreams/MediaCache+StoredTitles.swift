public import Reprise

extension MediaCache {
    /// The titles that play to their end without the origin, or those that do not, the most recently used first.
    ///
    /// A file plays when it is complete. A stream plays when its playlists are stored, it is not live, and all segments
    /// of one of its variants are stored with their keys and initialization, and those of one rendition of the sound
    /// that belongs to it, where that has playlists of its own. Reads all stored playlists, so that its time grows with
    /// them. Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    public func titles(complete: Bool) async throws -> [Title] {
        guard let inspector = await inspector() else { return [] }
        return try await DiskQueue.scans.runCancelable { [self] in
            try StoredTitle.titles(complete: complete, inspector, policy: keyPolicy)
        }
    }

    /// Records which stored files belong to the streams whose playlists are stored under `keys`.
    ///
    /// The proxy does it while it serves a playlist; before there were titles, it did not.
    package func learnFiles(of keys: [CacheKey], policy: CacheKeyPolicy) async throws {
        try await inspecting { [self] inspector in
            for key in Set(keys) {
                let files = try StoredFiles(inspector, policy: policy, title: key)
                guard let outline = try files.outline(ofTitle: key) else { continue }
                note(Array(outline.members.keys), in: outline.title)
            }
        }
    }

    /// The stored files of the streams that begin with `keys`, and of those that share files with them.
    package func storedFiles(
        aroundTitles keys: [CacheKey], policy: CacheKeyPolicy
    ) async throws -> [TitleReference: Set<CacheKey>] {
        try await inspecting { try PlaylistPlanner().storedFiles(aroundTitles: keys, in: $0, policy: policy) } ?? [:]
    }
}

extension PlaylistPlanner {
    package func isComplete(_ title: Title, in inspector: CacheInspector, policy: CacheKeyPolicy) throws -> Bool {
        try StoredTitle(title, inspector, policy: policy).isComplete
    }

    package func storedFiles(
        aroundTitles keys: [CacheKey], in inspector: CacheInspector, policy: CacheKeyPolicy
    ) throws -> [TitleReference: Set<CacheKey>] {
        var (named, recorded) = ([TitleReference: Set<CacheKey>](), Set<CacheKey>())
        func read(_ key: CacheKey) throws {
            let files = try StoredFiles(inspector, policy: policy, title: key)
            recorded.formUnion(files.entries.map(\.key))
            if let outline = try files.outline(ofTitle: key) { named[outline.title] = Set(outline.members.keys) }
        }
        for key in Set(keys) { try read(key) }
        let files = named.values.reduce(into: recorded) { $0.formUnion($1) }
        for key in try inspector.titles(withFiles: files).subtracting(keys) { try read(key) }
        return named
    }
}

extension StoredFiles {
    /// The outline of the stream whose outermost playlist is stored under `key`; `nil` if there is none.
    fileprivate func outline(ofTitle key: CacheKey) throws -> StreamOutline? {
        try entry(under: key).flatMap { StreamOutline($0, in: self) }
    }
}

extension StreamOutline {
    /// The title that begins with its playlist.
    fileprivate var title: TitleReference { TitleReference(key: entry.key, url: entry.url) }
}
