import HTTPSemantics
import HTTPTypes
import Locks

/// What becomes of a response that is here: a generation, or a read past the store.
extension ResourceCore {
    /// Makes a generation of a response, where it may be stored, and begins to read it.
    func adopt(_ exchange: Exchange, _ wanted: ReadRequest, replacing replaced: GenerationCore?) async throws
        -> Lead
    {
        guard case .newGeneration(let placement, _) = exchange.action, let store = engine.store,
            admits(placement.completeLength, store, for: wanted)
        else {
            if case .passThrough(let reason) = exchange.action {
                await noteUnstored(exchange.response, reason, wanted, replacing: replaced)
            }
            return .read(try MediaRead(exchange, spec: wanted.range, resource: self, request: wanted.origin))
        }
        if let replaced, isOutside(exchange.response, placement, of: replaced) {
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
            request: wanted.origin, interest: wanted.interest)
        store.recorder.noteUse(home.key)
        guard let opened else { throw GenerationCore.notSatisfiable(placement.completeLength ?? 0) }
        let how = Confirmation(
            reason: replaced == nil ? signpost == nil ? .uriMiss : .varyMiss : .stale,
            status: exchange.response.head.status.code)
        return .read(MediaRead(opened, how, generation: generation, resource: home, request: wanted.origin))
    }

    /// A response must not be stored: for a while the next requests go past the store, and what is stored goes.
    ///
    /// Unless the request's own fields forbid storing, which is no property of the resource, or others read what another
    /// response brings: they are not broken off for this one.
    private func noteUnstored(
        _ response: OriginResponse, _ reason: PassThroughReason, _ wanted: ReadRequest,
        replacing replaced: GenerationCore?
    ) async {
        let isOwn =
            switch reason {
            case .unkeyedFields, .authorization: true
            case .noStore: wanted.directives.noStore && !CacheControl(response.head.headerFields).noStore
            default: false
            }
        guard !isOwn, replaced?.isBeingFilled != true else { return }
        state.withLock { $0.phase = .bypass(until: engine.configuration.clock.elapsed() + Self.bypassTime) }
        if let replaced, let store = engine.store { await retire(replaced, store) }
    }

    /// Whether a response must leave `generation` alone: others read what another response brings, nothing says that this is
    /// another representation, and nothing proves that it is the same (RFC 9110 §15.3.7.3).
    ///
    /// Its reader goes past the store; to replace the generation would break off the others.
    private func isOutside(
        _ response: OriginResponse, _ placement: BodyPlacement, of generation: GenerationCore
    ) -> Bool {
        let current = GenerationIdentity(
            validators: Validators(response.head.headerFields), completeLength: placement.completeLength,
            mediaType: response.head.headerFields[.contentType], finalHost: response.url.authority)
        let change = generation.record.identity.change(to: current, policy: .strict)
        return generation.isBeingFilled && (change == nil || change == .noStrongValidator)
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
    static let bypassTime = Duration.seconds(10)

    /// A read past the store.
    func openDirect(_ wanted: ReadRequest) async throws -> MediaRead {
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
