/// Makes room by evicting whole entries in the order of an ``EvictionPolicy``, then extents of entries in use; never
/// leased or retained bytes.
///
/// An actor, so that only one search runs at a time, however many fetches need room.
actor Evictor {
    private let policy: EvictionPolicy
    private let index: Index
    private let recorder: Recorder
    private let quota: Quota
    private let clock: CacheClock
    private var last: Task<Bool, Never>?

    init(_ policy: EvictionPolicy, index: Index, recorder: Recorder, quota: Quota, clock: CacheClock) {
        self.policy = policy
        self.index = index
        self.recorder = recorder
        self.quota = quota
        self.clock = clock
    }

    /// Number of entries examined per query.
    private static let page = 16
    /// Minimum number of bytes freed at once from an entry in use, because each time costs a transaction.
    private static let extentBatch: Int64 = 8 << 20

    /// What the evictor asks of the engine.
    struct EvictionTarget: Sendable {
        /// Removes unused entries; returns those that are in use.
        let remove: @Sendable ([Index.Candidate]) async -> [Index.Candidate]
        /// Frees about this many bytes from an entry in use.
        let shrink: @Sendable (Index.Candidate, Int64) async -> Void
    }

    /// Reserves `bytes`, evicting as needed.
    ///
    /// False when nothing more can be evicted.
    func reserve(_ bytes: Int64, _ hands: EvictionTarget) async -> Bool {
        // An actor is reentrant: without this, another search could start at each await.
        let previous = last
        let task = Task(executorPreference: DiskExecutor.shared) {
            _ = await previous?.value
            return await self.search(bytes, hands)
        }
        last = task
        return await task.value
    }

    private func search(_ bytes: Int64, _ hands: EvictionTarget) async -> Bool {
        if quota.reserve(bytes) { return true }
        guard bytes <= quota.limit else { return false }
        await recorder.flush()
        _ = try? await index.releaseExpired(before: clock.now())
        // If eviction cannot free enough, evict nothing.
        guard quota.shortage(bytes) <= evictableBytes else { return false }
        var inUse: [Index.Candidate] = []
        while let page = try? index.candidates(by: policy, limit: Self.page, offset: inUse.count), !page.isEmpty {
            // A group large enough to free the shortage is removed in one transaction.
            var rest = page[...]
            while let first = rest.first {
                var group = [first]
                var freed = first.allocated
                rest = rest.dropFirst()
                while freed < quota.shortage(bytes), let next = rest.popFirst() {
                    group.append(next)
                    freed += next.allocated
                }
                inUse += await hands.remove(group)
                if quota.reserve(bytes) { return true }
            }
        }
        let batch = max(bytes, min(Self.extentBatch, quota.limit / 16))
        for candidate in inUse {
            await hands.shrink(candidate, batch)
            if quota.reserve(bytes) { return true }
        }
        return quota.reserve(bytes)
    }

    /// Bytes that are neither pinned nor downloads: the most that eviction can free.
    private var evictableBytes: Int64 {
        max(0, quota.usage.allocated - ((try? index.retainedUsage())?.allocated ?? 0))
    }

    /// Evicts about `bytes` regardless of the limit, because the disk is full; evicts nothing if `least` cannot be
    /// freed.
    func makeRoom(_ bytes: Int64, atLeast least: Int64, _ hands: EvictionTarget) async {
        await recorder.flush()
        guard evictableBytes >= least else { return }
        let target = quota.usage.allocated - bytes
        var inUse = 0
        while quota.usage.allocated > target,
            let page = try? index.candidates(by: policy, limit: 1, offset: inUse), !page.isEmpty
        {
            inUse += await hands.remove(page).count
        }
    }

    /// Removes entries last used before `date`, or entries in the order of the policy until at most `size` bytes are
    /// occupied.
    func prune(before date: Double?, size: Int64?, _ hands: EvictionTarget) async {
        await recorder.flush()
        _ = try? await index.releaseExpired(before: clock.now())
        var inUse = 0
        while size.map({ quota.usage.allocated > $0 }) ?? true,
            let page = try? index.candidates(
                by: policy, limit: size == nil ? Self.page * 16 : 1, offset: inUse, before: date), !page.isEmpty
        {
            inUse += await hands.remove(page).count
        }
    }
}
