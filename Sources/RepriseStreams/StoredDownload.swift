import Primitives
package import Reprise

extension Download {
    /// The downloads that `inspector` sees, named by `policy`, in their order: queued, paused or done.
    ///
    /// A stream is done when everything is stored that its stored playlists name for its selection; with `key`, only
    /// that download is looked at.
    package static func all(
        _ inspector: CacheInspector, policy: CacheKeyPolicy, of key: CacheKey? = nil
    ) async throws -> [Download] {
        let downloads = try inspector.downloads(of: key)
        guard downloads.contains(where: { !$0.isDone }) else { return downloads }
        let files =
            if let key {
                try StoredFiles(inspector, policy: policy, title: key)
            } else {
                try StoredFiles(inspector, policy: policy)
            }
        var all: [Download] = []
        for download in downloads { all.append(try await download.counted(in: files) ?? download) }
        return all
    }

    /// The same with how many of its files are stored, if it is a stream whose playlists are stored.
    private func counted(in files: StoredFiles) async throws -> Download? {
        let files = files.named(by: keyRule)
        let members = Mutex<[CacheKey: CacheEntry]>([:])
        func document(_ url: ResourceURL) throws -> StreamDocument {
            guard let entry = files.entry(at: url, in: key.partition), let bytes = files.playlistBytes(of: entry) else {
                throw RepriseError(.notStored, "A playlist is not stored.")
            }
            members.withLock { $0[entry.key] = entry }
            return StreamDocument(bytes: bytes, url: entry.information.finalURL ?? url)
        }
        guard !isDone else { return nil }
        var (missing, storedBytes) = (0, Int64(0))
        do {
            let first = try document(url)
            let named = try await PlaylistPlanner().files(of: first, selection: selection, load: document)
            guard let named else { return nil }
            let stored = files.entries(at: named.map(\.url), in: key.partition)
            for file in named {
                guard let entry = stored[file.url],
                    file.content.objection(to: entry.information, at: file.url) == nil
                else {
                    missing += 1
                    continue
                }
                guard try files.isComplete(entry, as: file) else {
                    missing += 1
                    storedBytes += entry.storedBytes
                    continue
                }
                members.withLock { $0[entry.key] = entry }
            }
        } catch let error as RepriseError where error.code == .notStored || error.code == .notDownloadable {
            return nil
        }
        let entries = members.withLock { $0.values }
        return Download(
            self, storedFiles: entries.count, missingFiles: missing,
            storedBytes: entries.reduce(storedBytes) { $0 + $1.storedBytes })
    }
}
