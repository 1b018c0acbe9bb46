import ByteRanges
import Locks

/// Fetches what is to be whole until it is, two at a time.
///
/// The lock is a leaf.
final class Downloads: Sendable {
    /// Downloads that run at once: more would take the bandwidth from what is being played.
    private static let width = 2

    private weak let engine: Engine?
    private struct State {
        /// All that have not ended, those among them that were cancelled.
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The task that counts for each key: one that was cancelled may end long after the next has begun.
        var current: [CacheKey: UInt64] = [:]
        var waiting: [(key: CacheKey, request: OriginRequest)] = []
        var lastNumber: UInt64 = 0
        var resumption: Task<Void, Never>?
        var isStopped = false
    }
    private let state = Mutex(State())

    init(engine: Engine) { self.engine = engine }

    /// Goes on with what an earlier process began and did not end.
    func resume(_ store: Store) {
        let task = Task(executorPreference: DiskExecutor.shared) { [weak self] in
            do throws(RepriseError) {
                for hold in try store.catalogue.unfinishedDownloads() {
                    self?.start(hold.key, OriginRequest(url: hold.url))
                }
            } catch {
                store.journal.tell(.storeBypassed(nil, reason: error.description))
            }
        }
        state.withLock { $0.resumption = task }
    }

    /// Fetches what is missing of `key`, unless that is under way.
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

    /// Ends all, keeping what has arrived.
    func stop() async {
        cancel()
        let tasks = state.withLock { Array($0.tasks.values) + ($0.resumption.map { [$0] } ?? []) }
        for task in tasks { await task.value }
    }

    private func run(_ key: CacheKey, _ request: OriginRequest) async {
        guard let engine else { return }
        do {
            try await Self.fetch(key, request, engine)
            engine.journal.tell(.downloadEnded(key, error: nil))
        } catch is CancellationError {
            // Released, or the cache closes: what arrived is kept.
        } catch {
            engine.journal.tell(.downloadEnded(key, error: error as? RepriseError))
        }
    }

    /// Reads all of it, which fetches what is missing.
    ///
    /// Throws as soon as it turns out that it cannot be stored: nobody else wants the bytes.
    private static func fetch(_ key: CacheKey, _ request: OriginRequest, _ engine: Engine) async throws {
        guard let store = engine.store else { throw RepriseError(.storageUnavailable, "There is no store.") }
        let core = try engine.resource(key)
        var request = request
        request.demand = .download
        let read = try await core.open(ReadRequest(range: nil, origin: request))
        defer { read.cancel() }
        if read.passedThrough != nil { throw RepriseError(.notStored, "The response must not be stored.") }
        if let length = read.information.completeLength, length > store.quota.limit { throw tooLarge(length, store) }
        while true {
            if read.isPastStore { throw bypassed(read, store) }
            try Task.checkCancellation()
            guard try await read.next() != nil else { break }
        }
        try Task.checkCancellation()
        if let generation = core.liveGeneration(for: request), !isWhole(generation) { throw bypassed(read, store) }
    }

    private static func isWhole(_ generation: GenerationCore) -> Bool {
        guard let length = generation.information.completeLength else { return false }
        return generation.storedRanges.contains(0..<length)
    }

    private static func tooLarge(_ length: Int64, _ store: Store) -> RepriseError {
        RepriseError(
            .storageFull, "It has \(length) bytes, and the cache's limit is \(store.quota.limit): raise the limit.",
            range: 0..<length)
    }

    /// Why the bytes go past the store.
    private static func bypassed(_ read: MediaRead, _ store: Store) -> RepriseError {
        let reason = store.refusal(of: read.information.completeLength)
        if let failure = store.breaker.reason { return RepriseError(.storageUnavailable, reason ?? failure) }
        let length = read.information.completeLength
        let missing = (length ?? 0) - read.servedBytes(from: .store)
        return RepriseError(
            .storageFull, reason ?? store.noRoomReason(for: max(missing, 1)), range: length.map { 0..<$0 })
    }
}
