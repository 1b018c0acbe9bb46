import HTTPSemantics
import HTTPTypes
import Locks

/// Turns a response that has arrived into a generation, or into a read that bypasses the store.
extension LiveResource {
    /// Makes a generation of a response, if it may be stored, and begins to read it.
    func adopt(_ exchange: Exchange, _ wanted: ReadRequest, replacing replaced: LiveGeneration?) async throws
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
        let generation: LiveGeneration
        do throws(RepriseError) {
            generation = try home.begin(exchange, placement, wanted.origin.url, store)
        } catch {
            engine.reporter.tell(.storeBypassed(key, reason: error.description))
            return .read(try MediaRead(exchange, spec: wanted.range, resource: self, request: wanted.origin))
        }
        if let replaced { await retire(replaced, store) }
        if home !== self, let live = home.liveGeneration, live !== replaced { await home.retire(live, store) }
        let isMissed = home.state.withLock { state in
            if !state.isDetached { state.phase = .known(generation) }
            return state.isDetached
        }
        if isMissed {
            // Removed while the origin was asked: the response belongs to no entry.
            store.removeFile(name: store.index.name(of: home.key), generation: generation.id)
            return .read(try MediaRead(exchange, spec: wanted.range, resource: self, request: wanted.origin))
        }
        let opened = try generation.adopt(
            FetchResponse(response: exchange.response, placement: placement), spec: spec(wanted.range, placement),
            request: wanted.origin, interest: wanted.interest)
        store.recorder.noteUse(home.key)
        guard let opened else { throw LiveGeneration.notSatisfiable(placement.completeLength ?? 0) }
        let how = Confirmation(
            reason: replaced == nil ? signpost == nil ? .uriMiss : .varyMiss : .stale,
            status: exchange.response.head.status.code)
        return .read(MediaRead(opened, how, generation: generation, resource: home, request: wanted.origin))
    }

    /// Notes that a response must not be stored: for a while further requests bypass the store, and stored bytes are
    /// removed.
    ///
    /// Does nothing if the request's own fields forbid storing, which is not a property of the resource, or if others
    /// are reading an in-flight response, which must not be broken off.
    private func noteUnstored(
        _ response: OriginResponse, _ reason: PassThroughReason, _ wanted: ReadRequest,
        replacing replaced: LiveGeneration?
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

    /// Whether a response must leave `generation` alone: others are reading an in-flight response, and nothing shows
    /// that this one has another representation or the same one (RFC 9110 §15.3.7.3).
    ///
    /// Such a response bypasses the store; replacing the generation would break off the other readers.
    private func isOutside(
        _ response: OriginResponse, _ placement: BodyPlacement, of generation: LiveGeneration
    ) -> Bool {
        let current = GenerationIdentity(
            validators: Validators(response.head.headerFields), completeLength: placement.completeLength,
            mediaType: response.head.headerFields[.contentType], finalHost: response.url.authority)
        let change = generation.record.identity.change(to: current, policy: .strict)
        return generation.isBeingFilled && (change == nil || change == .noStrongValidator)
    }

    /// The range to read from a response: the requested one, or all of a part that begins elsewhere.
    private func spec(_ wanted: RangeSpec?, _ placement: BodyPlacement) -> RangeSpec? {
        guard let wanted, placement.start > 0 || placement.end != placement.completeLength, let end = placement.end,
            let extent = LiveGeneration.extent(of: wanted, completeLength: placement.completeLength)
        else { return wanted }
        let part = placement.start..<end
        return part.contains(extent.start) ? wanted : .bounded(part)
    }

    /// How long requests are not collapsed for a resource whose response must not be stored.
    static let bypassTime = Duration.seconds(10)

    /// Begins a read that bypasses the store.
    func openDirect(_ wanted: ReadRequest) async throws -> MediaRead {
        let exchange = try await exchange(wanted)
        if case .passThrough = exchange.action {
        } else {
            // It may be stored now, so the next read stores it.
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
