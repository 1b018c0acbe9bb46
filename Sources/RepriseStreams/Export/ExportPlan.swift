import ByteRanges
import Playlists
import Reprise

/// The files of an export: rewritten playlists, and stored files with the bytes that are needed of each.
struct ExportPlan: Sendable {
    /// A stored file, and its place in the folder.
    struct Media: Sendable {
        let entry: CacheEntry
        let path: String
        /// The bytes that the playlists use.
        fileprivate(set) var needed = ByteRangeSet()
    }

    /// A playlist with its links written.
    struct Text: Sendable {
        let path: String
        let bytes: [UInt8]
    }

    /// The stored files, in the order of the playlists.
    private(set) var media: [Media] = []
    /// The playlists; the outermost is last.
    private(set) var texts: [Text] = []
    private var places: [String: Int] = [:]

    /// Number of bytes of all files.
    var byteCount: Int64 {
        media.reduce(0) { $0 + $1.entry.storedBytes } + texts.reduce(0) { $0 + Int64($1.bytes.count) }
    }

    /// Adds `extent` of a stored file at `path`, where it may be already; false if another file has that path.
    mutating func add(_ extent: ByteExtent, of entry: CacheEntry, at path: String) -> Bool {
        let place = places[path] ?? media.count
        if place == media.count {
            places[path] = place
            media.append(Media(entry: entry, path: path))
        }
        guard media[place].entry.key == entry.key else { return false }
        let length = entry.information.completeLength ?? entry.storedBytes
        switch extent {
        case .whole, .unplaced: if length > 0 { media[place].needed.insert(0..<length) }
        case .from(let start): if start < length { media[place].needed.insert(start..<length) }
        case .range(let range): media[place].needed.insert(range)
        }
        return true
    }

    /// Two files with one path, which the names of an export rule out.
    static let collision = RepriseError(
        .notDownloadable, "The stream names its files in a way that no folder can hold.")

    /// Adds a playlist at `path`.
    mutating func add(_ bytes: [UInt8], at path: String) { texts.append(Text(path: path, bytes: bytes)) }
}

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

/// Why a track cannot be exported.
enum Shortfall: Equatable {
    /// It has no end yet.
    case live
    /// Only a player's system can get its keys.
    case protected
    /// Its own playlist is not stored, or cannot be read.
    case unlisted
    /// The numbers of missing segments, keys and initialization sections.
    case missing(segments: Int, of: Int, keys: Int, maps: Int)
    /// It lists nothing to play.
    case empty

    /// The error if nothing of the stream at `url` can be exported because of these tracks.
    static func error(_ tracks: [(name: String, shortfall: Shortfall)], of url: ResourceURL) -> RepriseError {
        let kinds = tracks.map(\.shortfall)
        if kinds.contains(.live) {
            return RepriseError(.notDownloadable, "The stream is live: it has no end yet. Export it when it has ended.")
        }
        if kinds.contains(.protected), kinds.allSatisfy({ $0 == .protected || $0 == .unlisted }) {
            return RepriseError(
                .notDownloadable, "The stream is protected (DRM): only the player's system can get its keys.")
        }
        let shown = tracks.prefix(3).map { "\($0.name): \($0.shortfall.words)" }
        let rest = tracks.count > shown.count ? "; and so on for \(tracks.count - shown.count) more" : ""
        let list = shown.isEmpty ? "" : " (\(shown.joined(separator: "; "))\(rest))"
        return RepriseError(
            .notStored, "No track of \(url.redacted) is stored as a whole\(list). Download the stream first.")
    }

    private var words: String {
        switch self {
        case .live: "it has no end yet"
        case .protected: "it is protected (DRM)"
        case .unlisted: "its playlist is not stored"
        case .empty: "it lists no segments"
        case .missing(let segments, let count, let keys, let maps):
            [
                segments > 0 ? "\(segments) of \(count) segments" : nil,
                keys > 0 ? "\(keys) \(keys == 1 ? "key" : "keys")" : nil,
                maps > 0 ? "\(maps) \(maps == 1 ? "initialization section" : "initialization sections")" : nil,
            ].compactMap { $0 }.joined(separator: " and ") + " missing"
        }
    }
}
