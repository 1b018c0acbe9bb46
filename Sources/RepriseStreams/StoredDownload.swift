import Primitives
package import Reprise

extension Download {
    /// The downloads that `inspector` sees, named by `policy`, in their order: queued, paused or done.
    ///
    /// A stream is done when everything is stored that its stored playlists name for its selection.
    package static func all(_ inspector: CacheInspector, policy: CacheKeyPolicy) async throws -> [Download] {
        let downloads = try inspector.downloads()
        guard downloads.contains(where: \.isQueued) else { return downloads }
        let files = try StoredFiles(inspector, policy: policy)
        var all: [Download] = []
        for download in downloads { all.append(try await download.whole(in: files) ?? download) }
        return all
    }

    private var isQueued: Bool { if case .queued = state { true } else { false } }

    /// The same as a download that is done, if it is a stream of which everything is stored.
    private func whole(in files: StoredFiles) async throws -> Download? {
        let members = Mutex<[CacheKey: CacheEntry]>([:])
        func document(_ url: ResourceURL) throws -> StreamDocument {
            guard let entry = files.entry(at: url, in: key.partition), let bytes = files.playlistBytes(of: entry) else {
                throw RepriseError(.notStored, "A playlist is not stored.")
            }
            members.withLock { $0[entry.key] = entry }
            return StreamDocument(bytes: bytes, url: entry.information.finalURL ?? url)
        }
        guard isQueued else { return nil }
        do {
            let first = try document(url)
            let named = try await PlaylistPlanner().files(of: first, selection: selection, load: document)
            guard let named else { return nil }
            for file in named {
                guard let entry = files.entry(at: file.url, in: key.partition), entry.isComplete else { return nil }
                members.withLock { $0[entry.key] = entry }
            }
        } catch let error as RepriseError where error.code == .notStored || error.code == .notDownloadable {
            return nil
        }
        let entries = members.withLock { $0.values }
        return Download(whole: self, files: entries.count, storedBytes: entries.reduce(0) { $0 + $1.storedBytes })
    }
}
