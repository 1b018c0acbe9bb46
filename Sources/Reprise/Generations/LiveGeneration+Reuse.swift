import ByteRanges
import HTTPSemantics
import HTTPTypes

/// Whether a generation may be used without asking the origin, and what the origin's answer changes (RFC 9111 §4).
extension LiveGeneration {
    /// Whether it may answer a request with these directives in `play` without asking the origin.
    func reuse(for directives: CacheControl, in play: Play? = nil) -> Reuse {
        if engine.configuration.reuse.isOffline || generationPolicy == .immutable { return .serve }
        let moment = moment
        return ask { state in
            let reuse = state.response.reuse(for: directives, at: moment, in: play)
            if case .validate = reuse, state.isArriving(at: moment.elapsed) { return .serve }
            return reuse
        }
    }

    /// Whether a request for `spec` must be forwarded to the origin although the response is otherwise usable.
    func mustAsk(about spec: RangeSpec?) -> Bool {
        if engine.configuration.reuse.isOffline || generationPolicy == .immutable { return false }
        let moment = moment
        return ask { $0.mustAsk(about: spec, at: moment) }
    }

    /// Whether it may be served although validating it failed with `error` (RFC 9111 §4.2.4, RFC 5861 §4).
    func mayServeStale(instead error: RepriseError) -> Bool {
        let moment = moment
        return ask { $0.response.mayServeStale(instead: error, at: moment) }
    }

    /// Whether a response to `request` with these fields may update the generation for other readers.
    func mayBeChanged(by fields: HTTPFields, for request: OriginRequest) -> Bool {
        let storage = engine.storage(for: request)
        return ask { $0.response.mayBeChanged(by: fields, storage: storage) }
    }

    /// Updates the stored fields from a response to `request` that confirms the generation (RFC 9111 §3.2, §4.3.4),
    /// unless the response is for that request alone.
    ///
    /// `url` is where it came from after redirects, if relative links now refer to it.
    func freshen(
        _ fields: HTTPFields, from url: ResourceURL? = nil, requestTime: Int64, by request: OriginRequest
    ) {
        let (storage, moment) = (engine.storage(for: request), moment)
        let isFreshened = changeResponse { response in
            guard response.mayBeChanged(by: fields, storage: storage) else { return false }
            response.freshen(
                by: fields, from: url, requestTime: requestTime, at: moment, for: request.demand)
            return true
        }
        if isFreshened { store.recorder.note(self, bytes: 0) }
    }

    /// Adds the DLNA field that the origin sends only on request.
    func note(contentFeatures: String) {
        changeResponse { $0.note(contentFeatures: contentFeatures) }
        store.recorder.note(self, bytes: 0)
    }

    /// Notes that the origin was asked for a play, whatever came of that.
    func noteQuestion() {
        let now = elapsed
        changeResponse { $0.noteQuestion(at: now) }
    }

    /// Takes the part in a stream that a playlist gives it.
    func assign(_ role: StreamRole) {
        if changeResponse({ $0.assign(role) }) { store.recorder.note(self, bytes: 0) }
    }

    /// Takes in that it is a file of further titles, whose reads join those that brought its bytes.
    func add(_ claims: [TitleClaim]) {
        if !claims.isEmpty, changeResponse({ $0.add(claims) }) { store.recorder.note(self, bytes: 0) }
    }

    /// Takes in that it is no file of the titles of `keys` any more.
    func dropClaims(ofTitles keys: Set<CacheKey>) { changeResponse { $0.dropClaims(ofTitles: keys) } }

    /// Marks the generation as stale because a response of the origin contradicts it but can't replace it.
    ///
    /// The stored bytes remain, and the next read revalidates.
    func expire() {
        changeResponse { $0.expire() }
        store.recorder.note(self, bytes: 0)
    }

    /// Marks the generation as stale, so that it is not used without asking the origin (RFC 9111 §4.4).
    func invalidate() {
        changeResponse { $0.invalidate() }
        store.recorder.note(self, bytes: 0)
    }

    /// Whether the first byte of `spec` has to be fetched under a strong validator anyway, which also shows whether the
    /// rest is still current.
    func beginsInHole(_ spec: RangeSpec?) -> Bool { ask { $0.beginsInHole(spec) } }

    /// The first hole in `spec`, open-ended if it reaches the end of the representation; `nil` if there is no hole, or
    /// nothing of `spec` is stored.
    func hole(in spec: RangeSpec?) -> RangeSpec? { ask { $0.schedule.hole(in: spec) } }

    /// Whether the first byte of `spec` is stored.
    func hasBeginning(of spec: RangeSpec?) -> Bool { ask { $0.schedule.hasBeginning(of: spec) } }

    /// Whether all of `spec` is stored.
    func isStored(_ spec: RangeSpec?) -> Bool { ask { $0.schedule.isStored(spec) } }

    /// Whether `spec` lies outside the representation.
    func isOutside(_ spec: RangeSpec?) -> Bool { ask { $0.schedule.isOutside(spec) } }
}
