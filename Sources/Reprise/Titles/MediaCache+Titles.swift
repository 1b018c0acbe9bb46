import Foundation
import Primitives

extension MediaCache {
    /// The titles of which something is stored or that were named, the most recently used first.
    ///
    /// Waits for the disk and for other reads of the whole index. Throws ``RepriseError`` with code
    /// `storageUnavailable`, or `CancellationError`.
    public func titles() async throws -> [Title] {
        guard let store = engine.store else { return [] }
        await store.recorder.flush()
        return try await store.index.scan { try $0.titles.all() }
    }

    /// The titles of one partition; see ``titles()``.
    public func titles(partition: String) async throws -> [Title] {
        try await titles().filter { $0.key.partition == partition }
    }

    /// Reads what this cache has stored; `nil` without a store.
    package func inspector() async -> CacheInspector? {
        guard let store = engine.store else { return nil }
        await store.recorder.flush()
        return CacheInspector(store.index, directory: store.directory)
    }

    /// How the keys of entries are derived from URLs.
    package var keyPolicy: CacheKeyPolicy { engine.configuration.keyPolicy }

    /// Gives the title that begins with `resource` a name and a tag, which stay until the title is removed; `nil`
    /// removes them.
    ///
    /// Nothing of it need be stored. Both are sealed in an encrypted cache. Throws ``RepriseError``:
    /// `invalidArgument` for a text that is empty, has line breaks or other control characters, or is longer than 1,024
    /// bytes; `storageFull` when the limit of the tag is less than what is kept of it then; `storageUnavailable` when
    /// nothing can be recorded.
    public func nameTitle(of resource: MediaResource, name: String?, tag: String? = nil) async throws {
        for text in [name, tag].compactMap({ $0 }) { try Self.check(text) }
        let store = try writableStore()
        await store.evictor.prepare()
        try await store.recorder.change(TitleReference(key: resource.key, url: resource.url)) { title in
            (title.name, title.tag) = (name, tag)
        }
        downloads.setName(name, of: resource.key)
        if let tag { await settleTags([store.index.titles.name(ofTag: tag)]) }
    }

    /// Names the title that begins with `resource`, and keeps its tag.
    func setName(_ name: String, ofTitle resource: MediaResource) async throws {
        try Self.check(name)
        try await writableStore().recorder.change(TitleReference(key: resource.key, url: resource.url)) { title in
            title.name = name
        }
        downloads.setName(name, of: resource.key)
    }

    /// Throws `invalidArgument` for what can be neither a name nor a tag.
    static func check(_ text: String) throws(RepriseError) {
        guard !text.isEmpty, text.utf8.count <= 1024, !text.unicodeScalars.contains(where: \.isControl) else {
            throw RepriseError(
                .invalidArgument, "A name or a tag has 1 to 1,024 bytes, and no line breaks or control characters.")
        }
    }

    /// Removes the title that begins with `key`, its name, its retention, and those of its files that belong to no
    /// other title and are not pinned by themselves, even while they are being read.
    ///
    /// Returns the bytes of media freed. Throws ``RepriseError`` with code `storageUnavailable`, also when a file could
    /// not be removed from the disk.
    @discardableResult
    public func removeTitle(_ key: CacheKey) async throws -> Int64 {
        let outcome = try await removedTitles([key])
        if let problem = outcome.problem { throw problem }
        return outcome.freed
    }

    /// Removes the titles tagged `tag`, as ``removeTitle(_:)`` does, including pinned ones and downloads.
    ///
    /// Returns the bytes of media freed; 0 if no title has the tag. Throws as ``removeTitle(_:)``.
    @discardableResult
    public func remove(tag: String) async throws -> Int64 {
        let outcome = try await removedTitles(try await titles().filter { $0.tag == tag }.map(\.key))
        if let problem = outcome.problem { throw problem }
        return outcome.freed
    }

