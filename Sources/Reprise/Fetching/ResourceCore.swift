import ByteRanges
import HTTPSemantics
import HTTPTypes
import Locks

/// One resource: which generation is current, whether it may be used, and who is finding that out.
///
/// The first read of an unknown resource leads: its request is the probe. Everybody else waits for the head of that one
/// response (a collapsed request, RFC 9111 §4); the same holds when a stale generation has to be validated. A resource
/// whose responses vary with the request is only a signpost: each selection is a resource of its own, under a key that
/// names it.
///
/// Lock order: `state` before a generation's lock.
final class ResourceCore: Sendable {
    enum Phase {
        /// Nothing is in memory; the catalogue may know more.
        case unloaded
        /// The catalogue knows nothing, or what it knew no longer holds.
        case unknown
        /// The one current generation.
        case known(GenerationCore)
        /// Responses must not be stored; requests go straight through until then.
        case bypass(until: Duration)
        /// Which request fields select the response.
        case varies(Vary)
        /// The origin has no media here; what it said is kept for a while.
        case answered(StoredAnswer)
    }

    struct State {
        var phase = Phase.unloaded
        var opening: Opening?
        /// A validation that nobody waits for is under way.
        var isRevalidating = false
        /// A part for a gap came that could not be joined: the next time the whole is asked for at once.
        var isGapFutile = false
        /// It was taken out of the table: another core has the key now, or will have it.
        var isDetached = false
        /// It was read since the table last looked.
        var wasUsed = false

        var generation: GenerationCore? {
            if case .known(let generation) = phase { generation } else { nil }
        }
        /// Nobody reads, fills or opens it.
        var isIdle: Bool { opening == nil && generation?.isIdle != false }
    }

    let key: CacheKey
    let engine: Engine
    /// The resource that this one is a selection of.
    let signpost: ResourceCore?
    let state = Mutex(State())

    init(key: CacheKey, engine: Engine, signpost: ResourceCore? = nil) {
        self.key = key
        self.engine = engine
        self.signpost = signpost
    }

    var policy: ReusePolicy { engine.configuration.reuse }
    var journal: Journal { engine.journal }
    /// The wall clock, in seconds since 1970.
    var now: Int64 { Int64(engine.configuration.clock.now()) }

    // MARK: - State seen from outside

    var liveGeneration: GenerationCore? { state.withLock { $0.generation } }

    /// The generation in memory that answers `request`.
    func liveGeneration(for request: OriginRequest) -> GenerationCore? {
        let vary = state.withLock { state in
            if case .varies(let vary) = state.phase { vary } else { nil as Vary? }
        }
        guard let vary else { return liveGeneration }
        return engine.liveResource(key.selection(by: vary, for: request))?.liveGeneration
    }

    /// When a core may be taken out of the table.
    enum Detachment {
        case always
        /// Nobody reads, fills or opens it.
        case ifUnused
        /// Nobody does, and the catalogue knows all of it.
        case ifRecorded
    }

    /// Ends this core if it may be: one at a time has the generation's file.
    ///
    /// Whoever still holds it is sent on to the next one.
    func detach(_ when: Detachment) -> Bool {
        let generation: GenerationCore?? = state.withLock { state in
            if when != .always {
                guard state.isIdle else { return nil }
                guard when != .ifRecorded || state.generation?.ledger.hasUnrecorded != true else { return nil }
            }
            state.isDetached = true
            return .some(state.generation)
        }
        guard let generation else { return false }
        generation?.markRemoved()
        return true
    }

    /// Ends this core because the cache closes; returns the generation, whose stored bytes its readers still get.
    func end() -> GenerationCore? {
        state.withLock { state in
            state.isDetached = true
            return state.generation
        }
    }

    /// Whether something of it is stored, or it is known that its responses vary.
    var isKnown: Bool {
        state.withLock { state in
            switch state.phase {
            case .known, .varies: true
            case .unloaded, .unknown, .bypass, .answered: false
            }
        }
    }

    /// Whether it was looked for in the index, so that what is stored of it is in memory, or nothing is.
    var knowsWhatIsStored: Bool {
        state.withLock { state in
            switch state.phase {
            case .known, .unknown, .bypass, .answered: true
            case .unloaded, .varies: false
            }
        }
    }

    /// Whether it was used since this was last asked.
    func takeUse() -> Bool {
        state.withLock { state in
            defer { state.wasUsed = false }
            return state.wasUsed
        }
    }

    var isDetached: Bool { state.withLock { $0.isDetached } }

    var isIdle: Bool { state.withLock { $0.isIdle } }

    /// The core that has the key now.
    func current() throws(RepriseError) -> ResourceCore {
        guard isDetached else { return self }
        return try engine.resource(key, signpost: try signpost?.current())
    }

    /// The beginning of `spec`, at most `count` bytes, if all of it is stored, verified, and may be used without asking.
    ///
    /// Never waits.
    func storedRegion(_ spec: RangeSpec?, atMost count: Int64, _ directives: CacheControl?) -> StoredHit? {
        let found = state.withLock { state in
            state.wasUsed = true
            return state.generation
        }
        guard let generation = found else { return nil }
        if let directives, generation.reuse(for: directives) != .serve { return nil }
        let isAlwaysUsable = policy.isOffline || engine.configuration.generationPolicy == .immutable
        return generation.storedRegion(spec, atMost: count, isUsable: directives != nil || isAlwaysUsable)
    }

    /// The generation, if a request with these directives may be answered with it without asking.
    func usableInformation(_ directives: CacheControl) -> ContentInformation? {
        guard let generation = liveGeneration, !generation.isFrozen, generation.reuse(for: directives) == .serve else {
            return nil
        }
        return generation.information
    }

    /// The generation that answers `request`, read from the catalogue if need be; asks nobody else.
    func stored(for request: OriginRequest) async throws -> GenerationCore? {
        while true {
            switch recall(request) {
            case .moved: return try await current().stored(for: request)
            case .found(let generation): return generation
            case .selection(let vary): return try await engine.selection(of: self, vary, request).stored(for: request)
            case .follow(let opening): _ = try await opening.wait(request)
            case .load(let opening):
                _ = await withTaskExecutorPreference(DiskExecutor.shared) { await load() }
                finish(opening, .success(.changed))
            }
        }
    }

    private enum Recall {
        case moved
        case found(GenerationCore?)
        case selection(Vary)
        case follow(Opening)
        case load(Opening)
    }

    private func recall(_ request: OriginRequest) -> Recall {
        state.withLock { state in
            if state.isDetached { return .moved }
            if let opening = state.opening { return .follow(opening) }
            switch state.phase {
            case .known(let generation): return .found(generation.isFrozen ? nil : generation)
            case .varies(let vary): return .selection(vary)
            case .unknown, .bypass, .answered: return .found(nil)
            case .unloaded:
                let opening = Opening(asking: request, isShared: policy.isShared)
                state.opening = opening
                return .load(opening)
            }
        }
    }

    func finish(_ opening: Opening, _ result: Result<Opening.Found, RepriseError>) {
        state.withLock { $0.opening = nil }
        opening.finish(result)
    }
}
