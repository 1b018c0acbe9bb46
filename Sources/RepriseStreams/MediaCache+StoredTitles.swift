public import Reprise

extension MediaCache {
    /// The titles that play to their end without the origin, or those that do not, the most recently used first.
    ///
    /// A file plays when it is complete. A stream plays when its playlists are stored, it is not live, and of one of
    /// its variants all segments are stored; where the sound has playlists of its own, those are not looked at. Reads
    /// all stored playlists, so that its time grows with them. Waits for the disk. Throws ``RepriseError`` with code
    /// `storageUnavailable`.
    public func titles(complete: Bool) async throws -> [Title] {
        guard let inspector = await inspector() else { return [] }
        return try await withTaskExecutorPreference(DiskExecutor.shared) {
            try StoredTitle.titles(complete: complete, inspector, policy: keyPolicy)
        }
    }

    /// Records which stored files belong to the streams whose playlists are stored under `keys`.
    ///
    /// The proxy does it while it serves a playlist; before there were titles, it did not.
    package func learnFiles(of keys: [CacheKey], policy: CacheKeyPolicy) async throws {
        try await inspecting { inspector in
            for key in Set(keys) {
                guard let entry = try inspector.entries(of: key).first(where: { $0.key == key }) else { continue }
                let files = try StoredFiles(inspector, policy: policy, title: key)
                guard let outline = StreamOutline(entry, in: files) else { continue }
                note(Array(outline.members.keys), in: TitleReference(key: key, url: entry.url))
            }
        }
    }
}
