import Foundation

/// The order of downloads and what each one does: decisions only, without tasks, time and disk.
///
/// A download runs as long as its task does, which is longer than it is wanted: one that was paused or removed keeps
/// its place among the running ones until its task has ended.
struct DownloadQueue: Sendable {
    /// Downloads that run at once.
    let width: Int
    /// All downloads, in their order.
    private(set) var items: [Item] = []
    /// Tasks that have not ended, canceled ones too.
    private(set) var runs: Set<Run> = []
    private var lastRun: Run = 0
    /// The hours of each day in which downloads may run; `nil` for all.
    private(set) var window: DailyWindow?
    /// Why nothing may run now; `nil` if it may.
    private(set) var closing: RepriseError?
    private var isStopped = false

    init(width: Int) { self.width = max(1, width) }

    /// The pause before the first further attempt; doubled each time.
    static let firstRetry = Duration.seconds(5)
    static let lastRetry = Duration.seconds(300)

    private func index(of key: CacheKey) -> Int? { items.firstIndex { $0.key == key } }

    // MARK: - What people want

    /// Adds a download behind all others, or goes on with one that is paused, waits or has failed, with this request.
    ///
    /// One that runs begins again if it is another selection or network policy, and with other fields if it fails with
    /// the old ones; stored bytes are not fetched again. The rule for keys with which a download began stays: under
    /// another one its files would be fetched once more.
    mutating func add(
        _ key: CacheKey, request: OriginRequest, name: String? = nil, selection: StreamSelection = StreamSelection(),
        keyRule: KeyRule? = nil
    ) -> [Effect] {
        guard let index = index(of: key) else {
            items.append(Item(key: key, request: request, name: name, selection: selection, keyRule: keyRule))
            return launch()
        }
        let isOther =
            items[index].selection != selection || items[index].request.networkPolicy != request.networkPolicy
        if items[index].request.fields != request.fields { items[index].isRenewed = true }
        (items[index].request, items[index].selection, items[index].lastError) = (request, selection, nil)
        items[index].keyRule = items[index].keyRule ?? keyRule
        switch items[index].phase {
        case .queued: return []
        case .running(let run):
            guard isOther else { return [] }
            items[index].isOutdated = true
            return [.cancel(run)]
        case .waiting, .paused, .done, .failed: return enqueue(index)
        }
    }

    /// Notes the new name of a download's title.
    mutating func setName(_ name: String?, of key: CacheKey) {
        if let index = index(of: key) { items[index].name = name }
    }

    /// Adds the downloads of an earlier process before those that were added since.
    ///
    /// With `yieldingRoom`, those that had no room last wait until the others have begun: of these a part may be on its
    /// way, and all of it would be in vain if another one took their room.
    mutating func restore(_ recorded: [Item], yieldingRoom: Bool = false, at now: Duration) -> [Effect] {
        let known = Set(items.map(\.key))
        var recorded = recorded.filter { !known.contains($0.key) }
        if yieldingRoom, recorded.contains(where: { $0.isQueued && $0.lastError?.code != .storageFull }) {
            for index in recorded.indices where recorded[index].isQueued {
                guard let error = recorded[index].lastError, error.code == .storageFull else { continue }
                (recorded[index].phase, recorded[index].waits) = (.waiting(.space, error), 1)
                recorded[index].retryTime = now + Self.firstRetry
            }
        }
        items = recorded + items
        return launch()
    }

    /// Whether there is such a download, and it is done.
    func isDone(_ key: CacheKey) -> Bool { index(of: key).map { items[$0].isDone } ?? false }

    /// Whether there is such a download, and it is not done.
    func mayPause(_ key: CacheKey) -> Bool { index(of: key).map { !items[$0].isDone } ?? false }

    /// Whether there is such a download, and it goes on by itself.
    func isUnderWay(_ key: CacheKey) -> Bool {
        guard let index = index(of: key) else { return false }
        return switch items[index].phase {
        case .queued, .running, .waiting: true
        case .paused, .done, .failed: false
        }
    }

