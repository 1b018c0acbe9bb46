import ByteRanges
import HTTPSemantics
import HTTPTypes
import Locks

/// One resource: which generation is current, and who is finding that out.
///
/// The first read of an unknown resource leads: its request is the probe. Everybody else waits for the head of that one
/// response (a collapsed request, RFC 9111 §4). Lock order: `state` before a generation's lock.
final class ResourceCore: Sendable {
    private enum Phase {
        /// Nothing is in memory; the catalogue may know more.
        case unloaded
        /// The catalogue knows nothing, or what it knew no longer holds.
        case unknown
        /// The one current generation.
        case known(GenerationCore)
        /// Responses must not be stored; requests go straight through until then.
        case bypass(until: Duration)
    }

    private struct State {
        var phase = Phase.unloaded
        var opening: Opening?
    }

    let key: CacheKey
    private let engine: Engine
    private let state = Mutex(State())
    /// How long a resource whose response must not be stored is asked for without collapsing.
    private static let bypassTime = Duration.seconds(10)

    init(key: CacheKey, engine: Engine) {
        self.key = key
        self.engine = engine
    }

    // MARK: - State seen from outside

    var liveGeneration: GenerationCore? {
        state.withLock { state in
            if case .known(let generation) = state.phase { generation } else { nil }
        }
    }

    /// Nobody reads, fills or opens it.
    var isUnused: Bool { state.withLock { $0.opening == nil } && liveGeneration?.isIdle != false }
    /// Unused, and the catalogue knows all of it.
    var isDisposable: Bool { isUnused && liveGeneration?.ledger.hasUnrecorded != true }

    func markRemoved() {
        liveGeneration?.markRemoved()
    }

    /// All of `spec`, if it is stored and verified.
    ///
    /// Never waits.
    func storedRegion(_ spec: RangeSpec?) -> (region: StoredRegion, information: ContentInformation)? {
        liveGeneration?.storedRegion(spec)
    }

    // MARK: - Opening

    private enum Decision {
        case use(GenerationCore)
        case lead(Opening, replacing: GenerationCore?)
        case follow(Opening)
        case bypass
    }

    /// Begins a read.
    ///
    /// Throws ``RepriseError``: `rangeNotSatisfiable`, `originRefused`, any `origin…` code.
    func open(_ spec: RangeSpec?, request: OriginRequest) async throws -> MediaRead {
        var unusable: GenerationCore?
        while true {
            try Task.checkCancellation()
            switch decide(unusable) {
            case .use(let generation):
                if let opened = try generation.openReader(spec, request: request) {
                    return MediaRead(opened, generation: generation, resource: self, request: request)
                }
                unusable = generation
            case .lead(let opening, let replaced):
                if let read = try await lead(opening, spec, request, replacing: replaced) { return read }
            case .follow(let opening): try await opening.wait()
            case .bypass: return try await openDirect(spec, request)
            }
        }
    }

    private func decide(_ unusable: GenerationCore?) -> Decision {
        state.withLock { state in
            if let opening = state.opening { return .follow(opening) }
            var replaced: GenerationCore?
            switch state.phase {
            case .known(let generation):
                guard generation === unusable || generation.isFrozen else { return .use(generation) }
                replaced = generation
            case .bypass(let until) where engine.configuration.clock.elapsed() < until: return .bypass
            case .unloaded, .unknown, .bypass: break
            }
            let opening = Opening()
            state.opening = opening
            return .lead(opening, replacing: replaced)
        }
    }

    /// Runs the opening in a task of its own: the leader may leave while followers wait.
    private func lead(
        _ opening: Opening, _ spec: RangeSpec?, _ request: OriginRequest, replacing replaced: GenerationCore?
    ) async throws -> MediaRead? {
        let task = Task(executorPreference: DiskExecutor.shared) {
            do {
                let read = try await self.find(spec, request, replacing: replaced)
                self.finish(opening, .success(()))
                return read
            } catch {
                let shared = (error as? RepriseError).map { $0.code == .rangeNotSatisfiable ? nil : $0 } ?? nil
                self.finish(opening, shared.map { .failure($0) } ?? .success(()))
                throw error
            }
        }
        // A leader that leaves does not break the request off: the head settles what the resource is, and what has arrived
        // is stored.
        do { try await opening.wait() } catch is CancellationError { throw CancellationError() } catch {}
        return try await task.value
    }

