public import Reprise

/// A title, and what its stored files say about it.
package struct StoredTitle: Sendable {
    /// The title as the index has it.
    package let title: Title
    /// Its first file, if that is stored.
    package let entry: CacheEntry?
    /// `nil` if it is no stream, or its playlist is not stored.
    package let outline: StreamOutline?

    private static func allTogether(
        _ inspector: CacheInspector, policy: CacheKeyPolicy
    ) throws(RepriseError) -> [StoredTitle] {
        let files = try StoredFiles(inspector, policy: policy)
        let streams = StreamTable(files)
        var entries: [CacheKey: CacheEntry] = [:]
        for entry in files.entries { entries[entry.key] = entry }
        return try inspector.titles().compactMap { title in
            let stored = StoredTitle(title: title, entry: entries[title.key], outline: streams[title.key])
            return streams.contains(title.key) && stored.isNoTitleOfItsOwn ? nil : stored
        }
    }

    /// Whether it is no title if it is a file of a stream: it was stored before files were recorded as those of one.
    private var isNoTitleOfItsOwn: Bool {
        outline == nil && !title.isStream && title.name == nil && title.tag == nil
    }

    /// The titles that play to their end without the origin, or those that do not, the most recently used first.
    static func titles(complete: Bool, _ inspector: CacheInspector, policy: CacheKeyPolicy) throws -> [Title] {
        try compactMap(inspector, policy: policy) { $0.isComplete == complete ? $0.title : nil }
    }

    /// What `transform` makes of the titles that `inspector` sees, named by `policy`, the most recently used first.
    ///
    /// Has the files of one title in memory at a time.
    package static func compactMap<T>(
        _ inspector: CacheInspector, policy: CacheKeyPolicy, _ transform: (StoredTitle) throws -> T?
    ) throws -> [T] {
        let untitled = StoredFiles(
            inspector, policy: policy, loaded: try inspector.untitledEntries(), looksUp: false)
        let outlines = untitled.entries.lazy.compactMap { StreamOutline($0, in: untitled) }
        if outlines.contains(where: { $0.obstacle == nil }) {
            // Stored before files were recorded as those of a stream: only all files together tell which ones are.
            return try allTogether(inspector, policy: policy).compactMap(transform)
        }
        let loose = Set(untitled.entries.map(\.key))
        var members: Set<CacheKey> = []
        var titles: [(value: T, loosePart: CacheKey?)] = []
        for title in try inspector.titles() {
            let stored = try StoredTitle(title, inspector, policy: policy)
            if let outline = stored.outline { members.formUnion(loose.intersection(outline.members.keys)) }
            guard let value = try transform(stored) else { continue }
            titles.append((value, stored.isNoTitleOfItsOwn ? title.key : nil))
        }
        return titles.filter { title in title.loosePart.map { !members.contains($0) } ?? true }.map(\.value)
    }

    /// A title with its files alone.
    package init(_ title: Title, _ inspector: CacheInspector, policy: CacheKeyPolicy) throws(RepriseError) {
        let files = try StoredFiles(inspector, policy: policy, title: title.key)
        let entry = try inspector.entries(of: title.key).first { $0.key == title.key }
        self.init(title: title, entry: entry, outline: entry.flatMap { StreamOutline($0, in: files) })
    }

    private init(title: Title, entry: CacheEntry?, outline: StreamOutline?) {
        (self.title, self.entry, self.outline) = (title, entry, outline)
    }

    /// Number of its files of which something is stored.
    package var fileCount: Int { max(title.fileCount, outline?.members.count ?? 0) }

    /// Bytes of media on disk.
    package var storedBytes: Int64 { max(title.storedBytes, outline?.storedBytes ?? 0) }

    /// The stored share, from 0 to 1: of a stream, ``StreamOutline/storedShare``; `nil` if it is not known.
    package var share: Double? {
        if outline != nil || title.isStream { return outline?.storedShare }
        guard let entry else { return 0 }
        return entry.information.completeLength.map { $0 == 0 ? 1 : Double(entry.storedBytes) / Double($0) }
    }

    /// Whether it plays to its end without the origin.
    package var isComplete: Bool {
        outline?.isComplete ?? (entry?.isComplete == true && !title.isStream)
    }
}

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
