import Primitives

/// The downloads of a cache: what is fetched to stay until it is removed.
///
/// They are kept in an order, run two at a time (``MediaCache/Configuration/maximumDownloads``), yield to playback
/// (``Demand``), survive the end of the process at any point, and go on when the cache is next opened. A download
/// fetches only holes, and joins what a player is fetching. Its request fields are not recorded, because they may be
/// secrets: after a restart it goes on without them, and waits for authorization where the origin wants it.
///
/// ```swift
/// try await cache.downloads.add(url, name: "Nosferatu")
/// for await list in cache.downloads.updates() { show(list) }
/// ```
public final class Downloads: Sendable {
    weak let engine: Engine?
    private let owner = Mutex(Owner())
    let clock: CacheClock

    private struct Owner {
        weak var cache: MediaCache?
    }

    struct State: Sendable {
        var queue: DownloadQueue
        var runs: [DownloadQueue.Run: (key: CacheKey, task: Task<Void, Never>)] = [:]
        var figures = DownloadFigures()
        /// Waits for the next attempt of those that wait for a time.
        var timer: (time: Duration, task: Task<Void, Never>)?
        var resumption: Task<Void, Never>?

        func item(_ key: CacheKey) -> DownloadQueue.Item? { queue.items.first { $0.key == key } }
    }

    /// What follows from a change of the state.
    enum Effect: Sendable {
        case cancel(Task<Void, Never>)
        /// A task goes on: what was decided before it is done.
        case begin(Promise<Void>)
        /// Say what becomes of transfers in the background.
        case transfers(@Sendable (DownloadTransfers) -> Void)
        /// Report that a download has completed.
        case reportDone(CacheKey)
        /// Signal the listeners.
        case signal
    }

    /// A leaf lock, but for those of tasks.
    let state: StateMachine<State, Effect>
    /// The commands that wait; its lock comes before that of ``state``.
    private let waiting = Mutex(DownloadCommands.Waiting())
    /// Signals listeners; the key is always ``signal``.
    let board = ProgressBoard()
    private let watch: DayWatch
    static let signal = CacheKey("")
    private var transfers: DownloadTransfers? { DownloadTransfers(engine) }

    init(engine: Engine) {
        self.engine = engine
        clock = engine.clock
        watch = DayWatch(clock: clock)
        let width = engine.configuration.maximumDownloads
        let isInBackground = DownloadTransfers(engine) != nil
        state = StateMachine(
            State(queue: DownloadQueue(width: isInBackground ? max(width, DownloadTransfers.width) : width)))
        window = engine.configuration.downloadWindow
        engine.precedence.whenYieldingChanges { [board] in board.changed(Self.signal) }
    }

    /// Sets the cache to which URLs belong.
    func belong(to cache: MediaCache) { owner.withLock { $0.cache = cache } }

    /// The cache.
    ///
    /// Throws ``RepriseError`` with code `closed` if it is gone.
    package func cache() throws(RepriseError) -> MediaCache {
        guard let cache = owner.withLock({ $0.cache }) else {
            throw RepriseError(.closed, "The cache of these downloads is closed.")
        }
        return cache
    }

    // MARK: - What people want

    /// Fetches what is missing of `resource`, and keeps it until it is removed; behind the downloads that are there.
    ///
    /// The same as ``MediaCache/retain(_:as:)`` with `download`. One that is paused, waits or has failed goes on, with
    /// the fields of `resource`. The network policy of `resource` is recorded with it. Throws ``RepriseError``:
    /// `storageFull` when pinned entries and downloads would exceed the limit by themselves; `storageUnavailable`.
    ///
    /// With the URL of a stream's outermost playlist, what `selection` says of the stream is downloaded: playlists,
    /// segments and keys. `nil`, the default, keeps the selection of a download that exists.
    ///
    /// `name` is the name of the title, as in ``MediaCache/nameTitle(of:name:tag:)``. `nil`, the default, keeps the
    /// current name.
    public func add(
        _ resource: MediaResource, name: String? = nil, selection: StreamSelection? = nil
    ) async throws {
        try await resource.download(selection, name: name)
    }

