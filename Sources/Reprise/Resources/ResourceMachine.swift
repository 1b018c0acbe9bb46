import HTTPSemantics

/// What is known of one resource, and what the next read does about it.
///
/// Pure: no lock, no task, no I/O. ``LiveResource`` holds it under a lock and carries out what it decides. It hands out
/// the ``Lookup`` that readers wait for, and never waits for one itself.
///
/// ```
/// notLoaded ── loaded ──► nothing │ current │ varies
/// nothing   ── adopted ─► current        ── refused ──► refused        ── storingForbidden ─► bypassed
/// current   ── forget ──► nothing        ── variesBy ─► varies
/// bypassed  ── storingAllowed, or ten seconds later ─► nothing
/// ```
struct ResourceMachine<Generation: CurrentGeneration>: Sendable {
    private enum Knowledge: Sendable {
        /// The index was not consulted yet; it may have a record.
        case notLoaded
        /// The index has nothing, or what it had is no longer current.
        case nothing
        /// The one current generation.
        case current(Generation)
        /// Responses must not be stored; requests bypass the store until then.
        case bypassed(until: Duration)
        /// The request fields that select the response.
        case varies(Vary)
        /// The origin has no media here; its answer is kept for a while.
        case refused(CachedRefusal)
    }

    private let policy: ReusePolicy
    private var knowledge = Knowledge.notLoaded
    /// The lookup under way.
    private(set) var lookup: Lookup?
    /// Whether a background validation is under way.
    private var isRevalidating = false
    /// It was read since the table last checked.
    private var wasUsed = false
    /// A part for a hole arrived but could not be joined; next time the whole is requested at once.
    private(set) var needsWhole = false
    /// It was removed from the table: another live resource has the key now, or will have it.
    private(set) var isDetached = false

    /// How long requests are not collapsed for a resource whose response must not be stored.
    static var bypassTime: Duration { .seconds(10) }

    init(policy: ReusePolicy) { self.policy = policy }

    // MARK: - What is known

    var generation: Generation? { if case .current(let generation) = knowledge { generation } else { nil } }

    /// The request fields that select the response, if its responses vary.
    var vary: Vary? { if case .varies(let vary) = knowledge { vary } else { nil } }

    /// The origin's answer without media that is kept.
    var cachedRefusal: CachedRefusal? { if case .refused(let refusal) = knowledge { refusal } else { nil } }

    /// Whether the index still has to be consulted.
    var mustLoad: Bool { if case .notLoaded = knowledge { true } else { false } }

    /// Whether something of it is stored, or its responses are known to vary.
    var isKnown: Bool {
        switch knowledge {
        case .current, .varies: true
        case .notLoaded, .nothing, .bypassed, .refused: false
        }
    }

    /// Whether the index was consulted, so that memory has the complete state of this key.
    var knowsWhatIsStored: Bool {
        switch knowledge {
        case .current, .nothing, .bypassed, .refused: true
        case .notLoaded, .varies: false
        }
    }

    /// Whether no reader, fetch or lookup uses it.
    var isIdle: Bool { lookup == nil && generation?.isIdle != false }

    // MARK: - A read begins

    /// Decides what the read does that `wanted` describes.
    ///
    /// `unusable` is a generation that could not serve this read, `confirmed` one that was just validated for it.
    mutating func open(
        _ wanted: ReadRequest, unusable: Generation? = nil, confirmed: Generation? = nil, at moment: Moment
    ) -> Step {
        if isDetached { return .moved }
        wasUsed = true
        if let lookup { return .follow(lookup) }
        let mayAsk = wanted.mayAsk(policy)
        switch knowledge {
        case .notLoaded:
            // Also where the origin must not be asked: the index may know the resource.
            return lead(.discover(replacing: nil), for: wanted)
        case .current(let generation):
            if generation === confirmed, generation !== unusable, !generation.isFrozen { return .use(generation) }
            return serve(generation, to: wanted, isUnusable: generation === unusable)
        case .varies(let vary): return .variant(vary)
        // A download has no use for bytes that bypass the store, and the origin may have been mended.
        case .bypassed(let end) where moment.elapsed < end && mayAsk && wanted.origin.demand != .download:
            return .bypass
        case .refused(let refusal):
            if !(policy.isShared && wanted.directives.noCache),
                let answer = refusal.answer(to: wanted.origin, at: moment)
            {
                return .refuse(answer)
            }
        case .nothing, .bypassed: break
        }
        return mayAsk ? lead(.discover(replacing: nil), for: wanted) : .unavailable
    }

