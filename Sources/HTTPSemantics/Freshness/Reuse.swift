/// How a stored response may be used (RFC 9111 §4).
public enum Reuse: Sendable, Hashable {
    /// It is fresh enough: answer with it.
    case serve
    /// It is stale, but the request accepts that (`max-stale`): answer with it.
    case serveStale
    /// Answer with it and validate it in the background (RFC 5861 §3).
    case serveAndRevalidate
    /// Ask the origin first.
    case validate(CacheStatus.ForwardReason)
}

extension Freshness {
    /// Decides whether the response may answer a request with these directives without asking the origin.
    ///
    /// - Parameters:
    ///   - request: The directives of the request.
    ///   - now: The time.
    ///   - obeysRequest: Whether `no-cache`, `max-age`, `min-fresh` and `max-stale` of the request count
    ///     (RFC 9111 §5.2.1). A cache of one user may leave them: players send `no-cache` with every segment.
    ///   - isConfirmed: Whether the response came or was validated in this very play, so that asking again would tell
    ///     nothing new.
    /// - Returns: What to do with it.
    public func reuse(for request: CacheControl, now: HTTPDate, obeysRequest: Bool, isConfirmed: Bool) -> Reuse {
        var directives = obeysRequest ? request : CacheControl()
        // Reloading an immutable response asks for nothing (RFC 8246 §2); `no-cache` is more than a reload.
        if isImmutable, directives.maxAge == 0, isFresh(now: now) { directives.maxAge = nil }
        if isConfirmed && !(directives.noCache || directives.maxAge != nil || directives.minFresh != nil) {
            return .serve
        }
        if satisfies(directives, now: now) { return isFresh(now: now) ? .serve : .serveStale }
        if isFresh(now: now) { return .validate(.request) }
        let asksForFresh = directives.noCache || directives.maxAge != nil || directives.minFresh != nil
        if staleWhileRevalidate > 0, !asksForFresh, mayServeStale(because: .revalidating, now: now) {
            return .serveAndRevalidate
        }
        return .validate(.stale)
    }
}