    /// Stops a download; its bytes stay stored, and kept.
    ///
    /// Does nothing if there is none, or if it is done. Throws ``RepriseError`` with code `storageUnavailable` if that
    /// cannot be recorded; it goes on then.
    public func pause(_ key: CacheKey) async throws {
        await state.withLock { $0.resumption }?.value
        try await change { [self] index async throws(RepriseError) in
            guard state.withLock({ $0.queue.mayPause(key) }) else { return }
            try await index.downloads.setPaused(true, for: key)
            update { state, effects in
                effects.append(.transfers { $0.pause(key) })
                return state.queue.pause(key)
            }
        }
    }

    /// Resumes a download that is paused, waits or has failed, when its turn comes.
    ///
    /// One that waits for its hours (``Download/Obstacle/schedule``) ignores them from now on, until it is paused or
    /// done, or the cache is closed.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable` if that cannot be recorded; it stays as it is then.
    public func resume(_ key: CacheKey) async throws {
        try await change { [self] index async throws(RepriseError) in
            try await index.downloads.setPaused(false, for: key)
            apply { $0.resume(key) }
        }
        await recordHours(again: key)
    }

    /// Moves a download before another one, or behind all with `nil`.
    ///
    /// Those that run go on. Throws ``RepriseError`` with code `storageUnavailable` if that cannot be recorded.
    public func move(_ key: CacheKey, before other: CacheKey?) async throws {
        try await change { [self] index async throws(RepriseError) in
            let keys = update { state, _ in
                state.queue.move(key, before: other)
                return []
            }
            try await index.downloads.setOrder(keys)
        }
    }

    /// Removes a download and its bytes, except those that another title needs.
    ///
    /// To keep them as others are kept, set the retention `cached` instead (``MediaCache/retain(_:as:)``). Returns the
    /// bytes of media freed. Throws ``RepriseError`` with code `storageUnavailable`.
    @discardableResult
    public func remove(_ key: CacheKey) async throws -> Int64 { try await remove([key]) }

    /// Removes all downloads and their bytes, as ``remove(_:)`` does; with `partition`, those of that partition only.
    @discardableResult
    public func removeAll(partition: String? = nil) async throws -> Int64 {
        let keys = await list().map(\.key)
        return try await remove(partition == nil ? keys : keys.filter { $0.partition == partition })
    }

    private func remove(_ keys: [CacheKey]) async throws -> Int64 {
        guard let engine else { return 0 }
        let outcome = try await engine.removedTitles(keys, knowing: nil, endingIn: self)
        if let problem = outcome.problem { throw problem }
        return outcome.freed
    }

    /// Most bytes per second that all downloads fetch together; `nil` for no limit, as at the beginning unless
    /// ``MediaCache/Configuration/downloadRate`` says otherwise.
    ///
    /// A change takes effect within a second, and is not recorded. Numbers below 1 count as 1.
    public var rate: Int64? {
        get { engine?.pace.rate }
        set { engine?.pace.rate = newValue }
    }

    /// The hours of each day in which downloads run; `nil` for all, as at the beginning unless
    /// ``MediaCache/Configuration/downloadWindow`` says otherwise.
    ///
    /// Outside of them all downloads wait (``Download/Obstacle/schedule``); what has arrived stays stored. The time of
    /// day is looked at again at least every minute, so that a clock that is set or another time zone takes effect. Not
    /// recorded.
    public var window: DailyWindow? {
        get { state.withLock { $0.queue.window } }
        set {
            let now = clock.wallClock()
            look { $0.setWindow(newValue, at: now) }
            watch.start(after: timeToLook) { [weak self] in
                await self?.look()
                return self?.timeToLook
            }
        }
    }

    /// The commands that wait for downloads.
    package var commands: DownloadCommands { DownloadCommands(of: self, waiting: waiting) }

    // MARK: - For commands

    /// A download and, of a stream, how far it is, once those of an earlier process are known; `nil` if there is none.
    func found(_ key: CacheKey) async -> (item: DownloadQueue.Item, stream: StreamProgress?)? {
        await state.withLock { $0.resumption }?.value
        return state.withLock { state in state.item(key).map { ($0, state.figures.stream(key)) } }
    }