    private func finish(_ opening: Opening, _ result: Result<Void, RepriseError>) {
        state.withLock { $0.opening = nil }
        opening.finish(result)
    }

    /// Loads what the catalogue knows, or asks the origin.
    ///
    /// `nil` = ask again, something is known now.
    private func find(
        _ spec: RangeSpec?, _ request: OriginRequest, replacing replaced: GenerationCore?
    ) async throws -> MediaRead? {
        let isUnloaded = state.withLock { state in
            if case .unloaded = state.phase { true } else { false }
        }
        if isUnloaded, try await load() { return nil }
        let exchange = try await exchange(spec, request)
        guard case .newGeneration(let placement, _) = exchange.action, let store = engine.store,
            placement.completeLength ?? 0 <= store.quota.limit
        else {
            if case .passThrough = exchange.action {
                state.withLock { $0.phase = .bypass(until: engine.configuration.clock.elapsed() + Self.bypassTime) }
            }
            return try MediaRead(exchange, spec: spec, resource: self, request: request)
        }
        let generation: GenerationCore
        do throws(RepriseError) {
            generation = try begin(exchange, placement, request.url, store)
        } catch {
            engine.journal.tell(.storeBypassed(key, reason: error.description))
            return try MediaRead(exchange, spec: spec, resource: self, request: request)
        }
        if let replaced { await retire(replaced, store) }
        state.withLock { $0.phase = .known(generation) }
        let opened = try generation.adopt(
            FetchResponse(response: exchange.response, placement: placement), spec: spec, request: request)
        store.recorder.noteUse(key)
        guard let opened else { throw GenerationCore.notSatisfiable(placement.completeLength ?? 0) }
        return MediaRead(opened, generation: generation, resource: self, request: request)
    }

    private func load() async throws -> Bool {
        guard let store = engine.store, let (record, chunks) = try store.catalogue.generation(for: key) else {
            state.withLock { $0.phase = .unknown }
            return false
        }
        guard let file = try? DataFile(path: store.path(keyHash: key.hash, generation: record.id), create: false) else {
            // A record without its file: forget it, so that it no longer counts.
            store.quota.release(try await store.recorder.remove(generation: record.id))
            state.withLock { $0.phase = .unknown }
            return false
        }
        let generation = make(record, file, ChunkLedger(blocks: chunks), store)
        state.withLock { $0.phase = .known(generation) }
        return true
    }

    private func begin(
        _ exchange: Exchange, _ placement: BodyPlacement, _ url: ResourceURL, _ store: Store
    ) throws(RepriseError) -> GenerationCore {
        let record = GenerationRecord(
            id: Int64.random(in: .min ... .max), key: key, url: url,
            fields: exchange.response.head.headerFields.endToEnd,
            completeLength: placement.completeLength, rangesSupported: placement.rangesSupported,
            finalHost: exchange.response.url.authority, requestTime: exchange.requestTime,
            responseTime: Int64(engine.configuration.clock.now()))
        let file = try DataFile(path: store.path(keyHash: key.hash, generation: record.id), create: true)
        return make(record, file, ChunkLedger(), store)
    }

    private func make(_ record: GenerationRecord, _ file: DataFile, _ ledger: ChunkLedger, _ store: Store)
        -> GenerationCore
    {
        GenerationCore(record: record, file: file, ledger: ledger, engine: engine, store: store) { [weak self] old, _ in
            self?.forget(old)
        }
    }

    /// The origin has another representation: the next read asks afresh.
    private func forget(_ generation: GenerationCore) {
        let isCurrent = state.withLock { state in
            guard case .known(let current) = state.phase, current === generation else { return false }
            state.phase = .unknown
            return true
        }
        guard isCurrent, let store = engine.store else { return }
        Task(executorPreference: DiskExecutor.shared) { await self.retire(generation, store) }
    }

    /// Removes a generation that another replaces.
    ///
    /// Its readers keep the open file and finish from what is stored.
    private func retire(_ generation: GenerationCore, _ store: Store) async {
        generation.markRemoved()
        do {
            let recorded = try await store.recorder.remove(generation: generation.id)
            store.quota.release(max(recorded, generation.storedRanges.byteCount))
        } catch {
            engine.journal.tell(.storeBypassed(key, reason: error.description))
        }
        Files.remove(store.path(keyHash: key.hash, generation: generation.id))
    }

