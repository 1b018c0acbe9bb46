extension Freshness {
    /// The reason for serving a stale response.
    public enum StaleReason: Sendable, Hashable {
        /// It is validated in the background, for the next use (RFC 5861 §3).
        case revalidating
        /// The origin answered with 500, 502, 503 or 504, or not at all (RFC 5861 §4).
        case error
        /// The cache knows that it cannot reach the origin (RFC 9111 §4.2.4).
        case disconnected
    }

    /// Whether the response may be served although it may be stale; true also while it is fresh.
    ///
    /// Never true if the response forbids staleness by `no-cache`, `must-revalidate` or, in a shared cache,
    /// `proxy-revalidate` or `s-maxage`. When disconnected, no `stale-if-error` window is needed.
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
    /// Honors `no-cache`, `max-age`, `min-fresh` and `max-stale`. A caller that does not let clients force validation
    /// uses ``isFresh(now:)`` instead.
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
