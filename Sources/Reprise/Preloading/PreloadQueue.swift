/// What is preloaded now: the wanted list, in its order, a few at a time and one for each host.
///
/// Decisions only, without tasks, time and disk. A preload runs as long as its task does, which is longer than it is
/// wanted: one that fell out keeps its place among the running ones until its task has ended.
struct PreloadQueue: Sendable {
    /// A task that fetches.
    typealias Run = UInt64

    /// What is wanted.
    struct Wanted: Sendable {
        let key: CacheKey
        let request: OriginRequest
        let amount: PreloadAmount
    }

    /// What a preload does.
    enum Phase: Sendable {
        case queued
        case running(Run)
        /// All is stored, in entries under these keys.
        case done(Set<CacheKey>)
        case failed(RepriseError, at: Duration)
    }

    /// A preload.
    struct Item: Sendable {
        var wanted: Wanted
        var phase = Phase.queued
        /// Whether what runs is for another amount.
        var isOutdated = false
        /// Whether what runs asks with an earlier request.
        var hasNewRequest = false
        /// From when on a new list has it fetched again, because bytes of it have gone; `nil` if none have.
        var againFrom: Duration?
    }

    /// What must be done.
    enum Effect: Sendable {
        /// Fetch what is missing, as a task of that number.
        case start(Run, Wanted)
        /// End a task.
        case cancel(Run)
    }

    /// How a task ended.
    enum Ending: Sendable {
        /// All is stored, in entries under these keys.
        case done(Set<CacheKey>)
        /// It was canceled, or the cache is closing.
        case canceled
        case failed(RepriseError)
    }

    /// Preloads that run at once.
    static let width = 3
    /// How long one that failed, or was evicted, is left alone.
    static let pause = Duration.seconds(30)

    /// All preloads, the most wanted first.
    private(set) var items: [Item] = []
    /// The hosts of tasks that have not ended, canceled ones too.
    private(set) var runs: [Run: String] = [:]
    private var lastRun: Run = 0
    /// What the list goes with; `nil` if it stays until another one is set.
    private var owner: ObjectIdentifier?
    private var isStopped = false

    // MARK: - What is wanted

    /// Sets the list; of several for one key the first counts.
    ///
    /// What is not in it ends, and so does what runs while something else should. The rest goes on.
    mutating func set(_ wanted: [Wanted], of owner: ObjectIdentifier? = nil, at now: Duration) -> [Effect] {
        self.owner = owner
        let before = Dictionary(uniqueKeysWithValues: items.map { ($0.wanted.key, $0) })
        var seen: Set<CacheKey> = []
        items = wanted.filter { seen.insert($0.key).inserted }.map { wanted in
            guard let item = before[wanted.key] else { return Item(wanted: wanted) }
            return Self.updated(item, with: wanted, at: now)
        }
        let chosen = chosen
        var effects: [Effect] = before.values.compactMap { item in
            guard case .running(let run) = item.phase, !seen.contains(item.wanted.key) else { return nil }
            return .cancel(run)
        }
        for index in items.indices where !chosen.contains(index) {
            guard case .running(let run) = items[index].phase else { continue }
            items[index].phase = .queued
            effects.append(.cancel(run))
        }
        return effects + launch()
    }

    /// Ends the list of `owner`, unless another one has been set since.
    mutating func endList(of owner: ObjectIdentifier, at now: Duration) -> [Effect] {
        self.owner == owner ? set([], at: now) : []
    }

    private static func updated(_ item: Item, with wanted: Wanted, at now: Duration) -> Item {
        var item = item
        let isOther = item.wanted.amount != wanted.amount
        let isNewRequest = !wanted.request.asksLike(item.wanted.request)
        item.wanted = wanted
        switch item.phase {
        case .queued: break
        case .running:
            item.isOutdated = item.isOutdated || isOther
            item.hasNewRequest = item.hasNewRequest || isNewRequest
        case .done: if isOther || item.againFrom.map({ $0 <= now }) == true { item.phase = .queued }
        case .failed(let error, let time):
            if isOther || isNewRequest && error.mayEndWithRequest || now - time >= pause { item.phase = .queued }
        }
        return item
    }

    /// Those that should run, whatever does.
    private var chosen: Set<Int> {
        var chosen: Set<Int> = []
        var hosts: Set<String> = []
        for (index, item) in items.enumerated() where chosen.count < Self.width {
            switch item.phase {
            case .queued, .running: if hosts.insert(item.host).inserted { chosen.insert(index) }
            case .done, .failed: break
            }
        }
        return chosen
    }

    // MARK: - What happens

    /// A task has ended.
    mutating func end(_ run: Run, with ending: Ending, at now: Duration) -> [Effect] {
        runs[run] = nil
        let index = items.firstIndex { item in
            if case .running(run) = item.phase { true } else { false }
        }
        guard let index else { return launch() }
        switch ending {
        case _ where items[index].isOutdated: items[index].phase = .queued
        case .done(let files): items[index].phase = .done(files)
        case .canceled: items[index].phase = .queued
        case .failed(let error) where items[index].hasNewRequest && error.mayEndWithRequest:
            items[index].phase = .queued
        case .failed(let error): items[index].phase = .failed(error, at: now)
        }
        return launch()
    }

    /// Bytes of the entries under `keys` have gone; what needs them is fetched again when a list is set that has it.
    ///
    /// Those that were evicted wait for a while: a list for which there is no room would be fetched with each call.
    mutating func lose(_ keys: Set<CacheKey>, byEviction: Bool, at now: Duration) {
        let time = byEviction ? now + Self.pause : now
        for index in items.indices where items[index].needs(anyOf: keys) {
            items[index].againFrom = min(items[index].againFrom ?? time, time)
        }
    }

    /// Ends all tasks; nothing begins any more.
    mutating func stop() -> [Effect] {
        isStopped = true
        return runs.keys.map { .cancel($0) }
    }

    private mutating func launch() -> [Effect] {
        guard !isStopped else { return [] }
        var effects: [Effect] = []
        var hosts = Set(runs.values)
        for index in chosen.sorted() where runs.count < Self.width {
            guard case .queued = items[index].phase, hosts.insert(items[index].host).inserted else { continue }
            lastRun += 1
            runs[lastRun] = items[index].host
            items[index] = Item(wanted: items[index].wanted, phase: .running(lastRun))
            effects.append(.start(lastRun, items[index].wanted))
        }
        return effects
    }
}

extension PreloadQueue.Item {
    /// The host that is asked, with its port.
    var host: String { wanted.request.url.authority }

    /// Whether bytes of one of `keys` are stored for it; of what runs, only its own key is known.
    fileprivate func needs(anyOf keys: Set<CacheKey>) -> Bool {
        switch phase {
        case .running: keys.contains(wanted.key)
        case .done(let files): keys.contains(wanted.key) || !files.isDisjoint(with: keys)
        case .queued, .failed: false
        }
    }
}

extension OriginRequest {
    /// Whether the origin would be asked for the same, as the same person and over the same networks.
    fileprivate func asksLike(_ other: OriginRequest) -> Bool {
        url == other.url && fields == other.fields && networkPolicy == other.networkPolicy
    }
}

extension RepriseError {
    /// Whether another request may succeed: not where the origin cannot be reached, or is busy.
    fileprivate var mayEndWithRequest: Bool { code == .networkUnavailable || Download.Obstacle(self) != .network }
}