    // MARK: - The origin

    /// A response and what it is good for.
    struct Exchange: Sendable {
        let response: OriginResponse
        let requestTime: Int64
        let action: ResponseAction
    }

    /// Asks the origin as the reader asked us, and retries what a retry can help.
    func exchange(_ spec: RangeSpec?, _ request: OriginRequest) async throws -> Exchange {
        var budget = RetryBudget(engine.configuration.retry)
        var spec = spec
        while true {
            do {
                let (response, time) = try await engine.send(request, range: spec, ifRange: nil)
                let action = validate(
                    FetchRequest(range: spec), against: nil, policy: engine.configuration.generationPolicy,
                    response: response.head)
                switch action {
                case .fill(let placement):
                    return Exchange(
                        response: response, requestTime: time, action: .newGeneration(placement, .noGeneration))
                case .newGeneration, .passThrough:
                    return Exchange(response: response, requestTime: time, action: action)
                case .retryWithoutRange where spec != nil:
                    response.body.cancel()
                    spec = nil
                default: try await refuse(action, response, request.url)
                }
            } catch let error as RepriseError {
                guard let delay = budget.delay(after: error, bytes: 0) else { throw error }
                engine.journal.tell(.fetchRetried(key, after: delay, error: error))
                try await engine.configuration.clock.sleep(delay)
            }
        }
    }

    func head(_ request: OriginRequest) async throws -> HTTPResponse {
        engine.journal.count { $0.originRequests += 1 }
        let response = try await engine.origin.send(request)
        response.body.cancel()
        return response.head
    }

    private func refuse(_ action: ResponseAction, _ response: OriginResponse, _ url: ResourceURL) async throws -> Never
    {
        switch action {
        case .refusal:
            let refusal = try await OriginRefusal.collect(response)
            throw RepriseError(
                .originRefused, "The origin answered \(response.head.status.code) for \(url.redacted).",
                refusal: refusal)
        case .unsatisfiable(let length):
            let refusal = try await OriginRefusal.collect(response)
            throw RepriseError(
                .rangeNotSatisfiable, "The range lies outside the representation.", range: length.map { 0..<$0 },
                refusal: refusal)
        default:
            response.body.cancel()
            throw RepriseError(.originMisbehaved, "The origin's response cannot be used: \(action).")
        }
    }

    /// A read past the store.
    private func openDirect(_ spec: RangeSpec?, _ request: OriginRequest) async throws -> MediaRead {
        try MediaRead(try await exchange(spec, request), spec: spec, resource: self, request: request)
    }

    /// A response for exactly the rest of a read whose store gave out; it must continue the same generation.
    func resumeDirect(
        _ generation: GenerationCore, from: Int64, to: Int64?, request: OriginRequest
    ) async throws -> DirectStream {
        let record = generation.record
        let spec: RangeSpec = to.map { .bounded(from..<$0) } ?? .from(from)
        let ifRange = record.identity.validators.ifRangeValue
        let (response, _) = try await engine.send(request, range: spec, ifRange: ifRange)
        let sent = FetchRequest(range: spec, sentIfRange: ifRange != nil)
        let action = validate(sent, against: record.identity, policy: .immutable, response: response.head)
        guard case .fill(let placement) = action else {
            response.body.cancel()
            throw RepriseError(
                .validatorChanged, "The file changed at the origin while it was being read. Open it again.")
        }
        return DirectStream(
            response, start: placement.start, from: from, to: to, expectedEnd: placement.end, journal: journal)
    }

    var journal: Journal { engine.journal }
}

/// The wait for the head of the response that tells what a resource is.
///
/// Its lock is a leaf.
final class Opening: Sendable {
    private struct State {
        var result: Result<Void, RepriseError>?
        var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Returns when the opening is over; throws its error.
    func wait() async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let result = state.result { return result.mapError { $0 } }
                    state.waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    func finish(_ result: Result<Void, RepriseError>) {
        let waiters = state.withLock { state in
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume(with: result.mapError { $0 as any Error }) }
    }
}
