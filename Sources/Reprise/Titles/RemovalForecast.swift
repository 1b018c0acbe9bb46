/// What a removal would free, told without removing anything.
package struct RemovalForecast: Sendable, Equatable {
    /// Where the files or titles are, in the order in which they would go; without those whose record cannot be read.
    package var urls: [ResourceURL] = []
    /// Those of them of which a part stays, because it is kept.
    package var trimmed: Set<ResourceURL> = []
    /// Files of the titles that would go with them.
    package var files: Set<CacheKey> = []
    /// Number of entries.
    package var entries = 0
    /// Bytes: of media for a removal, on disk for pruning.
    package var freedBytes: Int64 = 0
}