    mutating func pause(_ key: CacheKey) -> [Effect] {
        guard let index = index(of: key) else { return [] }
        switch items[index].phase {
        case .paused, .done: return []
        case .running(let run):
            (items[index].phase, items[index].ignoresHours) = (.paused, false)
            return [.cancel(run)]
        case .queued, .waiting, .failed:
            (items[index].phase, items[index].ignoresHours) = (.paused, false)
            return []
        }
    }

    /// Resumes a download; one that waits for its hours begins at once.
    mutating func resume(_ key: CacheKey) -> [Effect] {
        guard let index = index(of: key) else { return [] }
        items[index].lastError = nil
        switch items[index].phase {
        case .queued, .running, .done: return []
        case .waiting(.schedule, _):
            items[index].ignoresHours = true
            return enqueue(index)
        case .waiting, .paused, .failed: return enqueue(index)
        }
    }

    /// Goes on with downloads that were done and lack something by now, as `recorded` says; one that runs looks once
    /// more when it has ended.
    mutating func takeUp(_ recorded: [Item]) -> [Effect] {
        for item in recorded where !item.isDone {
            guard let index = index(of: item.key) else { continue }
            switch items[index].phase {
            case .done:
                (items[index].phase, items[index].waits) = (.queued, 0)
                (items[index].storedBytes, items[index].completeLength) = (item.storedBytes, item.completeLength)
                items[index].isStream = item.isStream
            case .running: items[index].isOutdated = true
            case .queued, .waiting, .paused, .failed: continue
            }
        }
        return launch()
    }

    mutating func remove(_ keys: Set<CacheKey>) -> [Effect] {
        let removed = items.filter { keys.contains($0.key) }
        items.removeAll { keys.contains($0.key) }
        return removed.compactMap { if case .running(let run) = $0.phase { .cancel(run) } else { nil } }
    }

    /// Moves a download before another one, or behind all with `nil`; those that run go on.
    mutating func move(_ key: CacheKey, before other: CacheKey?) {
        guard key != other, let index = index(of: key) else { return }
        let item = items.remove(at: index)
        items.insert(item, at: other.flatMap { self.index(of: $0) } ?? items.endIndex)
    }

    /// Gives a download the selection and the request back that it had as `former`, and what it did: one that was
    /// queued, ran or waited then is queued.
    mutating func putBack(_ former: Item) -> [Effect] {
        guard let index = index(of: former.key) else { return [] }
        let running: Run? = if case .running(let run) = items[index].phase { run } else { nil }
        items[index] = former
        switch former.phase {
        case .paused, .done, .failed: return running.map { [.cancel($0)] } ?? []
        case .queued, .running, .waiting:
            guard let running else { return enqueue(index) }
            (items[index].phase, items[index].isOutdated) = (.running(running), true)
            return [.cancel(running)]
        }
    }

    // MARK: - What happens

    /// A task has ended; `taken` bytes are occupied now, or promised to those under way.
    mutating func end(
        _ run: Run, of key: CacheKey, with ending: Ending, at now: Duration, taken: Int64 = .max
    ) -> [Effect] {
        runs.remove(run)
        retryForPromisedRoom(after: ending, taken: taken)
        guard let index = index(of: key), case .running(run) = items[index].phase else { return launch() }
        if items[index].isOutdated { return enqueue(index) }
        // What has failed with the old fields is tried with the new ones.
        if case .failed = ending, items[index].isRenewed { return enqueue(index) }
        switch ending {
        case .done:
            items[index].phase = .done
            (items[index].waits, items[index].lastError, items[index].ignoresHours) = (0, nil, false)
        case .canceled: items[index].phase = .queued
        case .failed(let error):
            items[index].lastError = error
            guard let obstacle = Download.Obstacle(error) else {
                items[index].phase = .failed(error)
                break
            }
            items[index].phase = .waiting(obstacle, error)
            items[index].waits += 1
            let pause = obstacle == .authorization ? nil : Self.pause(beforeRetry: items[index].waits)
            items[index].retryTime = pause.map { now + $0 }
        }
        return launch()
    }

