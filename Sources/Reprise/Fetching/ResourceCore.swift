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

    var liveGeneration: GenerationCore? {
        state.withLock { state in
            if case .known(let generation) = state.phase { generation } else { nil }
        }
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
            let generation: GenerationCore? = if case .known(let generation) = state.phase { generation } else { nil }
            if when != .always {
                guard state.opening == nil, generation?.isIdle != false else { return nil }
                guard when != .ifRecorded || generation?.ledger.hasUnrecorded != true else { return nil }
            }
            state.isDetached = true
            return .some(generation)
        }
        guard let generation else { return false }
        generation?.markRemoved()
        return true
    }

    var isDetached: Bool { state.withLock { $0.isDetached } }

    /// Nobody reads, fills or opens it.
    var isIdle: Bool {
        state.withLock { state in
            guard state.opening == nil else { return false }
            return if case .known(let generation) = state.phase { generation.isIdle } else { true }
        }
    }

    /// The core that has the key now.
    func current() throws(RepriseError) -> ResourceCore {
        guard isDetached else { return self }
        return try engine.resource(key, signpost: try signpost?.current())
    }

    /// All of `spec`, if it is stored, verified, and may be used without asking.
    ///
    /// Never waits.
    func storedRegion(_ spec: RangeSpec?, _ directives: CacheControl?)
        -> (region: StoredRegion, information: ContentInformation)?
    {
        guard let generation = liveGeneration else { return nil }
        if let directives, generation.reuse(for: directives) != .serve { return nil }
        let isAlwaysUsable = policy.isOffline || engine.configuration.generationPolicy == .immutable
        return generation.storedRegion(spec, isUsable: directives != nil || isAlwaysUsable)
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
            switch recall() {
            case .moved: return try await current().stored(for: request)
            case .found(let generation): return generation
            case .selection(let vary): return try await engine.selection(of: self, vary, request).stored(for: request)
            case .follow(let opening): _ = try await opening.wait()
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

    private func recall() -> Recall {
        state.withLock { state in
            if state.isDetached { return .moved }
            if let opening = state.opening { return .follow(opening) }
            switch state.phase {
            case .known(let generation): return .found(generation.isFrozen ? nil : generation)
            case .varies(let vary): return .selection(vary)
            case .unknown, .bypass, .answered: return .found(nil)
            case .unloaded:
                let opening = Opening()
                state.opening = opening
                return .load(opening)
            }
        }
    }

    // MARK: - Opening

    /// Why a reader leads.
    enum Errand {
        /// Nothing usable is known; `replacing` no longer is.
        case discover(replacing: GenerationCore?)
        /// What is stored is stale, or the request wants to know.
        case validate(GenerationCore, CacheStatus.ForwardReason)
    }

    private enum Decision {
        /// Another core has the key.
        case moved
        case use(GenerationCore)
        /// Use it, and validate it meanwhile.
        case useAndRevalidate(GenerationCore)
        case lead(Opening, Errand)
        case follow(Opening)
        case selection(Vary)
        case bypass
        case answer(OriginRefusal)
        case unavailable
    }

    /// Begins a read.
    ///
    /// Throws ``RepriseError``: `rangeNotSatisfiable`, `originRefused`, `notStored`, any `origin…` code.
    func open(_ wanted: ReadRequest) async throws -> MediaRead {
        var unusable: GenerationCore?
        var confirmed: (generation: GenerationCore, how: Confirmation)?
        while true {
            try Task.checkCancellation()
            let decision = decide(wanted, unusable, confirmed?.generation)
            if case .useAndRevalidate(let generation) = decision { revalidate(generation, wanted) }
            switch decision {
            case .moved: return try await current().open(wanted)
            case .use(let generation), .useAndRevalidate(let generation):
                if let opened = try generation.openReader(wanted.range, request: wanted.origin) {
                    let how = confirmed.flatMap { $0.generation === generation ? $0.how : nil }
                    return MediaRead(opened, how, generation: generation, resource: self, request: wanted.origin)
                }
                unusable = generation
            case .lead(let opening, let errand):
                switch try await lead(opening, wanted, errand) {
                case .read(let read): return read
                case .again(.confirmed(let generation, let how)): confirmed = (generation, how)
                case .again(.changed): break
                }
            case .follow(let opening):
                if case .confirmed(let generation, let how) = try await opening.wait() { confirmed = (generation, how) }
            case .selection(let vary): return try await engine.selection(of: self, vary, wanted.origin).open(wanted)
            case .bypass: return try await openDirect(wanted)
            case .answer(let refusal): throw Self.refused(refusal, wanted.origin.url)
            case .unavailable: throw Engine.notStored(wanted.origin.url)
            }
        }
    }

    private func decide(_ wanted: ReadRequest, _ unusable: GenerationCore?, _ confirmed: GenerationCore?) -> Decision {
        let time = now
        return state.withLock { state in
            if state.isDetached { return .moved }
            if let opening = state.opening { return .follow(opening) }
            let mayAsk = !policy.isOffline && !wanted.directives.onlyIfCached
            var errand = Errand.discover(replacing: nil)
            switch state.phase {
            case .unloaded: break
            case .known(let generation):
                if generation === unusable || generation.isFrozen {
                    errand = .discover(replacing: generation)
                    break
                }
                if generation === confirmed { return .use(generation) }
                if !mayAsk { return canServe(generation, wanted) ? .use(generation) : .unavailable }
                switch generation.reuse(for: wanted.directives) {
                case .serve, .serveStale: return .use(generation)
                case .serveAndRevalidate:
                    guard !state.isRevalidating else { return .use(generation) }
                    state.isRevalidating = true
                    return .useAndRevalidate(generation)
                case .validate(let reason):
                    // A fetch for the first byte carries If-Range: its response says whether the rest still holds.
                    if generation.beginsInHole(wanted.range) { return .use(generation) }
                    errand = .validate(generation, reason)
                }
            case .bypass(let until) where engine.configuration.clock.elapsed() < until && mayAsk: return .bypass
            case .varies(let vary): return .selection(vary)
            case .answered(let answer):
                guard !(policy.isShared && wanted.directives.noCache), let refusal = answer.answer(now: time) else {
                    break
                }
                return .answer(refusal)
            case .unknown, .bypass: break
            }
            if case .unloaded = state.phase {} else if !mayAsk { return .unavailable }
            let opening = Opening()
            state.opening = opening
            return .lead(opening, errand)
        }
    }

    /// Whether the origin need not be asked for any byte, and what is stored is good enough for a reader who says that it
    /// must not be.
    private func canServe(_ generation: GenerationCore, _ wanted: ReadRequest) -> Bool {
        guard generation.isStored(wanted.range) else { return false }
        if policy.isOffline { return true }
        if case .validate = generation.reuse(for: wanted.directives) { return false }
        return true
    }

    enum Lead {
        case read(MediaRead)
        case again(Opening.Found)
    }

    /// Runs the opening in a task of its own: the leader may leave while followers wait.
    private func lead(_ opening: Opening, _ wanted: ReadRequest, _ errand: Errand) async throws -> Lead {
        let task = Task(executorPreference: DiskExecutor.shared) {
            do {
                let lead = try await self.find(wanted, errand)
                if case .again(let found) = lead {
                    self.finish(opening, .success(found))
                } else {
                    self.finish(opening, .success(.changed))
                }
                return lead
            } catch {
                let shared = (error as? RepriseError).map { $0.isOfOneReader ? nil : $0 } ?? nil
                self.finish(opening, shared.map { .failure($0) } ?? .success(.changed))
                throw error
            }
        }
        // A leader that leaves does not break the request off: the head settles what the resource is, and what has arrived
        // is stored.
        do { _ = try await opening.wait() } catch is CancellationError { throw CancellationError() } catch {}
        return try await task.value
    }

    private func finish(_ opening: Opening, _ result: Result<Opening.Found, RepriseError>) {
        state.withLock { $0.opening = nil }
        opening.finish(result)
    }

    /// Loads what the catalogue knows, or asks the origin.
    private func find(_ wanted: ReadRequest, _ errand: Errand) async throws -> Lead {
        let isUnloaded = state.withLock { state in
            if case .unloaded = state.phase { true } else { false }
        }
        if isUnloaded, await load() { return .again(.changed) }
        if policy.isOffline || wanted.directives.onlyIfCached { throw Engine.notStored(wanted.origin.url) }
        switch errand {
        case .discover(let replaced):
            let completion = if let replaced { try await completion(of: replaced, wanted) } else { nil as Exchange? }
            let exchange = if let completion { completion } else { try await exchange(wanted) }
            return try await adopt(exchange, wanted, replacing: replaced)
        case .validate(let generation, let reason):
            switch try await validate(generation, wanted, reason) {
            case .confirmed(let how): return .again(.confirmed(generation, how))
            case .replaced(let exchange): return try await adopt(exchange, wanted, replacing: generation)
            case .gone:
                forget(generation)
                return .again(.changed)
            }
        }
    }

    /// Makes a generation of a response, where it may be stored, and begins to read it.
    func adopt(_ exchange: Exchange, _ wanted: ReadRequest, replacing replaced: GenerationCore?) async throws
        -> Lead
    {
        guard case .newGeneration(let placement, _) = exchange.action, let store = engine.store,
            admits(placement.completeLength, store)
        else {
            if case .passThrough = exchange.action {
                state.withLock { $0.phase = .bypass(until: engine.configuration.clock.elapsed() + Self.bypassTime) }
                if let replaced, let store = engine.store { await retire(replaced, store) }
            }
            return .read(try MediaRead(exchange, spec: wanted.range, resource: self, request: wanted.origin))
        }
        let home = try engine.home(of: self, Vary(exchange.response.head.headerFields), wanted.origin)
        let generation: GenerationCore
        do throws(RepriseError) {
            generation = try home.begin(exchange, placement, wanted.origin.url, store)
        } catch {
            engine.journal.tell(.storeBypassed(key, reason: error.description))
            return .read(try MediaRead(exchange, spec: wanted.range, resource: self, request: wanted.origin))
        }
        if let replaced { await retire(replaced, store) }
        if home !== self, let live = home.liveGeneration, live !== replaced { await home.retire(live, store) }
        let isMissed = home.state.withLock { state in
            if !state.isDetached { state.phase = .known(generation) }
            return state.isDetached
        }
        if isMissed {
            // Removed while the origin was asked: what comes belongs to nobody's entry.
            store.removeFile(name: store.catalogue.name(of: home.key), generation: generation.id)
            return .read(try MediaRead(exchange, spec: wanted.range, resource: self, request: wanted.origin))
        }
        let opened = try generation.adopt(
            FetchResponse(response: exchange.response, placement: placement), spec: spec(wanted.range, placement),
            request: wanted.origin)
        store.recorder.noteUse(home.key)
        guard let opened else { throw GenerationCore.notSatisfiable(placement.completeLength ?? 0) }
        let how = Confirmation(
            reason: replaced == nil ? signpost == nil ? .uriMiss : .varyMiss : .stale,
            status: exchange.response.head.status.code)
        return .read(MediaRead(opened, how, generation: generation, resource: home, request: wanted.origin))
    }

    /// What of a response is read: what was asked for, or all of a part that begins elsewhere.
    private func spec(_ wanted: RangeSpec?, _ placement: BodyPlacement) -> RangeSpec? {
        guard let wanted, placement.start > 0 || placement.end != placement.completeLength, let end = placement.end,
            let extent = GenerationCore.extent(of: wanted, completeLength: placement.completeLength)
        else { return wanted }
        let part = placement.start..<end
        return part.contains(extent.start) ? wanted : .bounded(part)
    }

    /// How long a resource whose response must not be stored is asked for without collapsing.
    private static let bypassTime = Duration.seconds(10)

    /// A read past the store.
    private func openDirect(_ wanted: ReadRequest) async throws -> MediaRead {
        let exchange = try await exchange(wanted)
        if case .passThrough = exchange.action {
        } else {
            // It may be stored now: the next read does.
            state.withLock { state in
                if case .bypass = state.phase { state.phase = .unknown }
            }
        }
        return try MediaRead(exchange, spec: wanted.range, resource: self, request: wanted.origin)
    }

    static func refused(_ refusal: OriginRefusal, _ url: ResourceURL) -> RepriseError {
        RepriseError(
            .originRefused, "The origin answered \(refusal.head.status.code) for \(url.redacted).", refusal: refusal)
    }

}

extension RepriseError {
    /// Concerns the request of one reader, not the resource: others try for themselves.
    fileprivate var isOfOneReader: Bool { code == .rangeNotSatisfiable || code == .notStored }
}
