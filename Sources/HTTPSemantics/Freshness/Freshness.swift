public import HTTPTypes

/// How long a stored response may be used without asking the origin (RFC 9111 §4.2).
///
/// Computed once from the stored fields and times; the caller supplies the current time.
public struct Freshness: Sendable, Hashable {
    /// Longest heuristic lifetime of a response without an explicit one: one day, in seconds.
    public static let longestHeuristicLifetime: Int64 = 86_400

    /// Seconds for which the response is fresh, from its generation (RFC 9111 §4.2.1); 0 if it never is.
    public let lifetime: Int64
    /// Whether ``lifetime`` is a guess from Last-Modified (RFC 9111 §4.2.2).
    public let isHeuristic: Bool
    /// Whether the origin itself gave the lifetime, even 0 (RFC 9111 §4.2.1).
    public let hasExplicitLifetime: Bool
    /// Whether every use needs validation: `no-cache` (RFC 9111 §5.2.2.4).
    public let requiresValidation: Bool
    /// Whether it must never be served stale, not even when disconnected (RFC 9111 §4.2.4).
    public let forbidsStale: Bool
    /// Seconds beyond freshness in which it may be served while it is validated (RFC 5861 §3).
    public let staleWhileRevalidate: Int64
    /// Seconds beyond freshness in which it may be served if the origin fails (RFC 5861 §4).
    public let staleIfError: Int64
    /// Whether it needs no validation while fresh, not even when the user reloads (RFC 8246).
    public let isImmutable: Bool

    /// The age that the response already had when it arrived, in seconds (`corrected_initial_age`, RFC 9111 §4.2.3).
    public let initialAge: Int64
    /// When the response arrived.
    public let responseTime: HTTPDate

    /// Computes freshness from a stored response.
    ///
    /// - Parameters:
    ///   - fields: The response's fields.
    ///   - requestTime: When the request was sent, by the cache's clock.
    ///   - responseTime: When the response came, by the same clock; stands in for a missing Date.
    ///   - isShared: Whether the cache serves several users; then `s-maxage` and `proxy-revalidate` count.
    ///   - guess: Seconds to assume where the origin says nothing and there is no Last-Modified to guess from
    ///     (RFC 9111 §4.2.2 leaves the heuristic to the cache); 0 by default.
    public init(
        _ fields: HTTPFields, requestTime: HTTPDate, responseTime: HTTPDate, isShared: Bool = false, guess: Int64 = 0
    ) {
        let control = CacheControl(fields, isShared: isShared)
        let date = fields[.date].flatMap { HTTPDate($0, now: responseTime) } ?? responseTime
        let explicit = Self.explicitLifetime(fields, control: control, date: date, isShared: isShared)
        lifetime = explicit ?? Self.heuristicLifetime(fields, date: date) ?? guess
        hasExplicitLifetime = explicit != nil
        isHeuristic = explicit == nil && lifetime > 0
        requiresValidation = control.noCache || explicit == nil && Self.hasPragmaNoCache(fields)
        forbidsStale =
            control.noCache || control.mustRevalidate
            || isShared && (control.proxyRevalidate || control.sharedMaxAge != nil)
        staleWhileRevalidate = control.staleWhileRevalidate ?? 0
        staleIfError = control.staleIfError ?? 0
        isImmutable = control.isImmutable
        initialAge = Self.initialAge(fields, date: date, requestTime: requestTime, responseTime: responseTime)
        self.responseTime = responseTime
    }

    /// Seconds since the response was generated or last validated at the origin (RFC 9111 §4.2.3).
    ///
    /// A clock that was set back does not make it younger than it was on arrival.
    public func currentAge(now: HTTPDate) -> Int64 {
        initialAge + max(0, now.seconds(since: responseTime))
    }

    /// The moment at which its lifetime ends; the moment of its generation or earlier if it is never fresh.
    public var freshUntil: HTTPDate {
        HTTPDate(secondsSince1970: responseTime.secondsSince1970 + (requiresValidation ? 0 : lifetime) - initialAge)
    }

    /// Whether it may be used without asking the origin.
    public func isFresh(now: HTTPDate) -> Bool {
        !requiresValidation && lifetime > currentAge(now: now)
    }

    /// Seconds since its lifetime ended; negative while some of it is left.
    public func staleness(now: HTTPDate) -> Int64 {
        currentAge(now: now) - lifetime
    }

    // The first value of each kind counts (RFC 9111 §4.2.1).
    private static func explicitLifetime(
        _ fields: HTTPFields, control: CacheControl, date: HTTPDate, isShared: Bool
    ) -> Int64? {
        if isShared, let seconds = control.sharedMaxAge { return seconds }
        if let seconds = control.maxAge { return seconds }
        // Where CDN-Cache-Control applies, Expires does not (RFC 9213 §2.1).
        if isShared, CacheControl.targeted(fields) != nil { return nil }
        guard let expires = fields[values: .expires].first else { return nil }
        // An invalid date, such as the common `0`, means that it has expired (RFC 9111 §5.3).
        return HTTPDate(expires, now: date).map { max(0, $0.seconds(since: date)) } ?? 0
    }

    /// A tenth of the time for which the representation had been unchanged (RFC 9111 §4.2.2).
    private static func heuristicLifetime(_ fields: HTTPFields, date: HTTPDate) -> Int64? {
        guard let modified = fields[.lastModified].flatMap({ HTTPDate($0, now: date) }) else { return nil }
        return min(max(0, date.seconds(since: modified)) / 10, longestHeuristicLifetime)
    }

    /// `Pragma: no-cache` in a response has no specified meaning (RFC 9111 §5.4), but a heuristic should not contradict
    /// it.
    private static func hasPragmaNoCache(_ fields: HTTPFields) -> Bool {
        fields[.cacheControl] == nil
            && fields.contains { $0.name.canonicalName == "pragma" && $0.value.lowercased().contains("no-cache") }
    }

    private static func initialAge(
        _ fields: HTTPFields, date: HTTPDate, requestTime: HTTPDate, responseTime: HTTPDate
    ) -> Int64 {
        let apparentAge = max(0, responseTime.seconds(since: date))
        let responseDelay = max(0, responseTime.seconds(since: requestTime))
        return max(apparentAge, age(fields) + responseDelay)
    }

    /// The Age field: the first value of a list, and 0 if that is invalid (RFC 9111 §5.1).
    private static func age(_ fields: HTTPFields) -> Int64 {
        guard let value = fields[values: .age].first, var scanner = FieldScanner(value),
            let number = Decimal(scanning: &scanner)
        else { return 0 }
        scanner.skipWhitespace()
        return scanner.isAtEnd || scanner.next == UInt8(ascii: ",") ? number.clamped(to: CacheControl.longestTime) : 0
    }
}

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
