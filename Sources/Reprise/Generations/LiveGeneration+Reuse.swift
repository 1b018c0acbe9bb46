import ByteRanges
import HTTPSemantics
import HTTPTypes
import Locks

/// Whether a generation may be used without asking the origin, and what the origin's answer changes (RFC 9111 §4).
extension LiveGeneration {
    /// Whether the generation was stored or validated in a play that is still going on.
    static func isInPlay(_ state: borrowing State, _ policy: ReusePolicy, now: Duration) -> Bool {
        guard !policy.isShared, let confirmed = state.confirmed, state.record.isMedia else { return false }
        return now - state.lastUsed < policy.playWindow && now - confirmed < ReusePolicy.longestPlay
    }

    /// Whether it may answer a request with these directives without asking the origin.
    func reuse(for directives: CacheControl) -> Reuse {
        let policy = engine.configuration.reuse
        if policy.isOffline || engine.configuration.generationPolicy == .immutable { return .serve }
        let now = engine.configuration.clock.elapsed()
        let date = HTTPDate(secondsSince1970: Int64(engine.configuration.clock.now()))
        return state.withLock { state in
            if state.record.isInvalidated { return .validate(.stale) }
            return state.freshness.reuse(
                for: directives, now: date, obeysRequest: policy.isShared || !state.record.isMedia,
                isConfirmed: Self.isInPlay(state, policy, now: now))
        }
    }

    /// Whether it may be served although validating it failed with `error` (RFC 9111 §4.2.4, RFC 5861 §4).
    func mayServeStale(instead error: RepriseError) -> Bool {
        let policy = engine.configuration.reuse
        let date = HTTPDate(secondsSince1970: Int64(engine.configuration.clock.now()))
        return state.withLock { state in
            if state.record.isInvalidated { return false }
            switch error.code {
            case .networkUnavailable, .originUnreachable, .originNotFound, .originTimedOut:
                return state.freshness.mayServeStale(because: .disconnected, now: date)
            case .originRefused where error.refusal.map { [500, 502, 503, 504].contains($0.head.status.code) } == true:
                let isLenient = !policy.isShared && state.record.isMedia && !state.freshness.forbidsStale
                return isLenient || state.freshness.mayServeStale(because: .error, now: date)
            default: return false
            }
        }
    }

    /// Whether a response to `request` with these fields may update the generation for other readers; in a shared cache
    /// a response that must not be stored may not.
    func mayBeChanged(by fields: HTTPFields, for request: OriginRequest) -> Bool {
        guard engine.configuration.reuse.isShared else { return true }
        let updated = record.fields.freshened(by: fields, isShared: true)
        return engine.storage(for: request).objection(to: CacheControl(updated, isShared: true), vary: Vary(updated))
            == nil
    }

    /// Updates the stored fields from a response to `request` that confirms the generation (RFC 9111 §3.2, §4.3.4),
    /// unless the response is for that request alone.
    func freshen(_ fields: HTTPFields, requestTime: Int64, by request: OriginRequest) {
        guard mayBeChanged(by: fields, for: request) else { return }
        let policy = engine.configuration.reuse
        let now = engine.configuration.clock.elapsed()
        let wallClock = Int64(engine.configuration.clock.now())
        state.withLock { state in
            var record = state.record
            record.fields = record.fields.freshened(by: fields, isShared: policy.isShared)
            record.requestTime = requestTime
            record.responseTime = wallClock
            state.update(record, policy, confirmed: now)
        }
        store.recorder.note(self, bytes: 0)
    }

    /// Marks the generation as stale, so that it is not used without asking the origin (RFC 9111 §4.4).
    func invalidate() {
        let policy = engine.configuration.reuse
        state.withLock { state in
            var record = state.record
            record.requestTime = 0
            record.responseTime = 0
            state.update(record, policy, confirmed: nil)
        }
        store.recorder.note(self, bytes: 0)
    }

    /// Whether the first byte of `spec` has to be fetched under a strong validator anyway, which also shows whether the
    /// rest is still current.
    func beginsInHole(_ spec: RangeSpec?) -> Bool {
        state.withLock { state in
            guard state.record.identity.validators.ifRangeValue != nil, !state.record.isInvalidated,
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
