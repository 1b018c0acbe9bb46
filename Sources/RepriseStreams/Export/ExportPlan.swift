import ByteRanges
import Playlists
import Reprise

/// The files of an export: the playlists as they will be, and stored files with what is needed of each.
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

    /// Adds `extent` of a stored file at `path`, where it may be already; false if another file has the place.
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

    /// Files that would need the same place, which the names of an export rule out.
    static let collision = RepriseError(
        .notDownloadable, "The stream names its files in a way that no folder can hold.")

    /// Adds a playlist at `path`.
    mutating func add(_ bytes: [UInt8], at path: String) { texts.append(Text(path: path, bytes: bytes)) }
}