    /// What is known of all downloads, in their order.
    var items: [DownloadQueue.Item] { state.withLock { $0.queue.items } }

    /// Whether there is such a download, and it goes on by itself.
    func isUnderWay(_ key: CacheKey) -> Bool { state.withLock { $0.queue.isUnderWay(key) } }

    /// Makes a download again what `item` was, and how far it was as a stream.
    ///
    /// With the same selection, one that was to be fetched then stays as it is: it has found out what prevents it. Does
    /// nothing if it was removed. Throws ``RepriseError`` with code `storageUnavailable`.
    func putBack(_ item: DownloadQueue.Item, stream: StreamProgress?) async throws {
        let isSame = state.withLock { $0.item(item.key)?.selection == item.selection }
        if isSame, item.isToBeFetched { return }
        state.withLock { $0.figures.reset(item.key, to: stream) }
        update { state, effects in
            effects.append(.transfers { $0.confine(item.key, to: item.request.networkPolicy) })
            return state.queue.putBack(item)
        }
        // Last, and so over the reason of the failure that the vain attempt recorded.
        try await change { index async throws(RepriseError) in try await index.downloads.putBack(item) }
    }

    // MARK: - For the cache

    /// Takes up the downloads of an earlier process; with `isIdle`, nothing is fetched.
    func resume(_ store: Store, isIdle: Bool) {
        if isIdle { apply { $0.stop() } }
        let task = Task(priority: .userInitiated) { [weak self] in
            do throws(RepriseError) {
                var recorded = try await store.index.look { try $0.downloads.all() }
                // Nothing will run soon that finds out.
                if isIdle || self?.closing != nil { recorded = await self?.settled(recorded) ?? recorded }
                self?.restore(recorded, isIdle: isIdle)
                await self?.recordHours()
            } catch {
                store.reporter.tell(.storeBypassed(nil, reason: error.explanation))
            }
        }
        state.withLock { $0.resumption = task }
    }

    private func restore(_ recorded: [DownloadQueue.Item], isIdle: Bool) {
        let (now, hasTransfers) = (clock.elapsed(), transfers != nil)
        update { state, effects in
            let following = state.queue.restore(recorded, yieldingRoom: hasTransfers, at: now)
            if !isIdle { effects.append(.transfers { [items = state.queue.items] in $0.keep(items) }) }
            return following
        }
    }

    /// `recorded`, where streams are done of which all is stored.
    private func settled(_ recorded: [DownloadQueue.Item]) async -> [DownloadQueue.Item] {
        guard let engine else { return recorded }
        var items = recorded
        for (index, item) in items.enumerated() {
            guard case .queued = item.phase else { continue }
            let run = DownloadRun(item, engine: engine) { [weak self] _, stream in
                self?.state.withLock { $0.figures.reset(item.key, to: stream) }
            }
            // What cannot be read is found out by the download.
            if (try? await run.storedStream()) != nil {
                (items[index].phase, items[index].lastError) = (.done, nil)
            }
        }
        return items
    }

    /// Fetches the missing bytes of `key`, unless that is under way.
    ///
    /// Transfers for it end if they may use other networks than it may now, also those of files that it does not ask
    /// for at present.
    func start(
        _ key: CacheKey, request: OriginRequest, name: String?, selection: StreamSelection, keyRule: KeyRule?
    ) {
        update { state, effects in
            // A download of an earlier process may not be restored yet.
            if state.item(key)?.request.networkPolicy != request.networkPolicy {
                effects.append(.transfers { $0.confine(key, to: request.networkPolicy) })
            }
            return state.queue.add(key, request: request, name: name, selection: selection, keyRule: keyRule)
        }
    }

    /// Notes the new name of the title that begins with `key`.
    func setName(_ name: String?, of key: CacheKey) {
        update { state, _ in
            state.queue.setName(name, of: key)
            return []
        }
    }

    /// `keys` are no downloads any more; returns when what ran for them has ended, so that nothing more of them comes.
    func end(_ keys: [CacheKey]) async {
        for task in cancel(keys) { await task.value }
    }

