public import Foundation

/// What a person names: one file, or one stream with its playlists, segments and keys.
///
/// Files become part of a stream's title while it is played through the proxy, because its playlists name them, and
/// stay part of it across restarts. A file may belong to several titles.
public struct Title: Sendable, Identifiable {
    /// The key of its first file: the file itself, or the outermost playlist.
    public let key: CacheKey
    /// The URL of its first file.
    public let url: ResourceURL
    /// Its name, if it was given one.
    public let name: String?
    /// Its tag, if it was given one: an album, a user, a host, whatever titles are grouped by.
    public let tag: String?
    /// Whether it is a stream of several files.
    public let isStream: Bool
    /// Number of its files of which something is stored.
    public let fileCount: Int
    /// Bytes of media on disk, of all its files.
    public let storedBytes: Int64
    /// Bytes that its files occupy on disk, in the file system's blocks.
    public let allocatedBytes: Int64
    /// Bytes on disk that removing it frees: of files that belong to no other title.
    public let ownBytes: Int64
    /// Last use of one of its files, up to a minute old while the cache is open elsewhere; `nil` if nothing is stored.
    public let lastUsed: Date?
    /// How many times it was begun; a use within half an hour of the one before belongs to the same play.
    public let plays: Int
    /// How long its files stay.
    public let retention: Retention

    /// The key: there is one title for each.
    public var id: CacheKey { key }

    init(_ fields: RecordCodec.TitleFields, url: ResourceURL, row: TitleSummaryRow) {
        key = CacheKey(fields.key)
        self.url = url
        (name, tag, isStream) = (fields.name, fields.tag, fields.isStream)
        fileCount = row.sums.fileCount
        (storedBytes, allocatedBytes, ownBytes) = (row.sums.usage.stored, row.sums.usage.allocated, row.sums.own)
        lastUsed = row.sums.lastUsed.map { Date(timeIntervalSince1970: $0) }
        (plays, retention) = (row.plays, row.retention)
    }

    /// A file that belongs to no stream and has no name.
    init(_ entry: CacheEntry) {
        (key, url) = (entry.key, entry.url)
        (name, tag, isStream) = (nil, nil, false)
        fileCount = 1
        (storedBytes, allocatedBytes, ownBytes) = (entry.storedBytes, entry.allocatedBytes, entry.allocatedBytes)
        (lastUsed, plays, retention) = (entry.lastUsed, entry.plays, entry.retention)
    }
}

/// What the titles with one tag occupy together, and how much that may be.
///
/// Files that several of them share count once.
public struct TitleTag: Sendable, Identifiable, Equatable {
    /// The tag.
    public let name: String
    /// Most bytes on disk that its titles may occupy; `nil` for no limit of their own.
    public let limit: Int64?
    /// Number of titles with the tag.
    public let titleCount: Int
    /// Bytes of media on disk.
    public let storedBytes: Int64
    /// Bytes on disk, in the file system's blocks; the limit is compared with these.
    public let allocatedBytes: Int64
    /// Those of them that are pinned, downloads or kept beginnings, and are never evicted.
    public let keptBytes: Int64

    /// The tag: there is one value for each.
    public var id: String { name }
}

/// Names of titles that have none, from their URLs.
package enum TitleName {
    /// The last segment of the path of `url`, which may be any text, or the host if there is no path.
    ///
    /// File names that many streams share, such as `master.m3u8`, are replaced by up to three folders, such as
    /// `show/season-1/e03`. Percent-encoding is kept.
    package static func path(of url: String) -> String {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        var segments = url[start...].prefix { !"?#\n".contains($0) }.split(separator: "/")
        guard segments.count > 1, let last = segments.last else { return String(segments.last ?? url[start...]) }
        segments.removeFirst()
        guard isCommon(last) else { return String(last) }
        let folders = segments.lastIndex { !isCommon($0) }.map { segments[...$0] } ?? segments[...]
        return folders.suffix(3).joined(separator: "/")
    }

    private static func isCommon(_ segment: Substring) -> Bool {
        common.contains(segment.prefix { $0 != "." }.lowercased())
    }

    /// Usual names of playlists and their folders.
    private static let common: Set<String> = [
        "chunklist", "dash", "hls", "index", "live", "main", "manifest", "master", "media", "playlist", "prog_index",
        "stream", "vod",
    ]
}

/// Names a title by its first file: the file itself, or the outermost playlist of a stream.
package struct TitleReference: Sendable, Hashable {
    /// The key of the first file.
    package let key: CacheKey
    /// The URL of the first file.
    package let url: ResourceURL

    /// Names the title whose first file is at `url` and stored under `key`.
    package init(key: CacheKey, url: ResourceURL) { (self.key, self.url) = (key, url) }
}
