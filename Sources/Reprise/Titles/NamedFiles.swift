/// Which files the stored playlists of a title name; nothing is fetched, and nothing counts as used.
struct NamedFiles: Sendable {
    /// The first file of the title.
    let first: TitleReference
    /// How the keys of the other files are derived.
    let keyPolicy: CacheKeyPolicy
    let planner: any StreamPlanner
    let inspector: CacheInspector

    /// The keys of all files that they name, and their own; `nil` if the title is no stream, goes on, or has a
    /// playlist that cannot be read.
    func keys() throws -> Set<CacheKey>? {
        do {
            guard let document = try document(at: first.url, key: first.key) else { return nil }
            let urls = try planner.names(in: document) { try self.document(at: $0, key: key(for: $0)) }
            return urls.map { urls in Set(urls.map { key(for: $0) }).union([first.key]) }
        } catch let error as RepriseError where error.code == .notStored || error.code == .notDownloadable {
            return nil
        }
    }

    private func key(for url: ResourceURL) -> CacheKey {
        keyPolicy.key(for: url).inPartition(first.key.partition)
    }

    /// The text of a playlist; `nil` if nothing of it is stored.
    ///
    /// Throws ``RepriseError`` with code `notStored` if it is not to be relied on.
    private func document(at url: ResourceURL, key: CacheKey) throws -> StreamDocument? {
        let variants = try inspector.entries(of: key)
        guard let entry = variants.first else { return nil }
        guard variants.count == 1, entry.isComplete, entry.information.responseTime != nil,
            entry.storedBytes <= planner.largestPlaylist
        else { throw RepriseError(.notStored, "A playlist of the stream is not stored as a whole.") }
        var bytes: [UInt8] = []
        try inspector.read(entry) { bytes += $0 }
        return StreamDocument(bytes: bytes, url: entry.information.finalURL ?? url)
    }
}

extension Engine {
    /// The keys of the files that the stored playlists of `first` name; `nil` if not all of them are known.
    func namedFiles(of first: TitleReference, keyPolicy: CacheKeyPolicy) async throws -> Set<CacheKey>? {
        guard let store, let files = reader(of: first, keyPolicy: keyPolicy) else { return nil }
        await store.recorder.flush()
        return try await DiskQueue.shared.run { try files.keys() }
    }

    /// Gives up the files of `first` that its stored playlists do not name; none if not all of these are known.
    func giveUpUnnamed(of first: TitleReference, keyPolicy: CacheKeyPolicy) async throws {
        guard let store, let files = reader(of: first, keyPolicy: keyPolicy) else { return }
        try await store.recorder.giveUp(filesOf: first.key) { () throws(RepriseError) in
            do { return try files.keys() } catch {
                throw error as? RepriseError ?? RepriseError(.storageUnavailable, "\(error)")
            }
        }
    }

    private func reader(of first: TitleReference, keyPolicy: CacheKeyPolicy) -> NamedFiles? {
        guard let store, let planner = configuration.streamPlanner else { return nil }
        let inspector = CacheInspector(store.index, directory: store.directory)
        return NamedFiles(first: first, keyPolicy: keyPolicy, planner: planner, inspector: inspector)
    }
}
