/// Makes room: whole entries in the order of an ``EvictionPolicy``, then extents of those in use; never what is leased or kept.
///
/// An actor so that one search at a time runs, however many fetches need room.
actor Evictor {
    private let policy: EvictionPolicy
    private let catalogue: Catalogue
    private let recorder: Recorder
    private let quota: Quota
    private let clock: CacheClock
    private var last: Task<Bool, Never>?

    init(_ policy: EvictionPolicy, catalogue: Catalogue, recorder: Recorder, quota: Quota, clock: CacheClock) {
        self.policy = policy
        self.catalogue = catalogue
        self.recorder = recorder
        self.quota = quota
        self.clock = clock
    }

    /// Entries looked at per query.
    private static let page = 16
    /// Least that an extent eviction gives back at once: its record is a transaction.
    private static let extentBatch: Int64 = 8 << 20

    /// What the evictor asks the engine to do.
    struct Hands: Sendable {
        /// Removes entries that nobody uses; returns those that are in use.
        let remove: @Sendable ([Catalogue.Candidate]) async -> [Catalogue.Candidate]
        /// Gives extents of an entry in use back, about so many bytes.
        let shrink: @Sendable (Catalogue.Candidate, Int64) async -> Void
    }

    /// Reserves `bytes`, evicting through `hands` as needed.
    ///
    /// False when nothing more can be evicted.
    func reserve(_ bytes: Int64, _ hands: Hands) async -> Bool {
        // An actor alone lets another search in at each wait.
        let previous = last
        let task = Task(executorPreference: DiskExecutor.shared) {
            _ = await previous?.value
            return await self.search(bytes, hands)
        }
        last = task
        return await task.value
    }

    private func search(_ bytes: Int64, _ hands: Hands) async -> Bool {
        if quota.reserve(bytes) { return true }
        guard bytes <= quota.limit else { return false }
        await recorder.flush()
        _ = try? await catalogue.releaseExpired(before: clock.now())
        // What eviction cannot cure costs nobody what is stored.
        guard quota.shortage(bytes) <= evictableBytes else { return false }
        var inUse: [Catalogue.Candidate] = []
        while let page = try? catalogue.candidates(by: policy, limit: Self.page, offset: inUse.count), !page.isEmpty {
            // As many at once as seem enough: one transaction.
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

    /// What is not kept: the most that eviction can give back.
    private var evictableBytes: Int64 {
        max(0, quota.usage.allocated - ((try? catalogue.heldUsage())?.allocated ?? 0))
    }

    /// Evicts about `bytes`, whatever the limit says: the disk is full; nothing where `least` cannot be had.
    func makeRoom(_ bytes: Int64, atLeast least: Int64, _ hands: Hands) async {
        await recorder.flush()
        guard evictableBytes >= least else { return }
        let target = quota.usage.allocated - bytes
        var inUse = 0
        while quota.usage.allocated > target,
            let page = try? catalogue.candidates(by: policy, limit: 1, offset: inUse), !page.isEmpty
        {
            inUse += await hands.remove(page).count
        }
    }

    /// Removes what was last used before `date`, or entries in the order of the policy until at most `size` bytes are occupied.
    func prune(before date: Double?, size: Int64?, _ hands: Hands) async {
        await recorder.flush()
        _ = try? await catalogue.releaseExpired(before: clock.now())
        var inUse = 0
        while size.map({ quota.usage.allocated > $0 }) ?? true,
            let page = try? catalogue.candidates(
                by: policy, limit: size == nil ? Self.page * 16 : 1, offset: inUse, before: date), !page.isEmpty
        {
            inUse += await hands.remove(page).count
        }
    }
}
