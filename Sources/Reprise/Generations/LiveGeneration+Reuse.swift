import ByteRanges
import HTTPSemantics
import HTTPTypes
import Locks

/// Whether a generation may be used without asking the origin, and what the origin's answer changes (RFC 9111 §4).
extension LiveGeneration {
    /// Whether it may answer a request with these directives without asking the origin.
    func reuse(for directives: CacheControl) -> Reuse {
        if engine.configuration.reuse.isOffline || generationPolicy == .immutable { return .serve }
        let moment = moment
        return state.withLock { $0.response.reuse(for: directives, at: moment) }
    }

    /// Whether it may be served although validating it failed with `error` (RFC 9111 §4.2.4, RFC 5861 §4).
    func mayServeStale(instead error: RepriseError) -> Bool {
        let moment = moment
        return state.withLock { $0.response.mayServeStale(instead: error, at: moment) }
    }

    /// Whether a response to `request` with these fields may update the generation for other readers.
    func mayBeChanged(by fields: HTTPFields, for request: OriginRequest) -> Bool {
        let storage = engine.storage(for: request)
        return state.withLock { $0.response.mayBeChanged(by: fields, storage: storage) }
    }

    /// Updates the stored fields from a response to `request` that confirms the generation (RFC 9111 §3.2, §4.3.4),
    /// unless the response is for that request alone.
    ///
    /// `url` is where it came from after redirects, if relative links now refer to it.
    func freshen(
        _ fields: HTTPFields, from url: ResourceURL? = nil, requestTime: Int64, by request: OriginRequest
    ) {
        let (storage, moment) = (engine.storage(for: request), moment)
        let isFreshened = state.withLock { state in
            guard state.response.mayBeChanged(by: fields, storage: storage) else { return false }
            state.response.freshen(by: fields, from: url, requestTime: requestTime, at: moment)
            return true
        }
        if isFreshened { store.recorder.note(self, bytes: 0) }
    }

    /// Marks the generation as stale, so that it is not used without asking the origin (RFC 9111 §4.4).
    func invalidate() {
        state.withLock { $0.response.invalidate() }
        store.recorder.note(self, bytes: 0)
    }

    /// Whether the first byte of `spec` has to be fetched under a strong validator anyway, which also shows whether the
    /// rest is still current.
    func beginsInHole(_ spec: RangeSpec?) -> Bool {
        state.withLock { state in
            guard state.response.record.identity.validators.ifRangeValue != nil, !state.response.record.isInvalidated,
                state.machine.rangesSupported != false,
                let extent = Self.extent(of: spec, completeLength: state.machine.completeLength),
                extent.start < state.machine.completeLength ?? .max
            else { return false }
            return !state.machine.stored.contains(extent.start)
        }
    }

    /// The first hole in `spec`, open-ended if it reaches the end of the representation; `nil` if there is no hole, or
    /// nothing of `spec` is stored.
    func hole(in spec: RangeSpec?) -> RangeSpec? {
        state.withLock { state in
            guard let length = state.machine.completeLength,
                let extent = Self.extent(of: spec, completeLength: length),
                !state.machine.stored.spans(in: extent.start..<(extent.end ?? length)).isEmpty,
                let hole = state.machine.stored.holes(in: extent.start..<(extent.end ?? length)).first
            else { return nil }
            return hole.upperBound == length ? .from(hole.lowerBound) : .bounded(hole)
        }
    }

    /// Whether all of `spec` is stored.
    func isStored(_ spec: RangeSpec?) -> Bool {
        state.withLock { state in
            guard let length = state.machine.completeLength,
                let extent = Self.extent(of: spec, completeLength: length), let end = extent.end
            else { return false }
            return state.machine.stored.holes(in: extent.start..<end).isEmpty
        }
    }
}
