public import Foundation

/// A stored entry of the cache.
public struct CacheEntry: Sendable, Identifiable {
    /// The key.
    public let key: CacheKey
    /// The URL that filled the entry first.
    public let url: ResourceURL
    /// The metadata of the representation.
    public let information: ContentInformation
    /// Bytes of media on disk.
    public let storedBytes: Int64
    /// Bytes that the media occupy on disk, in the file system's blocks, as `du` shows.
    public let allocatedBytes: Int64
    /// Last use; up to a minute old while the cache is open elsewhere.
    public let lastUsed: Date
    /// How many times its use was begun; a use within half an hour of the one before counts as the same.
    public let plays: Int
    /// How long it stays.
    public let retention: Retention

    /// The partition that the entry belongs to; `nil` for none.
    public var partition: String? { key.partition }

    init(record: GenerationRecord, usage: Usage, row: EntryRow) {
        key = record.key
        url = record.url
        information = ContentInformation(record)
        storedBytes = usage.stored
        allocatedBytes = usage.allocated
        lastUsed = Date(timeIntervalSince1970: row.lastUsed)
        (plays, retention) = (row.plays, row.retention)
    }

    /// The key: there is one entry for each.
    public var id: CacheKey { key }

    /// Whether every byte is stored.
    public var isComplete: Bool { information.completeLength == storedBytes }
}

/// What a cache occupies on disk, in the file system's blocks, as `du` shows.
public struct AllocatedBytes: Sendable, Hashable {
    /// Bytes that the media occupy; these count towards the limit.
    public let media: Int64
    /// Bytes that the index occupies.
    public let index: Int64

    /// Bytes that media and index occupy together.
    public var total: Int64 { media + index }
}
