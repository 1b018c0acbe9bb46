public import ByteRanges

/// Looks at a cache directory without opening the cache: also while another process, such as a running proxy, has it.
///
/// What it sees is at most a second old. Every call waits for the disk.
public struct CacheInspector: Sendable {
    private let catalogue: Catalogue?

    /// Opens the index of the cache in `directory`; a directory without one counts as an empty cache.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable` when the index is damaged or newer than this version.
    public init(directory: String) throws(RepriseError) {
        catalogue = try Catalogue(readOnly: directory)
    }

    /// What is stored, the most recently used first.
    public func entries() throws(RepriseError) -> [CacheEntry] { try catalogue?.entries() ?? [] }

    /// The recorded ranges of `entry`.
    public func storedRanges(of entry: CacheEntry) throws(RepriseError) -> ByteRangeSet {
        guard let stored = try catalogue?.generation(for: entry.key) else { return ByteRangeSet() }
        return ChunkLedger(blocks: stored.chunks).ranges
    }

    /// Counts over the whole life of the directory.
    public func statistics() throws(RepriseError) -> CacheStatistics {
        CacheStatistics(totals: try catalogue?.totals() ?? [:])
    }
}
