import Primitives

/// Makes room by evicting whole entries in the order of an ``EvictionPolicy``, then extents of entries in use; never
/// leased or retained bytes.
///
/// Only one search runs at a time, however many fetches need room.
actor Evictor {
    private let policy: EvictionPolicy
    private let index: Index
    private let recorder: Recorder
    private let quota: Quota
    private let clock: CacheClock
    /// The searches: an actor is reentrant, so that another one could start at each await.
    private let searches = SerialQueue()
    /// When the playlists of titles were read last.
    private var learned: [CacheKey: Duration] = [:]

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

    /// How long it counts what the playlists of a title name: to read them takes longer than to evict a file.
    private static let learnedTime = Duration.seconds(600)
    /// Number of titles of which that is remembered.
    private static let mostLearned = 1024

    /// What the evictor asks of the engine.
    struct EvictionTarget: Sendable {
        /// Records which files of a title others need, as their playlists say.
        let learn: @Sendable (CacheKey) async -> Void
        /// Removes unused entries.
        let remove: @Sendable ([EntryStore.Candidate]) async -> Outcome
        /// Frees about this many bytes from an entry in use.
        let shrink: @Sendable (EntryStore.Candidate, Int64) async -> Void
    }

    /// What became of entries that were to be removed.
    struct Outcome: Sendable {
        /// Those that are in use, and stay.
        var inUse: [EntryStore.Candidate] = []
        /// Files that could not be removed.
        var left: [LeftFile] = []

        /// Whether removing entries frees nothing, so that further ones would be lost in vain.
        var isVain: Bool { left.contains { $0.allocated > 0 } }
    }

    /// Reserves `bytes`, evicting as needed.
    ///
    /// False when nothing more can be evicted.
    func reserve(_ bytes: Int64, by hands: EvictionTarget) async -> Bool {
        await searches.add { await self.search(bytes, by: hands) }.value
    }

    /// Lets the index know what was used last, and releases the pins that have expired.
    private func freshen() async {
        await recorder.flush()
        _ = try? await index.retentions.releaseExpired(before: clock.now())
    }

    /// Entries that may be evicted, in the order of the policy, playlists after the media of their titles.
    ///
    /// None of them is named by the stored playlists of a kept title.
    private func candidates(
        limit: Int, offset: Int, before date: Double? = nil, onlyLive: Bool = false, by hands: EvictionTarget
    ) async throws(RepriseError) -> [EntryStore.Candidate] {
        // However many titles there are, each is read once for one page.
        var read: Set<CacheKey> = []
        while true {
            let page = try await index.look { [policy] in
                try $0.entries.candidates(by: policy, limit: limit, offset: offset, before: date, onlyLive: onlyLive)
            }
            let titles = await unlearned(among: page).subtracting(read)
            guard titles.isEmpty else {
                read.formUnion(titles)
                for title in titles { await learn(title, by: hands) }
                continue
            }
            // Where that cannot be recorded, as on a full disk, they go in their turn.
            let postponed = try? await index.entries.postponePlaylists(among: page)
            if postponed?.isEmpty ?? true { return page }
        }
    }

    /// The titles of the candidates whose playlists were not read a short time ago.
    private func unlearned(among candidates: [EntryStore.Candidate]) async -> Set<CacheKey> {
        let keys = Set(candidates.compactMap(\.key))
        // Without the index nothing can be evicted anyway.
        guard let titles = try? await index.look({ try $0.titles.keys(withFiles: keys) }) else { return [] }
        let now = clock.elapsed()
        return Set(titles.filter { title in learned[title].map { now - $0 > Self.learnedTime } ?? true })
    }

    private func learn(_ title: CacheKey, by hands: EvictionTarget) async {
        if learned.count >= Self.mostLearned { learned = [:] }
        learned[title] = clock.elapsed()
        await hands.learn(title)
    }

    private func search(_ bytes: Int64, by hands: EvictionTarget) async -> Bool {
        if quota.reserve(bytes) { return true }
        guard bytes <= quota.limit else { return false }
        await freshen()
        // If eviction cannot free enough, evict nothing. The index shrinks with the entries that are evicted.
        guard await quota.shortage(bytes, countsIndex: false) <= evictableBytes else { return false }
        // Evict live entries first, even those in use, so that an endless stream doesn't displace a film.
        for onlyLive in [true, false] {
            switch await evict(bytes, onlyLive: onlyLive, by: hands) {
            case .reserved: return true
            case .vain: return false
            case .short: break
            }
        }
        return quota.reserve(bytes)
    }

    /// The outcome of evicting for a reservation.
    private enum Eviction {
        /// The bytes are reserved.
        case reserved
        /// All evictable bytes were evicted, and there still is not enough room.
        case short
        /// Removing files failed.
        case vain
    }

    private func evict(_ bytes: Int64, onlyLive: Bool, by hands: EvictionTarget) async -> Eviction {
        var inUse: [EntryStore.Candidate] = []
        while let page = try? await candidates(
            limit: Self.page, offset: inUse.count, onlyLive: onlyLive, by: hands), !page.isEmpty
        {
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
                let outcome = await hands.remove(group)
                if quota.reserve(bytes) { return .reserved }
                if outcome.isVain { return .vain }
                inUse += outcome.inUse
            }
        }
        let batch = max(bytes, min(Self.extentBatch, quota.limit / 16))
        for candidate in inUse {
            await hands.shrink(candidate, batch)
            if quota.reserve(bytes) { return .reserved }
        }
        return .short
    }

    /// The part of the limit that live streams may occupy: an eighth.
    private static let liveShare: Int64 = 8

    /// Evicts the least recently used entries of live streams while they exceed their share of the store.
    ///
    /// If that is not enough, evicts parts of entries in use.
    func holdLiveShare(_ hands: EvictionTarget) async {
        let most = quota.limit / Self.liveShare
        guard quota.usage.allocated > most else { return }
        await freshen()
        var excess = ((try? await index.look { try $0.entries.liveBytes() }) ?? 0) - most
        var inUse: [EntryStore.Candidate] = []
        while excess > 0,
            let page = try? await candidates(limit: Self.page, offset: inUse.count, onlyLive: true, by: hands),
            !page.isEmpty
        {
            var group: [EntryStore.Candidate] = []
            for candidate in page where excess > 0 {
                group.append(candidate)
                excess -= candidate.allocated
            }
            let outcome = await hands.remove(group)
            if outcome.isVain { return }
            inUse += outcome.inUse
            excess += outcome.inUse.reduce(0) { $0 + $1.allocated }
        }
        for candidate in inUse where excess > 0 {
            let before = quota.usage.allocated
            await hands.shrink(candidate, excess)
            excess -= before - quota.usage.allocated
        }
    }

    // MARK: - Tags

    /// Lets the index know what was used last, and expired pins give way: what they kept no longer counts as kept.
    func prepare() async { await searches.add { await self.freshen() }.value }

    /// Evicts titles with the tag of this name, the least recently used title first, while they occupy more than its
    /// limit; after ``prepare()``.
    func hold(_ tag: String, by hands: EvictionTarget) async {
        await searches.add { await self.makeFit(tag, by: hands) }.value
    }

    private func makeFit(_ tag: String, by hands: EvictionTarget) async {
        guard let titles = try? await index.look({ try $0.titles.numbers(taggedAs: tag) }) else { return }
        var inUse: [EntryStore.Candidate] = []
        for (number, title) in titles.enumerated() {
            guard await excess(of: tag) > 0, !Task.isCancelled else { return }
            if let key = try? await index.look({ try $0.titles.key(ofTitle: title) }) ?? nil { await hands.learn(key) }
            // Files that a title shares with one that was used later go with that one.
            let files =
                (try? await index.look { try $0.entries.candidates(ofTitle: title, besides: titles[..<number]) }) ?? []
            // Titles go as wholes; of the last one, which may be playing, only as much as must.
            // The playlists of that one last: without them the rest cannot be played.
            let inOrder = files.filter { !$0.isPlaylist } + files.filter(\.isPlaylist)
            let groups = title == titles.last ? inOrder.map { [$0] } : [files]
            for group in groups where !group.isEmpty {
                guard await excess(of: tag) > 0 else { break }
                let outcome = await hands.remove(group)
                if outcome.isVain { return }
                inUse += outcome.inUse
            }
        }
        for candidate in inUse {
            let excess = await excess(of: tag)
            guard excess > 0 else { break }
            await hands.shrink(candidate, excess)
        }
    }

    /// Bytes that the files of titles with a tag occupy beyond its limit.
    private func excess(of tag: String) async -> Int64 {
        (try? await index.look { try $0.titles.excess(ofTag: tag) }) ?? 0
    }

    // MARK: - The disk

    /// Bytes that are neither pinned nor downloads: the most that eviction can free.
    private var evictableBytes: Int64 {
        get async {
            max(
                0,
                quota.usage.allocated - ((try? await index.look { try $0.retentions.retainedUsage() })?.allocated ?? 0))
        }
    }

    /// Evicts about `bytes` regardless of the limit, because the disk is full; evicts nothing if `least` cannot be
    /// freed.
    func makeRoom(_ bytes: Int64, atLeast least: Int64, by hands: EvictionTarget) async {
        await freshen()
        guard await evictableBytes >= least else { return }
        let target = quota.usage.allocated - bytes
        var inUse = 0
        while quota.usage.allocated > target,
            let page = try? await candidates(limit: 1, offset: inUse, by: hands), !page.isEmpty
        {
            let outcome = await hands.remove(page)
            if outcome.isVain { return }
            inUse += outcome.inUse.count
        }
    }

    /// Removes entries last used before `date`, or entries in the order of the policy until at most `size` bytes are
    /// occupied; stops when the task is canceled, or when files cannot be removed.
    ///
    /// Returns the files that could not be removed.
    @discardableResult
    func prune(before date: Double?, size: Int64?, by hands: EvictionTarget) async -> [LeftFile] {
        var left: [LeftFile] = []
        await freshen()
        var inUse = 0
        while !Task.isCancelled, size.map({ quota.usage.allocated > $0 }) ?? true,
            let page = try? await candidates(
                limit: size == nil ? Self.page * 16 : 1, offset: inUse, before: date, by: hands), !page.isEmpty
        {
            let outcome = await hands.remove(page)
            left += outcome.left
            if outcome.isVain { break }
            inUse += outcome.inUse.count
        }
        return left
    }

    /// What ``prune(before:size:by:)`` would remove: entries last used before `date`, then others in the order of the
    /// policy until at most `size` bytes are occupied; those in use stay, and so do those of which all is kept.
    func prunable(
        before date: Double?, size: Int64?, by hands: EvictionTarget, isInUse: @Sendable (CacheKey) -> Bool
    ) async throws(RepriseError) -> [EntryStore.Candidate] {
        await freshen()
        func isIdle(_ candidate: EntryStore.Candidate) -> Bool {
            guard candidate.kept == nil || candidate.allocated > 0 else { return false }
            return candidate.key.map { !isInUse($0) } ?? true
        }
        var chosen: [EntryStore.Candidate] = []
        if let date { chosen = try await candidates(limit: .max, offset: 0, before: date, by: hands).filter(isIdle) }
        guard let size else { return chosen }
        let known = Set(chosen.map(\.name))
        var occupied = chosen.reduce(quota.usage.allocated) { $0 - $1.allocated }
        var offset = 0
        while occupied > size {
            let page = try await candidates(limit: Self.page * 16, offset: offset, by: hands)
            guard !page.isEmpty else { break }
            offset += page.count
            for candidate in page where occupied > size && !known.contains(candidate.name) && isIdle(candidate) {
                chosen.append(candidate)
                occupied -= candidate.allocated
            }
        }
        return chosen
    }
}

/// Which entries go first when room is needed: an order of the index.
///
/// Eviction asks for the next few entries in this order. Pinned entries and downloads are never among them, because
/// ``EntryStore/candidates(by:limit:offset:before:onlyLive:)`` leaves them out; of an entry in use, extents go after
/// all others.
package struct EvictionPolicy: Sendable {
    /// Columns of `entry` and `generation`, as SQL orders by them.
    let order: String

    /// Evicts in the order of these columns of `entry` and `generation` (docs/disk-format.md).
    package init(order: String) { self.order = order }

    /// Entries of live streams first, then all others, the least recently used first in both.
    ///
    /// The index `entryByUse` has this order: no entry is looked at that stays.
    package static let liveFirst = EvictionPolicy(order: "entry.live DESC, entry.lastUsed")

    /// The least recently used first.
    package static let leastRecentlyUsed = EvictionPolicy(order: "entry.lastUsed")
}
