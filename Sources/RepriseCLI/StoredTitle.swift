import Reprise
import RepriseStreams

/// A title, and what its stored files say about it.
struct StoredTitle {
    let title: Title
    /// Its first file, if that is stored.
    let entry: CacheEntry?
    /// `nil` if it is no stream, or its playlist is not stored.
    let outline: StreamOutline?

    /// All titles, the most recently used first.
    static func all(_ inspector: CacheInspector, named names: NameOptions) throws(RepriseError) -> [StoredTitle] {
        let files = try StoredFiles(inspector, policy: names.policy)
        let streams = StreamTable(files)
        var entries: [CacheKey: CacheEntry] = [:]
        for entry in files.entries { entries[entry.key] = entry }
        return try inspector.titles().compactMap { title in
            let outline = streams[title.key]
            // Stored before files were recorded as those of a stream.
            let isOfStream = outline == nil && !title.isStream && streams.contains(title.key)
            if isOfStream, title.name == nil, title.tag == nil { return nil }
            return StoredTitle(title: title, entry: entries[title.key], outline: outline)
        }
    }

    /// Number of its files of which something is stored.
    var fileCount: Int { max(title.fileCount, outline?.members.count ?? 0) }

    /// Bytes of media on disk.
    var storedBytes: Int64 { max(title.storedBytes, outline?.storedBytes ?? 0) }

    /// The stored share, from 0 to 1: of a stream, that of the track that is stored best; `nil` if it is not known.
    var share: Double? {
        if outline != nil || title.isStream { return outline?.storedShare }
        guard let entry else { return 0 }
        return entry.information.completeLength.map { $0 == 0 ? 1 : Double(entry.storedBytes) / Double($0) }
    }

    /// Whether it plays to its end without the origin.
    var isComplete: Bool {
        guard let outline else { return entry?.isComplete == true && !title.isStream }
        return !outline.isLive && (outline.storedShare ?? 0) >= 1
    }
}

extension MediaCache {
    /// Records which stored files belong to the streams whose playlists are stored under `keys`.
    ///
    /// The proxy does it while it serves a playlist; before there were titles, it did not.
    func learnFiles(of keys: [CacheKey], in files: StoredFiles) {
        for entry in files.entries where keys.contains(entry.key) {
            guard let outline = StreamOutline(entry, in: files) else { continue }
            note(Array(outline.members.keys), in: TitleReference(key: entry.key, url: entry.url))
        }
    }
}