    /// Decides whether `generation` serves the read as it is, is validated first (RFC 9111 §4.3), or is replaced.
    private mutating func serve(_ generation: Generation, to wanted: ReadRequest, isUnusable: Bool) -> Step {
        let mayAsk = wanted.mayAsk(policy)
        if !isUnusable, generation.isSuperseded(in: wanted.play), generation.isStored(wanted.range) {
            return .use(generation)
        }
        guard !isUnusable, !generation.isFrozen else {
            return mayAsk ? lead(.discover(replacing: generation), for: wanted) : .unavailable
        }
        guard mayAsk else { return canServe(generation, wanted: wanted) ? .use(generation) : .unavailable }
        switch wanted.isValidating ? .validate(.request) : generation.reuse(for: wanted.directives, in: wanted.play) {
        case .serve where generation.mustAsk(about: wanted.range):
            return lead(.validate(generation, .stale), for: wanted)
        case .serve, .serveStale: return .use(generation)
        case .serveAndRevalidate:
            // One validation in the background is enough (RFC 5861 §3).
            guard !isRevalidating else { return .use(generation) }
            isRevalidating = true
            return .useAndRevalidate(generation)
        case .validate(let reason):
            // A fetch for the first byte carries If-Range; its response shows whether the rest is still current.
            if !wanted.isValidating, generation.beginsInHole(wanted.range), !generation.mustAsk(about: wanted.range) {
                return .use(generation)
            }
            return lead(.validate(generation, reason), for: wanted)
        }
    }

    /// Whether the range, or as much of it as the reader needs, is stored and usable without asking the origin; one
    /// outside of the representation is refused as the origin would refuse it (RFC 9110 §15.5.17).
    private func canServe(_ generation: Generation, wanted: ReadRequest) -> Bool {
        let lacksNothing = generation.isStored(wanted.range) || generation.isOutside(wanted.range)
        if policy.isOffline || wanted.origin.networkPolicy == .never {
            return lacksNothing || wanted.mayBreakOff && generation.hasBeginning(of: wanted.range)
        }
        guard lacksNothing else { return false }
        if case .validate = generation.reuse(for: wanted.directives, in: wanted.play) { return false }
        return true
    }

    private mutating func lead(_ errand: Errand, for wanted: ReadRequest) -> Step {
        let lookup = Lookup(asking: wanted.origin, isShared: policy.isShared)
        self.lookup = lookup
        return .lead(lookup, errand)
    }

    /// Decides where the generation that answers `request` is found without asking the origin.
    mutating func find(for request: OriginRequest) -> Place {
        if isDetached { return .moved }
        if let lookup { return .follow(lookup) }
        switch knowledge {
        case .current(let generation):
            return .found(generation.isFrozen && !generation.isSuperseded(in: nil) ? nil : generation)
        case .varies(let vary): return .variant(vary)
        case .nothing, .bypassed, .refused: return .found(nil)
        case .notLoaded:
            let lookup = Lookup(asking: request, isShared: policy.isShared)
            self.lookup = lookup
            return .load(lookup)
        }
    }

    /// The generation for a hit, which is answered without a lookup.
    mutating func hit() -> Generation? {
        wasUsed = true
        return generation
    }

    // MARK: - What a lookup brings

    /// The index was consulted.
    mutating func loaded(_ found: Loaded) {
        switch found {
        case .nothing: knowledge = .nothing
        case .variants(let vary): knowledge = .varies(vary)
        case .generation(let generation): if !isDetached { knowledge = .current(generation) }
        }
    }

    /// A response began `generation`; false if the resource was removed while the origin was asked, so that the
    /// generation belongs to no entry.
    mutating func adopted(_ generation: Generation) -> Bool {
        guard !isDetached else { return false }
        knowledge = .current(generation)
        return true
    }

    /// The origin answered without media, and `refusal` answers further requests for a while.
    ///
    /// Does nothing if something is stored: that is worth more.
    mutating func refused(_ refusal: CachedRefusal) {
        switch knowledge {
        case .nothing, .notLoaded, .bypassed, .refused: knowledge = .refused(refusal)
        case .current, .varies: break
        }
    }

    /// The response must not be stored: for a while further requests bypass the store.
    mutating func storingForbidden(at moment: Moment) {
        knowledge = .bypassed(until: moment.elapsed + Self.bypassTime)
    }

    /// A response that bypassed the store may be stored: the next read stores it.
    mutating func storingAllowed() { if case .bypassed = knowledge { knowledge = .nothing } }

    /// The recorded file could not be opened, and its record was kept: the next read tries it again.
    mutating func openingFailed() { knowledge = .notLoaded }

    /// The part for a hole could not be joined.
    mutating func holeStayed() { needsWhole = true }

    /// The lookup under way is over.
    mutating func lookupEnded() { lookup = nil }

    /// The background validation is over.
    mutating func revalidationEnded() { isRevalidating = false }

    // MARK: - What ends it

    /// Drops `generation`, because the origin has a different representation.
    ///
    /// The next read asks the origin and not the index, which may be unable to remove the record. If it `hasFormer`,
    /// the next read loads the kept generation that is recorded instead. Returns the generation if it was current, so
    /// that the caller retires it.
    mutating func forget(_ generation: Generation, hasFormer: Bool = false) -> Generation? {
        guard self.generation === generation else { return nil }
        knowledge = hasFormer ? .notLoaded : .nothing
        return generation
    }

