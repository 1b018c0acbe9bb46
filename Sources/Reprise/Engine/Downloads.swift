import ByteRanges
import Locks

/// Downloads resources until they are complete, two at a time.
///
/// The lock is a leaf.
final class Downloads: Sendable {
    /// Downloads that run at once; more would take bandwidth from playback.
    private static let width = 2

    private weak let engine: Engine?
    private struct State {
        /// All downloads that have not ended, including canceled ones.
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The current task for each key; a canceled one may end long after the next has begun.
        var current: [CacheKey: UInt64] = [:]
        var waiting: [(key: CacheKey, request: OriginRequest)] = []
        var lastNumber: UInt64 = 0
        var resumption: Task<Void, Never>?
        var isStopped = false
    }
    private let state = Mutex(State())

    init(engine: Engine) { self.engine = engine }

    /// Resumes the downloads that an earlier process began and did not finish.
    func resume(_ store: Store) {
        let task = Task(executorPreference: DiskExecutor.shared) { [weak self] in
            do throws(RepriseError) {
                for hold in try store.index.unfinishedDownloads() {
                    self?.start(hold.key, OriginRequest(url: hold.url))
                }
            } catch {
                store.reporter.tell(.storeBypassed(nil, reason: error.description))
            }
        }
        state.withLock { $0.resumption = task }
    }

    /// Fetches the missing bytes of `key`, unless that is under way.
    func start(_ key: CacheKey, _ request: OriginRequest) {
        state.withLock { state in
            guard !state.isStopped, state.current[key] == nil, !state.waiting.contains(where: { $0.key == key }) else {
                return
            }
            state.waiting.append((key, request))
            launch(&state)
        }
    }

    private func launch(_ state: inout State) {
        while !state.isStopped, state.tasks.count < Self.width, !state.waiting.isEmpty {
            let (key, request) = state.waiting.removeFirst()
            state.lastNumber += 1
            let number = state.lastNumber
            state.current[key] = number
            state.tasks[number] = Task(executorPreference: DiskExecutor.shared) { [weak self] in
                await self?.run(key, request)
                self?.end(number, key)
            }
        }
    }

    private func end(_ number: UInt64, _ key: CacheKey) {
        state.withLock { state in
            state.tasks[number] = nil
            if state.current[key] == number { state.current[key] = nil }
            launch(&state)
        }
    }

    func cancel(_ key: CacheKey) {
        let task = state.withLock { state in
            state.waiting.removeAll { $0.key == key }
            return state.current.removeValue(forKey: key).flatMap { state.tasks[$0] }
        }
        task?.cancel()
    }

    func cancel() {
        let tasks = state.withLock { state in
            state.isStopped = true
            state.waiting = []
            return Array(state.tasks.values) + (state.resumption.map { [$0] } ?? [])
        }
        for task in tasks { task.cancel() }
    }

    /// Ends all downloads and keeps the bytes that have arrived.
    func stop() async {
        cancel()
        let tasks = state.withLock { Array($0.tasks.values) + ($0.resumption.map { [$0] } ?? []) }
        for task in tasks { await task.value }
    }

    private func run(_ key: CacheKey, _ request: OriginRequest) async {
        guard let engine else { return }
        do {
            try await Self.fetch(key, request, engine)
            engine.reporter.tell(.downloadEnded(key, error: nil))
        } catch is CancellationError {
            // Released, or the cache is closing: bytes that arrived are kept.
        } catch {
            engine.reporter.tell(.downloadEnded(key, error: error as? RepriseError))
        }
    }

    /// Reads the whole representation, which fetches the missing bytes.
    ///
    /// Throws as soon as it turns out that the bytes cannot be stored: no reader needs them.
    private static func fetch(_ key: CacheKey, _ request: OriginRequest, _ engine: Engine) async throws {
        guard let store = engine.store else { throw RepriseError(.storageUnavailable, "There is no store.") }
        let core = try engine.resource(key)
        var request = request
        request.demand = .download
        // Before anything is fetched or evicted for it.
        if let known = try await core.stored(for: request), let length = known.information.completeLength,
            let obstacle = store.obstacle(toStoring: length, stored: known.storedRanges.byteCount, isKept: true)
        {
            throw prevented(by: obstacle, length)
        }
        let read = try await core.open(ReadRequest(range: nil, origin: request, storesOnlyWhole: true))
        defer { read.cancel() }
        if read.passedThrough != nil { throw RepriseError(.notStored, "The response must not be stored.") }
        while true {
            if read.isPastStore { throw bypassed(read, key, engine, store) }
            try Task.checkCancellation()
            guard try await read.next() != nil else { break }
        }
        try Task.checkCancellation()
        if let generation = core.liveGeneration(for: request), !isWhole(generation) {
            throw bypassed(read, key, engine, store)
        }
    }

    private static func isWhole(_ generation: LiveGeneration) -> Bool {
        guard let length = generation.information.completeLength else { return false }
        return generation.storedRanges.contains(0..<length)
    }

    private static func prevented(by obstacle: StorageObstacle, _ length: Int64?) -> RepriseError {
        var code = RepriseError.Code.storageFull
        if case .store = obstacle { code = .storageUnavailable }
        return RepriseError(code, obstacle.description, range: length.map { 0..<$0 })
    }

    /// Why the bytes bypass the store.
    private static func bypassed(
        _ read: MediaRead, _ key: CacheKey, _ engine: Engine, _ store: Store
    ) -> RepriseError {
        let length = read.information.completeLength
        if let obstacle = store.obstacle(toStoring: length, isKept: true) { return prevented(by: obstacle, length) }
        let reason = store.refusal(of: length)
        let missing = (length ?? 0) - read.servedBytes(from: .store)
        // It would fit: something else prevents it, such as a folder that cannot be written.
        if reason == nil, length != nil, store.quota.shortage(max(missing, 1)) <= 0,
            let reason = engine.reporter.bypassReason(of: key)
        {
            return RepriseError(.storageUnavailable, reason)
        }
        return RepriseError(
            .storageFull, reason ?? store.noRoomReason(for: max(missing, 1)), range: length.map { 0..<$0 })
    }
}
