package import Reprise

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
