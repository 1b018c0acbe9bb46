/// The streams among the titles, in a cache that reads playlists; others know files only.
extension Engine {
    /// The stream that begins with `key`; `nil` if none is known, and in a cache that reads no playlists.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    func stream(of key: CacheKey) async throws -> Title? {
        guard let store, configuration.streamPlanner != nil else { return nil }
        await store.recorder.flush()
        let title = try await withTaskExecutorPreference(DiskExecutor.shared) { try store.index.title(of: key) }
        return title?.isStream == true ? title : nil
    }

    /// Whether `stream` plays to its end without the origin; reads its stored playlists.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    func isComplete(_ stream: Title) async throws -> Bool {
        guard let store, let planner = configuration.streamPlanner else { return false }
        let inspector = CacheInspector(store.index, directory: store.directory)
        return try await withTaskExecutorPreference(DiskExecutor.shared) {
            try planner.isComplete(stream, in: inspector, policy: configuration.keyPolicy)
        }
    }
}
