import ByteRanges
import HTTPSemantics
import HTTPTypes
import Locks

/// A live resource: which generation is current, whether it may be used, and which opening is finding that out.
///
/// The first read of an unknown resource leads: its request is the probe. All others wait for the head of that one
/// response (a collapsed request, RFC 9111 §4); the same holds when a stale generation has to be validated. A resource
/// whose responses vary with the request is only a signpost: each variant is a resource of its own, under a key that
/// names it.
///
/// Lock order: `state` before a generation's lock.
final class LiveResource: Sendable {
    enum Phase {
        /// Not loaded; the index may have a record.
        case unloaded
        /// The index has nothing, or what it had is no longer current.
        case unknown
        /// The one current generation.
        case known(LiveGeneration)
        /// Responses must not be stored; requests bypass the store until then.
        case bypass(until: Duration)
        /// The request fields that select the response.
        case varies(Vary)
        /// The origin has no media here; its answer is kept for a while.
        case answered(CachedRefusal)
    }

    struct State {
        var phase = Phase.unloaded
        var opening: Lookup?
        /// Whether a background validation is under way.
        var isRevalidating = false
        /// A part for a hole arrived but could not be joined; next time the whole is requested at once.
        var isGapFutile = false
        /// It was removed from the table: another core has the key now, or will have it.
        var isDetached = false
        /// It was read since the table last checked.
        var wasUsed = false

        var generation: LiveGeneration? {
            if case .known(let generation) = phase { generation } else { nil }
        }
        /// Whether no reader, fetch or opening uses it.
        var isIdle: Bool { opening == nil && generation?.isIdle != false }
    }

    let key: CacheKey
    let engine: Engine
    /// The resource that this one is a variant of.
    let signpost: LiveResource?
    let state = Mutex(State())

    init(key: CacheKey, engine: Engine, signpost: LiveResource? = nil) {
        self.key = key
        self.engine = engine
        self.signpost = signpost
    }

    var policy: ReusePolicy { engine.configuration.reuse }
    var reporter: Reporter { engine.reporter }
    /// The wall clock, in seconds since 1970.
    var now: Int64 { Int64(engine.configuration.clock.now()) }

    // MARK: - State seen from outside

    var liveGeneration: LiveGeneration? { state.withLock { $0.generation } }

    /// The generation in memory that answers `request`.
    func liveGeneration(for request: OriginRequest) -> LiveGeneration? {
        let vary = state.withLock { state in
            if case .varies(let vary) = state.phase { vary } else { nil as Vary? }
        }
        guard let vary else { return liveGeneration }
        return engine.liveResource(key.selection(by: vary, for: request))?.liveGeneration
    }

    /// When a core may be removed from the table.
    enum Detachment {
        case always
        /// No reader, fetch or opening uses it.
        case ifUnused
        /// As ``ifUnused``, and the index has all of it.
        case ifRecorded
    }

    /// Retires this core if allowed, because only one at a time may use the generation's file.
    ///
    /// Readers that still hold it are sent on to the next one.
    func detach(_ when: Detachment) -> Bool {
        let generation: LiveGeneration?? = state.withLock { state in
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

    /// Ends this core because the cache closes; returns the generation, whose stored bytes its readers can still read.
    func end() -> LiveGeneration? {
        state.withLock { state in
            state.isDetached = true
            return state.generation
        }
    }

    /// Whether something of it is stored, or its responses are known to vary.
    var isKnown: Bool {
        state.withLock { state in
            switch state.phase {
            case .known, .varies: true
            case .unloaded, .unknown, .bypass, .answered: false
            }
        }
    }

    /// Whether the index was consulted, so that memory has the complete state.
    var knowsWhatIsStored: Bool {
        state.withLock { state in
            switch state.phase {
            case .known, .unknown, .bypass, .answered: true
            case .unloaded, .varies: false
            }
        }
    }

    /// Whether it was used since the last call.
    func takeUse() -> Bool {
        state.withLock { state in
            defer { state.wasUsed = false }
            return state.wasUsed
        }
    }

    var isDetached: Bool { state.withLock { $0.isDetached } }

    var isIdle: Bool { state.withLock { $0.isIdle } }

    /// The core that has the key now.
    func current() throws(RepriseError) -> LiveResource {
        guard isDetached else { return self }
        return try engine.resource(key, signpost: try signpost?.current())
    }

    /// The beginning of `spec`, at most `count` bytes, if all of `spec` is stored, verified, and usable without asking
    /// the origin.
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

    /// The metadata, if a request with these directives may be answered without asking the origin.
    func usableInformation(_ directives: CacheControl) -> ContentInformation? {
        guard let generation = liveGeneration, !generation.isFrozen, generation.reuse(for: directives) == .serve else {
            return nil
        }
        return generation.information
    }

    /// The generation that answers `request`, loaded from the index if necessary; does not ask the origin.
    func stored(for request: OriginRequest) async throws -> LiveGeneration? {
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
        case found(LiveGeneration?)
        case selection(Vary)
        case follow(Lookup)
        case load(Lookup)
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
                let opening = Lookup(asking: request, isShared: policy.isShared)
                state.opening = opening
                return .load(opening)
            }
        }
    }

    func finish(_ opening: Lookup, _ result: Result<Lookup.Found, RepriseError>) {
        state.withLock { $0.opening = nil }
        opening.finish(result)
    }
}