    /// The responses vary by these request fields (RFC 9111 §4.1): each variant is a resource of its own.
    ///
    /// Returns the generation that has to be retired, if there is one.
    mutating func variesBy(_ vary: Vary) -> Generation? {
        defer { knowledge = .varies(vary) }
        return generation
    }

    /// The stored response must not be used without asking the origin (RFC 9111 §4.4).
    ///
    /// Returns the generation that has to be marked as stale, if there is one.
    mutating func invalidated() -> Generation? {
        if case .refused = knowledge { knowledge = .nothing }
        return generation
    }

    /// The table wants to remove the resource: agrees if `when` allows it.
    mutating func detach(_ when: Detachment) -> Departure {
        if when != .always {
            guard isIdle else { return .stays }
            guard when != .ifRecorded || generation?.hasUnrecorded != true else { return .stays }
        }
        isDetached = true
        return .leaves(generation)
    }

    /// Whether it was used since the last call.
    mutating func takeUse() -> Bool {
        defer { wasUsed = false }
        return wasUsed
    }
}

extension ReadRequest {
    /// Whether the origin may be asked for it.
    func mayAsk(_ policy: ReusePolicy) -> Bool {
        origin.context.source != nil
            || !policy.isOffline && !directives.onlyIfCached && origin.networkPolicy != .never
    }
}

/// The vocabulary of the machine: what it answers to the resource that holds it.
extension ResourceMachine {
    /// What a read does.
    enum Step: Sendable {
        /// Ask the live resource that has the key now.
        case moved
        /// Start at once.
        case use(Generation)
        /// Start at once, and validate it in the background.
        case useAndRevalidate(Generation)
        /// Run this lookup; others wait for it.
        case lead(Lookup, Errand)
        /// Wait for this lookup (a collapsed request, RFC 9111 §4), then ask again.
        case follow(Lookup)
        /// Continue with the variant that the request's fields select.
        case variant(Vary)
        /// Send a request whose response bypasses the store.
        case bypass
        /// Throw this answer of the origin again.
        case refuse(OriginRefusal)
        /// Fail: the origin must not be asked, and something is missing or stale.
        case unavailable
    }

    /// What a lookup is for.
    enum Errand: Sendable {
        /// Nothing usable is known; `replacing` is no longer usable.
        case discover(replacing: Generation?)
        /// The stored response is stale, or the request requires validation.
        case validate(Generation, CacheStatus.ForwardReason)
    }

    /// Where a stored generation is found.
    enum Place: Sendable {
        /// In the live resource that has the key now.
        case moved
        /// Here, if there is one.
        case found(Generation?)
        /// In a variant.
        case variant(Vary)
        /// In what this lookup brings.
        case follow(Lookup)
        /// In the index: load it and finish this lookup.
        case load(Lookup)
    }

    /// What the index has.
    enum Loaded: Sendable {
        case nothing
        case variants(Vary)
        case generation(Generation)
    }

    /// When a resource may be removed from the table.
    enum Detachment: Sendable {
        case always
        /// No reader, fetch or lookup uses it.
        case ifUnused
        /// As ``ifUnused``, and the index has all of it.
        case ifRecorded
    }

    /// The answer to a ``Detachment``.
    enum Departure: Sendable {
        case stays
        /// The generation, if there is one, is used no more.
        case leaves(Generation?)
    }
}

/// What a ``ResourceMachine`` asks of the resource's current generation.
protocol CurrentGeneration: AnyObject, Sendable {
    /// Whether only its stored bytes are still served.
    var isFrozen: Bool { get }
    /// Whether no reader or fetch uses it.
    var isIdle: Bool { get }
    /// Whether some of its bytes are not in the index yet.
    var hasUnrecorded: Bool { get }
    /// Whether it may answer a request with these directives in `play` without asking the origin.
    func reuse(for directives: CacheControl, in play: Play?) -> Reuse
    /// Whether a request for `range` must be forwarded to the origin although the response is otherwise usable.
    func mustAsk(about range: RangeSpec?) -> Bool
    /// Whether a request for the first byte of `range` also shows whether the rest is current.
    func beginsInHole(_ range: RangeSpec?) -> Bool
    /// Whether the first byte of `range` is stored.
    func hasBeginning(of range: RangeSpec?) -> Bool
    /// Whether it is frozen because the origin has another representation, and stored bytes are served for the rest of
    /// `play`, which goes on.
    func isSuperseded(in play: Play?) -> Bool
    /// Whether all of `range` is stored.
    func isStored(_ range: RangeSpec?) -> Bool
    /// Whether `range` lies outside the representation: no byte of it is missing.
    func isOutside(_ range: RangeSpec?) -> Bool
}

extension Generation: CurrentGeneration {
    var hasUnrecorded: Bool { bytes.hasUnrecorded }
}
