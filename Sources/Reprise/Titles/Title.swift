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
