import ByteRanges
import Locks

/// Fetches what is to be whole until it is.
///
/// The lock is a leaf.
final class Downloads: Sendable {
    private weak let engine: Engine?
    private struct State {
        var tasks: [CacheKey: Task<Void, Never>] = [:]
        var isStopped = false
    }
    private let state = Mutex(State())

    init(engine: Engine) { self.engine = engine }

    /// Goes on with what an earlier process began.
    func resume(_ store: Store) {
        let holds = (try? store.catalogue.holds()) ?? []
        for hold in holds where hold.retention == .download { start(hold.key, OriginRequest(url: hold.url)) }
    }

    /// Fetches what is missing of `key`, unless that is under way.
    func start(_ key: CacheKey, _ request: OriginRequest) {
        state.withLock { state in
            guard !state.isStopped, state.tasks[key] == nil else { return }
            state.tasks[key] = Task { [weak self] in
                await self?.run(key, request)
                self?.state.withLock { _ = $0.tasks.removeValue(forKey: key) }
            }
        }
    }

    func cancel(_ key: CacheKey) { state.withLock { $0.tasks[key] }?.cancel() }

    func cancel() {
        for task in state.withLock({ state in
            state.isStopped = true
            return Array(state.tasks.values)
        }) { task.cancel() }
    }

    /// Ends all, keeping what has arrived.
    func stop() async {
        cancel()
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    private func run(_ key: CacheKey, _ request: OriginRequest) async {
        guard let engine else { return }
        do {
            let failure = try await Self.fetch(key, request, engine)
            engine.journal.tell(.downloadEnded(key, error: failure))
        } catch is CancellationError {
            // Released, or the cache closes: what arrived is kept.
        } catch {
            engine.journal.tell(.downloadEnded(key, error: error as? RepriseError))
        }
    }

    /// Reads all of it, which fetches what is missing; returns why it is not whole, if it is not.
    private static func fetch(_ key: CacheKey, _ request: OriginRequest, _ engine: Engine) async throws -> RepriseError?
    {
        let core = try engine.resource(key)
        let read = try await core.open(ReadRequest(range: nil, origin: request))
        while try await read.next() != nil { try Task.checkCancellation() }
        try Task.checkCancellation()
        let isWhole = core.liveGeneration.map(isWhole) ?? (read.disposition != .bypass)
        return isWhole ? nil : RepriseError(.storageFull, engine.store?.noRoomReason ?? "There is no store.")
    }

    private static func isWhole(_ generation: GenerationCore) -> Bool {
        guard let length = generation.information.completeLength else { return false }
        return generation.storedRanges.contains(0..<length)
    }
}
