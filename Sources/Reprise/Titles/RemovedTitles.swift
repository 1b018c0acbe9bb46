/// That a file belongs to a title, and when that was known.
struct TitleClaim: Sendable, Equatable {
    let title: TitleReference
    /// How many removals of titles had come before: ``RemovedTitles/count``.
    let asOf: Int
}

/// Which titles were removed, and in which order: what was known of their files before brings none of them back.
///
///     read       begins: the file is one of M's ───────────── its bytes come, and are no file of M
///     removal                                ── M is removed
///     list of M                                                       is read again: what follows is M's
///
/// A value.
struct RemovedTitles: Sendable {
    /// Number of removals so far.
    private(set) var count = 0
    /// The number of the last removal of each title.
    private var last: [CacheKey: Int] = [:]
    /// Claims from before this removal do not stand, whatever title they are about: too many went to remember each.
    private var forgotten = 0
    private let capacity: Int

    init(capacity: Int = 4096) { self.capacity = capacity }

    /// The titles that begin with `keys` are removed.
    mutating func note(_ keys: some Collection<CacheKey>) {
        count += 1
        guard last.count + keys.count <= capacity else { return (last, forgotten) = ([:], count) }
        for key in keys { last[key] = count }
    }

    /// Whether `title` was not removed since the claim that it has a file.
    func stands(_ title: TitleReference, asOf number: Int) -> Bool {
        number >= max(forgotten, last[title.key] ?? 0)
    }

    /// Those of `claims` whose titles were not removed since.
    func standing(_ claims: [TitleClaim]) -> [TitleClaim] { claims.filter { stands($0.title, asOf: $0.asOf) } }
}

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
