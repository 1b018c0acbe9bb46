import HTTPSemantics
import Primitives

/// Writes changes from memory to the index in batches: every second, or sooner after 64 MiB of media.
///
/// A transaction costs the same for a megabyte as for a hundred, so a fast download is recorded by time, and a killed
/// process loses at most a second of it.
///
/// Calls to the actor reach SQLite in the order in which they were made, so that an older record never overtakes a
/// removal.
actor Recorder {
    /// Bytes of media that trigger a batch before its time.
    static let batchBytes: Int64 = 64 << 20
    /// Longest time that a finished chunk waits to be recorded.
    static let batchDelay = Duration.seconds(1)
    /// Longest time that last uses and counts wait if there is nothing else to record.
    static let useDelay = Duration.seconds(60)
    /// Delay before a batch that could not be written is retried.
    static let retryDelay = Duration.seconds(10)
    /// Maximum number of generations that wait while the index cannot be written; beyond it, the oldest are dropped.
    static let mostWaiting = 64

    private struct Pending {
        var generations: [Int64: Generation] = [:]
        var lastUsed: [CacheKey: Double] = [:]
        var variants: [CacheKey: EntryStore.Variant] = [:]
        var invalidated: Set<CacheKey> = []
        var members: [TitleReference: Set<CacheKey>] = [:]
        var splicing: [String: Int64] = [:]
        var bytes: Int64 = 0
        var isScheduled = false
        var isUrgent = false
        /// Whether a batch is scheduled within ``Recorder/useDelay``.
        var isUseScheduled = false
        /// Under the same lock as ``members``, so that no file of a removed title is noted.
        var removedTitles = RemovedTitles()
    }

    /// A leaf lock; filled from the hot path without waiting for the actor.
    private let pending = Mutex(Pending())
    private let index: Index
    private let reporter: Reporter
    private let breaker: Breaker
    private let clock: CacheClock
    /// Why nothing can be written, if so: notes are then discarded, and changes throw it.
    private let problem: RepriseError?
    private let delay: Duration
    private let reached: (@Sendable (CrashPoint) -> Void)?
    /// Called after each transaction.
    private let onWritten: @Sendable () -> Void
    /// Receives the names of tags with a limit that a batch may have grown, with the most bytes of growth.
    private let onGrowth: @Sendable ([String: Int64]) -> Void
    /// Whether the last batch failed, so that failures are reported once and not every second.
    private let hasFailed = Mutex(false)
    /// Whether the last batch could not be written.
    nonisolated var isFailing: Bool { hasFailed.withLock { $0 } }
    private var isClosed = false
    /// Sleeps until last uses have to be written.
    private let useFlush = Mutex<Task<Void, Never>?>(nil)
    /// The writes: across its awaits, an actor alone does not keep the order.
    private let writes = SerialQueue()

    init(
        index: Index, reporter: Reporter, breaker: Breaker, clock: CacheClock, problem: RepriseError? = nil,
        delay: Duration = Recorder.batchDelay,
        reached: (@Sendable (CrashPoint) -> Void)? = nil, onWritten: @escaping @Sendable () -> Void = {},
        onGrowth: @escaping @Sendable ([String: Int64]) -> Void = { _ in }
    ) {
        self.index = index
        self.reporter = reporter
        self.breaker = breaker
        self.clock = clock
        self.problem = problem
        self.delay = delay
        self.reached = reached
        self.onWritten = onWritten
        self.onGrowth = onGrowth
    }

    /// Notes that `generation` has `bytes` more to record.
    nonisolated func note(_ generation: Generation, bytes: Int64) {
        schedule { pending in
            pending.generations[generation.id] = generation
            pending.bytes += bytes
            return pending.bytes >= Self.batchBytes
        }
    }

    /// Notes that `key` was used now.
    ///
    /// Recorded with the next batch, within a minute.
    nonisolated func noteUse(_ key: CacheKey) {
        guard problem == nil else { return }
        let now = clock.now()
        let isFirst = pending.withLock { pending in
            pending.lastUsed[key] = now
            defer { pending.isUseScheduled = true }
            return !pending.isUseScheduled
        }
        guard isFirst else { return }
        let task = Task(priority: .userInitiated) { [weak self, clock] in
            do { try await clock.sleep(Self.useDelay) } catch { return }
            self?.pending.withLock { $0.isUseScheduled = false }
            await self?.flush()
        }
        useFlush.withLock { $0 = task }
    }

    /// Notes that responses of `primary` vary, and that `variant` is the key of one variant.
    nonisolated func noteVariant(_ variant: CacheKey, of primary: CacheKey, by vary: Vary) {
        schedule { pending in
            pending.variants[variant] = EntryStore.Variant(primary: primary, vary: vary)
            return false
        }
    }

    /// Notes that the generations under `key` are permanently stale.
    nonisolated func noteInvalidation(of key: CacheKey) {
        schedule { pending in
            pending.invalidated.insert(key)
            return false
        }
    }

    /// Notes that the host of that name was seen to splice.
    nonisolated func noteSplicing(_ host: String, at date: Int64) {
        schedule { pending in
            pending.splicing[host] = date
            return false
        }
    }

    /// Notes that those of `keys` that are stored are files of `title`, unless the title was removed since that was
    /// known.
    ///
    /// `asOf` is ``removedTitleCount`` of that moment; now if it is `nil`.
    nonisolated func note(_ keys: [CacheKey], in title: TitleReference, asOf: Int? = nil) {
        schedule { pending in
            guard pending.removedTitles.stands(title, asOf: asOf ?? pending.removedTitles.count) else { return false }
            pending.members[title, default: []].formUnion(keys)
            return false
        }
    }

    /// Number of title removals so far.
    nonisolated var removedTitleCount: Int { pending.withLock { $0.removedTitles.count } }

    /// Those of `claims` whose titles were not removed since.
    nonisolated func standing(_ claims: [TitleClaim]) -> [TitleClaim] {
        claims.isEmpty ? [] : pending.withLock { $0.removedTitles }.standing(claims)
    }

    /// Notes that the titles that begin with `keys` are removed, so that earlier notes of their files no longer count.
    nonisolated func noteRemoval(ofTitles keys: some Collection<CacheKey>) {
        let keys = Set(keys)
        pending.withLock { pending in
            pending.removedTitles.note(keys)
            pending.members = pending.members.filter { !keys.contains($0.key.key) }
        }
    }

    /// Gives up all files of the title of `key` except those that `named` returns; `nil` means all of them.
    ///
    /// In one turn, because files that are recorded between the query and the change would be given up, too.
    func giveUp(
        filesOf key: CacheKey, except named: @escaping @Sendable () throws(RepriseError) -> Set<CacheKey>?
    ) async throws(RepriseError) {
        guard problem == nil else { return }
        try await perform { [self] index async throws(RepriseError) in
            guard await writeBatch(), let keys = try await DiskQueue.shared.run(named) else { return }
            try await index.titles.giveUp(filesOf: key, except: keys)
        }
    }

    private nonisolated func schedule(_ change: (inout Pending) -> Bool) {
        guard problem == nil else { return }
        let start: Duration? = pending.withLock { pending in
            let isUrgent = change(&pending)
            if isUrgent, !pending.isUrgent {
                pending.isUrgent = true
                pending.isScheduled = true
                return .zero
            }
            guard !pending.isScheduled else { return nil }
            pending.isScheduled = true
            return delay
        }
        if let start { flush(after: start) }
    }

    private nonisolated func flush(after delay: Duration) {
        Task(priority: .userInitiated) { [weak self, clock] in
            if delay > .zero { do { try await clock.sleep(delay) } catch { return } }
            await self?.flush()
        }
    }

    /// Writes all notes, and nothing afterwards, because another process may use the directory then.
    ///
    /// False on the second call.
    func close() async -> Bool {
        guard !isClosed else { return false }
        isClosed = true
        useFlush.withLock { $0 }?.cancel()
        _ = await writes.add { await self.writeBatch() }.value
        return true
    }

    /// Returns after every write that was added before this call.
    nonisolated func turn() async { await writes.add {}.value }

    /// Writes all notes, after every call made before this one.
    ///
    /// False if writing failed; it is retried later.
    @discardableResult
    func flush() async -> Bool {
        guard !isClosed else { return false }
        return await writes.add { await self.writeBatch() }.value
    }

    /// Removes all entries with these names; retained ones only if `force` is true.
    func remove(_ names: [String], force: Bool) async throws(RepriseError) -> Index.Removal {
        let result: Result<Index.Removal, RepriseError>
        do throws(RepriseError) {
            result = .success(
                try await perform { index async throws(RepriseError) in try await index.remove(names, force: force) })
        } catch {
            result = .failure(error)
        }
        await DiskQueue.shared.run(onWritten)
        return try result.get()
    }

    /// Removes the variants and the retention of `keys`; returns the keys of the variants.
    ///
    /// `done` is called before anything else is written, as that of ``retain(_:networkPolicy:mayRetain:done:)``.
    func release(_ keys: [CacheKey], done: @escaping @Sendable () -> Void) async throws(RepriseError) -> [CacheKey] {
        await flush()
        return try await perform { index async throws(RepriseError) in
            let variants = try await index.retentions.release(keys)
            done()
            return variants
        }
    }

    /// Writes `generation`, which is not live.
    func write(_ generation: Index.Batch.Generation) async throws(RepriseError) {
        let grown = try await perform { index async throws(RepriseError) in
            try await index.write(Index.Batch(generations: [generation]))
        }
        onGrowth(grown)
    }

    /// Records how long a resource stays.
    ///
    /// `mayRetain` says whether so much may be retained in all; if it throws, nothing is recorded. `done` is called
    /// before anything else is written, so that changes in memory follow the order of the records.
    func retain(
        _ retained: RetentionStore.Retained, networkPolicy: NetworkPolicy,
        mayRetain: @escaping @Sendable (Usage) throws -> Void,
        done: @escaping @Sendable (Index) throws(RepriseError) -> Void
    ) async throws(RepriseError) {
        try await perform { index async throws(RepriseError) in
            try await index.retentions.retain(retained, networkPolicy: networkPolicy, mayRetain: mayRetain)
            try await DiskQueue.shared.run { () throws(RepriseError) in try done(index) }
        }
    }

    /// Changes what is recorded of downloads.
    func change(_ work: @escaping @Sendable (Index) async throws(RepriseError) -> Void) async throws(RepriseError) {
        try await perform(work)
    }

    /// Records the name and the tag of a title.
    func change(
        _ title: TitleReference, _ change: @escaping @Sendable (inout RecordCodec.TitleFields) -> Void
    ) async throws(RepriseError) {
        try await perform { index async throws(RepriseError) in try await index.titles.change(title, change) }
    }

    /// Removes the records of titles; returns the keys of those of their files that belong to no other title.
    ///
    /// `named` lists the files in stored playlists. `live` finds the titles' files in memory; those that the index does
    /// not know are returned, too.
    func removeTitles(
        _ keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>],
        live: @escaping @Sendable () -> [CacheKey]
    ) async throws(RepriseError) -> [CacheKey] {
        try await perform { [self] index async throws(RepriseError) in
            // In one turn: a batch in between could record a file of theirs that no removal would find.
            _ = await writeBatch()
            noteRemoval(ofTitles: keys)
            // Generations adopted from here on see that the title was removed.
            let live = live()
            let known = try await index.look { try $0.entries.recorded(live) }
            return try await index.titles.remove(keys, knowing: named) + live.filter { !known.contains($0) }
        }
    }

    /// What removing the titles of `keys` would free.
    func forecast(
        ofRemoving keys: [CacheKey], knowing named: [TitleReference: Set<CacheKey>]
    ) async throws(RepriseError) -> RemovalForecast {
        await flush()
        return try await perform { index async throws(RepriseError) in
            try await index.titles.forecast(ofRemoving: keys, knowing: named)
        }
    }

    /// Removes one generation; returns its recorded usage.
    func remove(generation: Int64) async throws(RepriseError) -> Usage {
        try await perform { index async throws(RepriseError) in try await index.entries.remove(generation: generation) }
    }

    /// Runs `work` on the index when every earlier write has ended; throws why not if the index is only read.
    private func perform<T: Sendable>(
        _ work: @escaping @Sendable (Index) async throws(RepriseError) -> T
    ) async throws(RepriseError) -> T {
        if let problem { throw problem }
        return try await writes.add { [index] () async -> Result<T, RepriseError> in
            do throws(RepriseError) { return .success(try await work(index)) } catch { return .failure(error) }
        }.value.get()
    }

    private nonisolated func writeBatch() async -> Bool {
        guard problem == nil else { return true }
        let taken = pending.withLock { pending in
            defer {
                pending = Pending(
                    isUseScheduled: pending.isUseScheduled, removedTitles: pending.removedTitles)
            }
            return pending
        }
        var batch = Index.Batch()
        batch.lastUsed = taken.lastUsed
        batch.variants = taken.variants
        batch.invalidated = taken.invalidated
        batch.members = taken.members
        batch.splicing = taken.splicing
        for generation in taken.generations.values {
            guard var part = generation.takeUnrecorded() else { continue }
            part.record.claims = standing(part.record.claims)
            batch.generations.append(part)
        }
        let counted = reporter.takeUnrecorded()
        batch.totals = counted.totals
        batch.traffic = DailyTraffic(
            day: DailyTraffic.day(of: clock.now()), servedBytes: counted.bytesServed, fetchedBytes: counted.bytesFetched
        )
        guard !batch.isEmpty else { return true }
        do {
            let grown = try await index.write(batch) { [reached] in reached?(.recording) }
            reached?(.recorded)
            await DiskQueue.shared.run(onWritten)
            onGrowth(grown)
            hasFailed.withLock { $0 = false }
            _ = breaker.noteIndex(nil)
            for part in batch.generations { await taken.generations[part.record.id]?.markRecorded() }
            return true
        } catch {
            reporter.putBack(counted)
            // Before `keep`, so that a generation dropped there does not wait for the index again.
            let isFirst = hasFailed.withLock { hasFailed in
                defer { hasFailed = true }
                return !hasFailed
            }
            keep(taken, in: batch, because: error.isLackOfRoom ? .lackOfRoom : .fault)
            if isFirst {
                reporter.tell(.storeBypassed(nil, reason: "The index could not be written: \(error.explanation)"))
            }
            return false
        }
    }

    /// Restores the notes of a failed batch for the next one; drops the oldest if there are too many.
    private nonisolated func keep(_ taken: Pending, in batch: Index.Batch, because failure: Breaker.IndexFailure) {
        for part in batch.generations {
            taken.generations[part.record.id]?.bytes.markUnrecorded(part.blocks.map(\.block))
        }
        let isFirst = pending.withLock { pending in
            pending.generations.merge(taken.generations) { $1 }
            pending.lastUsed.merge(taken.lastUsed) { mine, _ in mine }
            pending.variants.merge(taken.variants) { mine, _ in mine }
            pending.invalidated.formUnion(taken.invalidated)
            // Titles may have been removed since.
            let members = taken.members.filter { title, _ in
                pending.removedTitles.stands(title, asOf: taken.removedTitles.count)
            }
            pending.members.merge(members) { $0.union($1) }
            pending.splicing.merge(taken.splicing) { mine, _ in mine }
            defer { pending.isScheduled = true }
            return !pending.isScheduled
        }
        let dropped = dropOldest()
        if !dropped.isEmpty, breaker.noteIndex(failure) {
            reporter.tell(
                .storeBypassed(nil, reason: "The index cannot be written, and nothing is stored until it can be."))
        }
        if isFirst { flush(after: Self.retryDelay) }
    }

    /// Drops the oldest idle generations beyond the maximum that may wait; returns them.
    private nonisolated func dropOldest() -> [Generation] {
        let waiting = pending.withLock { $0.generations.values.sorted { $0.id < $1.id } }
        let dropped = waiting.filter(\.isIdle).prefix(max(0, waiting.count - Self.mostWaiting))
        pending.withLock { pending in
            for generation in dropped { pending.generations[generation.id] = nil }
        }
        for generation in dropped {
            generation.dropUnrecorded()
        }
        return Array(dropped)
    }
}