    /// Files of the titles of `keys` have lost bytes, or have gone: downloads that were done fetch them again, as they
    /// would when the cache is opened next.
    func fetchAgain(_ keys: Set<CacheKey>) async {
        guard let store = engine?.store, !keys.isEmpty else { return }
        await state.withLock { $0.resumption }?.value
        let recorded = await DiskQueue.shared.run {
            keys.compactMap { key in try? store.index.downloads.all(of: key).first }
        }
        state.withLock { state in
            // How far they were as streams is not true any more.
            for item in recorded where state.queue.isDone(item.key) && !item.isDone {
                state.figures.reset(item.key, to: nil)
            }
        }
        apply { $0.takeUp(recorded) }
    }

    /// `keys` are no downloads any more; returns what runs for them, and ends soon.
    @discardableResult
    func cancel(_ keys: [CacheKey]) -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        update { state, effects in
            for key in keys {
                state.figures.remove(key)
                effects.append(.transfers { $0.forget(key) })
            }
            let removed = Set(keys)
            // Those that were canceled before, too, as when it was paused.
            tasks = state.runs.values.filter { removed.contains($0.key) }.map(\.task)
            return state.queue.remove(removed)
        }
        return tasks
    }

    private var timeToLook: Duration? {
        let now = clock.wallClock()
        return state.withLock { $0.queue.timeToLook(after: now) }
    }

    private func look() async {
        let now = clock.wallClock()
        look { $0.look(at: now) }
        await recordHours()
    }

    private func look(_ look: (inout DownloadQueue) -> [DownloadQueue.Effect]) {
        update { state, effects in
            let following = look(&state.queue)
            effects.append(.transfers { [items = state.queue.items] in $0.pauseOutsideHours(items) })
            return following
        }
    }

    /// Why nothing may be downloaded now; `nil` if it may.
    package var closing: RepriseError? { state.withLock { $0.queue.closing } }

    /// Returns when something may be downloaded.
    ///
    /// Throws `CancellationError` when the task is canceled.
    package func waitUntilOpen() async throws {
        while closing != nil, let pause = timeToLook {
            try await clock.sleep(pause)
            await look()
        }
    }

    /// There is more room.
    func roomWasMade() { apply { $0.retryAll(waitingFor: .space) } }

    /// Nothing begins any more, and what runs ends soon.
    func cancel() {
        apply { $0.stop() }
        state.withLock { $0.resumption }?.cancel()
        watch.cancel()
        board.finish()
    }

    /// Ends all downloads and keeps the bytes that have arrived.
    func stop() async {
        cancel()
        let tasks = state.withLock { $0.runs.values.map(\.task) + ($0.resumption.map { [$0] } ?? []) }
        for task in tasks { await task.value }
    }

    // MARK: - Changes

    /// Changes the queue, and has done what follows from it.
    func apply(_ change: (inout DownloadQueue) -> [DownloadQueue.Effect]) {
        update { state, _ in change(&state.queue) }
    }

    /// Changes the state, and has done what follows from it and from the queue's effects; returns the keys in their new
    /// order.
    ///
    /// Tasks begin under the lock, so that the end of a download finds all of them.
    @discardableResult
    func update(_ change: (inout State, inout [Effect]) -> [DownloadQueue.Effect]) -> [CacheKey] {
        state.update(performing: { perform($0) }) { state, effects in
            for effect in change(&state, &effects) {
                switch effect {
                case .start(let run, let item):
                    effects.append(.transfers { $0.begin(item.key) })
                    effects.append(.begin(launch(run, of: item, in: &state)))
                case .cancel(let run): if let task = state.runs[run]?.task { effects.append(.cancel(task)) }
                }
            }
            setTimer(in: &state, &effects)
            effects.append(.signal)
            return state.queue.items.map(\.key)
        }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .cancel(let task): task.cancel()
        case .begin(let turn): turn.fulfill()
        case .transfers(let step): if let transfers { step(transfers) }
        case .reportDone(let key): engine?.reporter.tell(.downloadEnded(key, error: nil))
        case .signal: board.changed(Self.signal)
        }
    }

    private func change(_ work: @escaping @Sendable (Index) async throws(RepriseError) -> Void) async throws {
        guard let store = engine?.store else { return }
        await state.withLock { $0.resumption }?.value
        try await store.recorder.change(work)
    }
}
