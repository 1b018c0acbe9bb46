package import Reprise

extension PlaylistPlanner {
    package func storedStream(
        _ title: Title, in inspector: CacheInspector, policy: CacheKeyPolicy
    ) throws -> StoredStream? {
        let stored = try StoredTitle(title, inspector, policy: policy)
        guard stored.outline != nil || title.isStream else { return nil }
        return StoredStream(share: stored.share, isComplete: stored.isComplete, fileCount: stored.fileCount)
    }
}
