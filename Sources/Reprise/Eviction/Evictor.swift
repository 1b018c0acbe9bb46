/// Makes room by removing whole entries, least recently used first; never one that is being read or filled.
///
/// An actor so that one search at a time runs, however many fetches need room.
actor Evictor {
    private let catalogue: Catalogue
    private let recorder: Recorder
    private let quota: Quota

    init(catalogue: Catalogue, recorder: Recorder, quota: Quota) {
        self.catalogue = catalogue
        self.recorder = recorder
        self.quota = quota
    }

    /// Entries looked at per query.
    private static let page = 16

    /// Reserves `bytes`, removing entries as needed through `remove`, which refuses those in use.
    ///
    /// False when nothing more can be removed.
    func reserve(_ bytes: Int64, remove: (CacheKey) async -> Bool) async -> Bool {
        if quota.reserve(bytes) { return true }
        guard bytes <= quota.limit else { return false }
        await recorder.flush()
        var kept = 0
        while let keys = try? catalogue.leastRecentlyUsed(limit: Self.page, offset: kept), !keys.isEmpty {
            for key in keys {
                if await !remove(key) { kept += 1 }
                if quota.reserve(bytes) { return true }
            }
        }
        return quota.reserve(bytes)
    }
}
