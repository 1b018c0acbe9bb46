import ByteRanges
import Playlists
import Reprise

/// Looks up whether the bytes that playlists name are stored.
struct StoredExtents {
    let files: StoredFiles
    private var ranges: [CacheKey: ByteRangeSet] = [:]

    init(_ files: StoredFiles) { self.files = files }

    /// The file at `target`, if all of `extent` is stored of it.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable`.
    mutating func entry(holding extent: ByteExtent, at target: LinkTarget) throws(RepriseError) -> CacheEntry? {
        guard case .fetchable(let uri) = target, let url = try? ResourceURL(uri.withoutFragment.text),
            let entry = files.entry(at: url)
        else { return nil }
        return try holds(extent, of: entry) ? entry : nil
    }

    private mutating func holds(_ extent: ByteExtent, of entry: CacheEntry) throws(RepriseError) -> Bool {
        guard let length = entry.information.completeLength else { return false }
        switch extent {
        case .whole, .unplaced: return entry.isComplete
        case .from(let start): return try stored(of: entry).contains(min(start, length)..<length)
        case .range(let range): return try stored(of: entry).contains(range)
        }
    }

    private mutating func stored(of entry: CacheEntry) throws(RepriseError) -> ByteRangeSet {
        if let known = ranges[entry.key] { return known }
        let stored = try files.storedRanges(of: entry)
        ranges[entry.key] = stored
        return stored
    }
}
