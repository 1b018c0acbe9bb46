/// The directives of a Cache-Control field, of a request or of a response (RFC 9111 §5.2).
///
/// Times are delta-seconds, at most ``longestTime``. `nil` means that the directive is absent.
public struct CacheControl: Sendable, Hashable {
    /// Upper bound of delta-seconds, to which larger values are clamped: 2^31 (RFC 9111 §1.2.2).
    public static let longestTime: Int64 = 1 << 31

    /// How stale a response a request accepts (RFC 9111 §5.2.1.2).
    public enum MaxStale: Sendable, Hashable {
        /// Of any age.
        case any
        /// At most this many seconds beyond its lifetime.
        case seconds(Int64)
    }

    /// `max-age`: seconds from the response's generation during which it is fresh.
    public var maxAge: Int64?
    /// `s-maxage`: the same for shared caches, which also must not serve the response stale.
    public var sharedMaxAge: Int64?
    /// `stale-while-revalidate`: seconds beyond freshness in which it may be served while it is validated (RFC 5861
    /// §3).
    public var staleWhileRevalidate: Int64?
    /// `stale-if-error`: seconds beyond freshness in which it may be served if the origin fails (RFC 5861 §4).
    public var staleIfError: Int64?
    /// `max-stale` of a request.
    public var maxStale: MaxStale?
    /// `min-fresh` of a request: seconds for which the response must still be fresh.
    public var minFresh: Int64?

    /// `no-store`: store nothing of it.
    public var noStore = false
    /// `no-cache` without field names: validate before every use.
    public var noCache = false
    /// Field names of `no-cache="…"`, in lower case: only these need validation.
    public var noCacheFields: [String] = []
    /// `private` without field names: not for shared caches.
    public var isPrivate = false
    /// Field names of `private="…"`, in lower case: only these are kept from shared caches.
    public var privateFields: [String] = []
    /// `public`: may be stored where that would otherwise be forbidden.
    public var isPublic = false
    /// `must-revalidate`: never serve it stale, not even when disconnected.
    public var mustRevalidate = false
    /// `proxy-revalidate`: the same, for shared caches.
    public var proxyRevalidate = false
    /// `must-understand`: store it only if the status code's meaning is known.
    public var mustUnderstand = false
    /// `no-transform`: intermediaries leave the content as it is.
    public var noTransform = false
    /// `immutable`: does not change while it is fresh (RFC 8246).
    public var isImmutable = false
    /// `only-if-cached` of a request: a stored response or a 504.
    public var onlyIfCached = false

    /// No directives.
    public init() {}
}
