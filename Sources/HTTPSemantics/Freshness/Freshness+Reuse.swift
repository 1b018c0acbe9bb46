extension Freshness {
    /// Why a stale response might be served.
    public enum StaleReason: Sendable, Hashable {
        /// It is validated at the same time, for the next use (RFC 5861 §3).
        case revalidating
        /// The origin answered with 500, 502, 503 or 504, or not at all (RFC 5861 §4).
        case error
        /// The cache cannot reach the origin and knows it (RFC 9111 §4.2.4).
        case disconnected
    }

    /// Whether it may be served for this reason though it is not fresh; true as well while it is fresh.
    ///
    /// Never if the response forbids staleness by `no-cache`, `must-revalidate` or, in a shared cache,
    /// `proxy-revalidate` or `s-maxage`. When disconnected an error window need not be open.
    public func mayServeStale(because reason: StaleReason, now: HTTPDate) -> Bool {
        if forbidsStale { return isFresh(now: now) }
        switch reason {
        case .revalidating: return staleness(now: now) <= staleWhileRevalidate
        case .error: return staleness(now: now) <= staleIfError
        case .disconnected: return true
        }
    }

    /// Whether it may be used without asking the origin for a request with these directives (RFC 9111 §5.2.1).
    ///
    /// Counts `no-cache`, `max-age`, `min-fresh` and `max-stale`. A caller that does not let clients force validation
    /// asks ``isFresh(now:)`` instead.
    public func satisfies(_ request: CacheControl, now: HTTPDate) -> Bool {
        if request.noCache || requiresValidation { return false }
        if let limit = request.maxAge, currentAge(now: now) > limit, request.maxStale == nil { return false }
        if let seconds = request.minFresh, lifetime - currentAge(now: now) < seconds { return false }
        if isFresh(now: now) { return true }
        switch request.maxStale {
        case .any?: return !forbidsStale
        case .seconds(let seconds)?: return !forbidsStale && staleness(now: now) <= seconds
        case nil: return false
        }
    }
}