    /// As ``removeTitle(_:)`` for several, with the number of entries that are gone, and the error that reports files
    /// which could not be removed.
    ///
    /// `named` is what stored playlists name; `nil` for what the cache itself finds in those that matter.
    package func removedTitles(
        _ keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>]? = nil
    ) async throws -> (freed: Int64, entries: Int, problem: RepriseError?) {
        try await engine.removedTitles(keys, knowing: named, endingIn: downloads)
    }

    /// What ``removedTitles(_:knowing:)`` would free, without its ``RemovalForecast/urls``; nothing is recorded.
    ///
    /// Throws ``RepriseError`` as that does.
    package func forecast(
        ofRemovingTitles keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>] = [:]
    ) async throws -> RemovalForecast {
        try await engine.store?.recorder.forecast(ofRemoving: keys, knowing: named) ?? RemovalForecast()
    }

    /// Removes the files of titles tagged `tag`, the least recently used title first.
    ///
    /// Goes on until those titles occupy at most `size` bytes and none is left that was not used for `age`, or the task
    /// is canceled. Pinned titles, downloads and kept beginnings stay, files that are pinned by themselves, names and
    /// tags. Returns the bytes freed on disk, and the error that reports files which could not be removed.
    package func prunedTitles(
        tagged tag: String, toSize size: Int64?, olderThan age: Duration?
    ) async throws -> (freed: Int64, problem: RepriseError?) {
        guard let store = engine.store else { return (0, nil) }
        var (total, problem) = (Int64(0), RepriseError?.none)
        try await eachPrunable(tagged: tag, toSize: size, olderThan: age) { title in
            try await engine.claims.take()
            defer { engine.claims.leave() }
            try await engine.learnFiles(aroundTitles: [title.key])
            let prunable = try await prunableFiles(of: title, in: store)
            let removal = try await engine.removed(prunable.whole, endingIn: downloads)
            total += removal.freed.allocated
            problem = removal.problem
            guard problem == nil else { return nil }
            let trimmed = try await trim(prunable.tails, in: store)
            total += trimmed
            return removal.freed.allocated + trimmed
        }
        return (total, problem)
    }

    /// Leaves of entries what is kept of them; returns the bytes freed on disk.
    private func trim(_ tails: [EntryStore.Candidate], in store: Store) async throws -> Int64 {
        guard !tails.isEmpty else { return 0 }
        let keys = tails.compactMap(\.key)
        func allocated() async throws -> Int64 {
            try await store.index.look { try $0.entries.allocated(of: keys) }
        }
        let before = try await allocated()
        _ = await engine.hands(store, because: .prune).remove(tails)
        await store.recorder.flush()
        return max(0, before - (try await allocated()))
    }

    /// What ``prunedTitles(tagged:toSize:olderThan:)`` would free, with a URL for each title.
    ///
    /// Throws ``RepriseError`` as that does.
    package func forecast(
        ofPruningTitlesTagged tag: String, toSize size: Int64?, olderThan age: Duration?
    ) async throws -> RemovalForecast {
        var forecast = RemovalForecast()
        guard engine.store != nil else { return forecast }
        let store = try writableStore()
        try await eachPrunable(tagged: tag, toSize: size, olderThan: age) { title in
            let (files, tails) = try await prunableFiles(of: title, in: store)
            guard !files.isEmpty || !tails.isEmpty else { return 0 }
            forecast.urls.append(title.url)
            if !tails.isEmpty { forecast.trimmed.insert(title.url) }
            forecast.entries += files.count
            let freed = try await DiskQueue.shared.run {
                try store.index.entries.allocated(of: files) + tails.reduce(0) { $0 + $1.allocated }
            }
            forecast.freedBytes += freed
            return freed
        }
        return forecast
    }

    /// Calls `prune` for each title that pruning is about, the least recently used one first, until the task is
    /// canceled or it returns `nil` instead of the bytes that it freed.
    private func eachPrunable(
        tagged tag: String, toSize size: Int64?, olderThan age: Duration?, prune: (Title) async throws -> Int64?
    ) async throws {
        let oldest = age.map { clock.wallClock().addingTimeInterval(-($0 / .seconds(1))) }
        var titles = try await titles().filter { $0.tag == tag && $0.fileCount > 0 }
        var occupied = titles.reduce(0) { $0 + $1.allocatedBytes }
        while let title = titles.popLast(), !Task.isCancelled {
            let isOld = oldest.map { title.lastUsed ?? .distantPast < $0 } ?? false
            guard isOld || occupied > size ?? .max else { break }
            switch title.retention {
            case .cached, .first: break
            case .pinned, .download: continue
            }
            guard let freed = try await prune(title) else { break }
            occupied -= freed
        }
    }

    /// Removes the files of the title of `key` that are not among `former`, except those that are being read,
    /// those that another title needs and those that are kept by themselves.
    ///
    /// Throws ``RepriseError`` as ``remove(_:)-(CacheKey)`` does.
    package func removeFiles(ofTitle key: CacheKey, besides former: Set<CacheKey>) async throws {
        guard let store = engine.store else { return }
        try await engine.claims.take()
        defer { engine.claims.leave() }
        try await engine.learnFiles(aroundTitles: [key])
        // What is on its way to the disk goes, too; of what the index knows, it decides.
        let live = engine.liveFiles(of: [key], in: store)
        let files = try await DiskQueue.shared.run { [self] in
            let unrecorded = Set(live).subtracting(try store.index.entries.recorded(live))
            return try unrecorded.union(store.index.titles.ownFiles(of: key)).subtracting(former).filter { file in
                try !engine.isBeingRead(file) && store.index.retentions.retention(of: file) == .cached
            }
        }
        let outcome = try await engine.removed(Array(files), endingIn: downloads, areUnneeded: true)
        if let problem = outcome.problem { throw problem }
    }

    /// The files that belong to no other title, that no playlist of one names, and that nothing retains; and those of
    /// them of which only parts are kept.
    private func prunableFiles(
        of title: Title, in store: Store
    ) async throws -> (whole: [CacheKey], tails: [EntryStore.Candidate]) {
        let named = try await engine.namedFiles(aroundTitles: [title.key]).filter { $0.key.key != title.key }
        let others = named.values.reduce(into: Set()) { $0.formUnion($1) }
        return try await DiskQueue.shared.run {
            let files = try store.index.titles.ownFiles(of: title.key).filter { !others.contains($0) }
            let held = try store.index.retentions.held(files.map { store.index.name(of: $0) })
            let tails = try store.index.entries.candidates(ofTitle: title.key).filter { candidate in
                candidate.kept != nil && candidate.key.map { !others.contains($0) } ?? false
            }
            return (files.filter { !held.contains(store.index.name(of: $0)) }, tails)
        }
    }

    /// Records that the files under `keys` belong to `title`, as far as they are stored.
    ///
    /// Not if the title was removed since it was known, which `asOf` says (``MediaRead/removedTitleCount``): now if it
    /// is `nil`.
    package func note(_ keys: [CacheKey], in title: TitleReference, asOf: Int? = nil) {
        engine.store?.recorder.note(keys, in: title, asOf: asOf)
    }

    /// The store, if something can be recorded there.
    func writableStore() throws(RepriseError) -> Store {
        guard let store = engine.store, store.problem == nil else {
            throw storeProblem
                ?? RepriseError(.storageUnavailable, "Nothing can be stored: the cache has no directory.")
        }
        return store
    }
}

extension Unicode.Scalar {
    /// Whether it moves the cursor, ends a line or hides what follows, instead of being shown.
    fileprivate var isControl: Bool {
        [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
    }
}
