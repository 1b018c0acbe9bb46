import Primitives

/// What a cache stores because it may be played soon: one wanted list, which ``MediaCache/preload(_:current:amount:)``
/// sets.
///
/// Three resources at a time, one for each host, the nearest first. They fetch only holes, are joined by a player that
/// starts, and pause while a player waits for bytes of the same origin (``Demand``). What they store is evicted like
/// everything else. Nothing is remembered when the cache closes.
public final class Preloads: Sendable {
    private weak let engine: Engine?
    private let clock: CacheClock

    private struct State {
        var queue = PreloadQueue()
        var tasks: [PreloadQueue.Run: Task<Void, Never>] = [:]
    }
    /// A leaf lock.
    private let state = Mutex(State())
    /// Signals listeners; the key is always ``signal``.
    private let board = ProgressBoard()
    private static let signal = CacheKey("")

    init(engine: Engine) {
        self.engine = engine
        clock = engine.clock
    }

    /// What is preloaded, the nearest first.
    public var list: [Preload] {
        state.withLock { $0.queue.items }.map { item in
            let wanted = item.wanted
            return Preload(
                key: wanted.key, url: wanted.request.url, amount: wanted.amount, state: Preload.State(item.phase))
        }
    }

    /// ``list`` now and after each change, at most once per `interval`; 250 ms by default.
    ///
    /// Changes that occur while the consumer is busy are merged. Ends when the cache is closed.
    public func updates(every interval: Duration = .milliseconds(250)) -> Updates<[Preload]> {
        Updates(
            every: interval, clock: clock, changes: { [board] in board.changes(of: Self.signal) },
            value: { [self] _ in list })
    }

    // MARK: - For the cache

    func set(_ wanted: [PreloadQueue.Wanted], of owner: ObjectIdentifier?) {
        apply { $0.set(wanted, of: owner, at: $1) }
    }

    /// Ends what was set for `owner`, unless something else has been set since.
    func endList(of owner: ObjectIdentifier) { apply { $0.endList(of: owner, at: $1) } }

    /// Bytes of the entries under `keys` have gone.
    func lose(_ keys: Set<CacheKey>, byEviction: Bool) {
        let now = clock.elapsed()
        state.withLock { $0.queue.lose(keys, byEviction: byEviction, at: now) }
    }

    /// Nothing begins any more, and what runs ends soon.
    func cancel() {
        apply { queue, _ in queue.stop() }
        board.finish()
    }

    /// Ends all preloads and keeps the bytes that have arrived.
    func stop() async {
        cancel()
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    // MARK: - Running

    private func apply(_ change: (inout PreloadQueue, Duration) -> [PreloadQueue.Effect]) {
        let now = clock.elapsed()
        let canceled = state.withLock { state in
            var canceled: [Task<Void, Never>] = []
            for effect in change(&state.queue, now) {
                switch effect {
                case .start(let run, let wanted): launch(run, of: wanted, in: &state)
                case .cancel(let run): if let task = state.tasks[run] { canceled.append(task) }
                }
            }
            return canceled
        }
        for task in canceled { task.cancel() }
        board.changed(Self.signal)
    }

    private func launch(_ run: PreloadQueue.Run, of wanted: PreloadQueue.Wanted, in state: inout State) {
        state.tasks[run] = Task(priority: .userInitiated) { [weak self] in
            let ending = await self?.ending(of: wanted) ?? .canceled
            self?.end(run, with: ending)
        }
    }

    private func ending(of wanted: PreloadQueue.Wanted) async -> PreloadQueue.Ending {
        guard let engine else { return .canceled }
        do {
            let run = PreloadRun(key: wanted.key, request: wanted.request, amount: wanted.amount, engine: engine)
            return .done(Set(try await run.fetch().keys))
        } catch is CancellationError {
            return .canceled
        } catch {
            return .failed(error as? RepriseError ?? RepriseError(.storageUnavailable, "\(error)"))
        }
    }

    private func end(_ run: PreloadQueue.Run, with ending: PreloadQueue.Ending) {
        state.withLock { $0.tasks[run] = nil }
        apply { $0.end(run, with: ending, at: $1) }
    }
}

extension Preload.State {
    init(_ phase: PreloadQueue.Phase) {
        self =
            switch phase {
            case .queued: .queued
            case .running: .running
            case .done: .done
            case .failed(let error, _): .failed(error)
            }
    }
}
