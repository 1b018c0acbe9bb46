import Primitives

/// The streams among the titles, in a cache that reads playlists; others know files only.
extension Engine {
    /// The stream that begins with `key`; `nil` if none is known, and in a cache that reads no playlists.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    func stream(of key: CacheKey) async throws -> Title? {
        guard let store, configuration.streamPlanner != nil else { return nil }
        await store.recorder.flush()
        let title = try await store.index.look { try $0.titles.title(of: key) }
        return title?.isStream == true ? title : nil
    }

    /// Whether `stream` plays to its end without the origin; reads its stored playlists.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    func isComplete(_ stream: Title) async throws -> Bool {
        guard let store, let planner = configuration.streamPlanner else { return false }
        let inspector = CacheInspector(store.index, directory: store.directory)
        return try await DiskQueue.shared.run { [self] in
            try planner.isComplete(stream, in: inspector, policy: configuration.keyPolicy)
        }
    }
}

extension MediaCache {
    /// How much of each stream in `titles` is stored, according to its stored playlists.
    ///
    /// Titles that are not streams are omitted. Waits for the disk. Throws ``RepriseError`` with code
    /// `storageUnavailable`, or `CancellationError`.
    package func storedStreams(_ titles: [TitlePage.Item]) async throws -> [CacheKey: StoredStream] {
        guard let planner = engine.configuration.streamPlanner, let inspector = await inspector() else { return [:] }
        return try await DiskQueue.playlists.runCancelable { [self] in
            var streams: [CacheKey: StoredStream] = [:]
            for item in titles {
                try Cancellation.check()
                let title = item.title
                let mayBegin = item.information.map { planner.mayBePlaylist($0, at: title.url) } ?? false
                guard title.isStream || mayBegin else { continue }
                streams[title.key] = try planner.storedStream(title, in: inspector, policy: keyPolicy)
            }
            return streams
        }
    }
}