    /// One that was under way has ended, and the room that it did not use is there for those that waited for it.
    ///
    /// One that found no room itself may have held some until then. Those go on that found more taken; of the others
    /// each would fail as before, and wake those that it was woken by.
    private mutating func retryForPromisedRoom(after ending: Ending, taken: Int64) {
        for index in items.indices {
            guard case .waiting(.space, let error) = items[index].phase, let before = error.takenByOthers,
                ending.takenByOthers == nil || taken < before
            else { continue }
            items[index].phase = .queued
        }
    }

    private static func pause(beforeRetry number: Int) -> Duration {
        min(firstRetry * (1 << min(number - 1, 10)), lastRetry)
    }

    /// When ``retry(at:)`` is due; `nil` if nothing waits for a time.
    var nextRetry: Duration? { isStopped ? nil : items.lazy.compactMap(\.timeToRetry).min() }

    /// Waits whose time is over end.
    mutating func retry(at now: Duration) -> [Effect] {
        for index in items.indices {
            if let time = items[index].timeToRetry, time <= now { items[index].phase = .queued }
        }
        return launch()
    }

    /// What some downloads wait for is there.
    mutating func retryAll(waitingFor obstacle: Download.Obstacle) -> [Effect] {
        for index in items.indices {
            switch items[index].phase {
            case .waiting(obstacle, _): items[index].phase = .queued
            // It was larger than the limit, which may be another one now.
            case .failed(let error) where obstacle == .space && error.code == .storageFull:
                items[index].phase = .queued
            case .queued, .running, .waiting, .paused, .done, .failed: continue
            }
        }
        return launch()
    }

    // MARK: - The time of day

    /// Longest time between two looks at the time of day: the clock may be set, or the time zone change.
    static let lookInterval = Duration.seconds(60)

    /// Takes other hours; `date` is the present time.
    mutating func setWindow(_ window: DailyWindow?, at date: Date) -> [Effect] {
        self.window = window
        return look(at: date)
    }

    /// Lets downloads run or wait as the time of day says.
    mutating func look(at date: Date) -> [Effect] {
        guard let window, !window.contains(date) else {
            closing = nil
            for index in items.indices where items[index].waitsForHours { items[index].lastError = nil }
            return retryAll(waitingFor: .schedule)
        }
        closing = RepriseError(
            .deferred, "Downloads run \(window) only, in local time; they go on at \(window.opening).")
        var effects: [Effect] = []
        for index in items.indices {
            switch items[index].phase {
            case .running(let run) where !items[index].ignoresHours:
                effects.append(.cancel(run))
                items[index].phase = .queued
            case .waiting(.schedule, _): items[index].phase = .queued
            case .queued, .running, .waiting, .paused, .done, .failed: continue
            }
        }
        return effects + launch()
    }

    /// How long after `date` it is time to look again; `nil` if the time of day does not matter.
    func timeToLook(after date: Date) -> Duration? {
        window.map { min($0.state(at: date).remaining, Self.lookInterval) }
    }

    /// Notes how much of a download is stored.
    mutating func note(_ key: CacheKey, storedBytes: Int64, completeLength: Int64?) {
        guard let index = index(of: key) else { return }
        (items[index].storedBytes, items[index].completeLength) = (storedBytes, completeLength)
    }

    /// Ends all tasks; nothing begins any more.
    mutating func stop() -> [Effect] {
        isStopped = true
        return runs.map { .cancel($0) }
    }

    private mutating func enqueue(_ index: Int) -> [Effect] {
        (items[index].phase, items[index].waits) = (.queued, 0)
        return launch()
    }

    private mutating func launch() -> [Effect] {
        guard !isStopped else { return [] }
        var effects: [Effect] = []
        for index in items.indices where closing != nil || runs.count < width {
            guard case .queued = items[index].phase else { continue }
            if let closing, !items[index].ignoresHours {
                (items[index].phase, items[index].lastError) = (.waiting(.schedule, closing), closing)
                items[index].retryTime = nil
                continue
            }
            guard runs.count < width else { continue }
            lastRun += 1
            runs.insert(lastRun)
            items[index].phase = .running(lastRun)
            (items[index].isOutdated, items[index].isRenewed) = (false, false)
            effects.append(.start(lastRun, items[index]))
        }
        return effects
    }
}
