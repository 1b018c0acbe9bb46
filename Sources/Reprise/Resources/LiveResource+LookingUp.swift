import HTTPSemantics
import Locks

/// Decides how a read starts: serve from the store, revalidate, fetch, or bypass the store.
extension LiveResource {
    /// Why a reader leads an opening.
    enum Errand {
        /// Nothing usable is known; `replacing` is no longer usable.
        case discover(replacing: LiveGeneration?)
        /// The stored response is stale, or the request requires validation.
        case validate(LiveGeneration, CacheStatus.ForwardReason)
    }

    private enum Decision {
        /// Another core has the key.
        case moved
        case use(LiveGeneration)
        /// Use it, and validate it in the background.
        case useAndRevalidate(LiveGeneration)
        case lead(Lookup, Errand)
        case follow(Lookup)
        case selection(Vary)
        case bypass
        case answer(OriginRefusal)
        case unavailable
    }

    /// Begins a read.
    ///
    /// Throws ``RepriseError``: `rangeNotSatisfiable`, `originRefused`, `notStored`, any `origin…` code.
    func open(_ wanted: ReadRequest) async throws -> MediaRead {
        var unusable: LiveGeneration?
        var confirmed: (generation: LiveGeneration, how: Confirmation)?
        var (failures, sharesNothing) = (0, false)
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
                case .again(.changed), .again(.failed): break
                }
            case .follow(let opening):
                // Readers that all send different requests must not wait for one another's failures.
                let isSame = opening.asksTheSame(as: wanted.origin)
                if mayAsk(wanted), sharesNothing || failures >= Self.patience && !isSame {
                    return try await openDirect(wanted)
                }
                switch try await follow(opening, wanted) {
                case .confirmed(let generation, let how): confirmed = (generation, how)
                case .failed:
                    failures += 1
                    sharesNothing = sharesNothing || isSame
                case .changed: break
                }
            case .selection(let vary): return try await engine.selection(of: self, vary, wanted.origin).open(wanted)
            case .bypass: return try await openDirect(wanted)
            case .answer(let refusal): throw Self.refused(refusal, wanted.origin.url)
            case .unavailable: throw Engine.notStored(wanted.origin.url)
            }
        }
    }

    /// How many failures of other readers a reader waits for before it sends its own request, bypassing the store.
    private static let patience = 2

    private func mayAsk(_ wanted: ReadRequest) -> Bool { !policy.isOffline && !wanted.directives.onlyIfCached }

    private func decide(_ wanted: ReadRequest, _ unusable: LiveGeneration?, _ confirmed: LiveGeneration?) -> Decision {
        let (time, elapsed) = (now, engine.configuration.clock.elapsed())
        return state.withLock { state in
            if state.isDetached { return .moved }
            state.wasUsed = true
            if let opening = state.opening { return .follow(opening) }
            let mayAsk = mayAsk(wanted)
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
                    // A fetch for the first byte carries If-Range; its response shows whether the rest is still
                    // current.
                    if generation.beginsInHole(wanted.range) { return .use(generation) }
                    errand = .validate(generation, reason)
                }
            case .bypass(let until) where elapsed < until && mayAsk: return .bypass
            case .varies(let vary): return .selection(vary)
            case .answered(let answer):
                guard !(policy.isShared && wanted.directives.noCache),
                    let refusal = answer.answer(to: wanted.origin, now: time, elapsed: elapsed)
                else { break }
                return .answer(refusal)
            case .unknown, .bypass: break
            }
            if case .unloaded = state.phase {} else if !mayAsk { return .unavailable }
            let opening = Lookup(asking: wanted.origin, isShared: policy.isShared)
            state.opening = opening
            return .lead(opening, errand)
        }
    }

    /// Whether all of the range is stored and usable for a reader that does not allow asking the origin.
    private func canServe(_ generation: LiveGeneration, _ wanted: ReadRequest) -> Bool {
        guard generation.isStored(wanted.range) else { return false }
        if policy.isOffline { return true }
        if case .validate = generation.reuse(for: wanted.directives) { return false }
        return true
    }

    enum Lead {
        case read(MediaRead)
        case again(Lookup.Found)
    }

    /// Waits for an opening that another reader leads.
    private func follow(_ opening: Lookup, _ wanted: ReadRequest) async throws -> Lookup.Found {
        let (demand, authority) = (wanted.origin.demand, wanted.origin.url.authority)
        engine.precedence.readerWaits(demand, at: authority)
        defer { engine.precedence.readerGoesOn(demand, at: authority) }
        return try await opening.wait(wanted.origin)
    }

    /// Runs the opening in a task of its own, because the leader may leave while followers wait.
    private func lead(_ opening: Lookup, _ wanted: ReadRequest, _ errand: Errand) async throws -> Lead {
        var wanted = wanted
        wanted.interest = opening.interest
        let (demand, authority) = (wanted.origin.demand, wanted.origin.url.authority)
        engine.precedence.readerWaits(demand, at: authority)
        defer { engine.precedence.readerGoesOn(demand, at: authority) }
        let task = Task(executorPreference: DiskExecutor.shared) { [wanted] in
            do {
                let lead = try await self.find(wanted, errand)
                if case .again(let found) = lead {
                    self.finish(opening, .success(found))
                } else {
                    self.finish(opening, .success(.changed))
                }
                return lead
            } catch {
                self.finish(opening, (error as? RepriseError).map { .failure($0) } ?? .success(.changed))
                throw error
            }
        }
        // A leader that leaves does not cancel a request that was sent: the head determines what the resource is, and
        // bytes that have arrived are stored. A request without a connection is withdrawn with its last waiter.
        do { _ = try await opening.waitAsLeader() } catch is CancellationError { throw CancellationError() } catch {}
        return try await task.value
    }

    /// Loads the resource from the index, or asks the origin.
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
}
