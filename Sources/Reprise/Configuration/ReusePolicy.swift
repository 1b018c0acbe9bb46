/// When stored responses may be used without asking the origin, where RFC 9111 leaves the choice to the cache.
public struct ReusePolicy: Sendable {
    /// Whether several users share the cache.
    ///
    /// In a shared cache `private`, `s-maxage`, `proxy-revalidate`, the rule about Authorization and all request
    /// directives apply (RFC 9111 §3.5, §5.2). Off by default: the cache belongs to one user.
    public var isShared = false
    /// How long a play lasts after its last read.
    ///
    /// Media stored or validated during the play is served without asking again, whatever its freshness, so that a seek
    /// never waits for the origin. Applies to audio and video only, never to playlists, and not in a shared cache. Five
    /// minutes by default; a play ends after a day at the latest. A player's item of `RepriseAVPlayer` is a play by
    /// itself, which lasts as long as it does.
    public var playWindow = Duration.seconds(300)
    /// Hosts (in lower case) whose `no-store`, `no-cache`, `max-age` and `Expires` are ignored; their responses are
    /// stored and fresh for a day.
    ///
    /// None by default.
    public var forces: @Sendable (String) -> Bool = { _ in false }
    /// How long responses of a host (in lower case) are fresh that do not say so themselves, and how long all are that
    /// ``forces`` covers; `nil` from it for what HTTP and the defaults say.
    ///
    /// Playlists that may change, and the files of streams, have lifetimes of their own.
    package var lifetimes: @Sendable (String) -> Duration? = { _ in nil }
    /// Never ask the origin: serve stored responses, however stale, and throw `notStored` otherwise.
    public var isOffline = false
    /// How long a 404 or 410 response without explicit freshness answers further requests; 5 s by default.
    public var negativeLifetime = Duration.seconds(5)

    /// The defaults: a cache for one user.
    public init() {}

    /// Longest play; after it, even media in constant use is validated again.
    static let longestPlay = Duration.seconds(86_400)
    /// Seconds for which media without any validator or freshness counts as fresh: validating it would mean fetching it
    /// all.
    static let unverifiableLifetime: Int64 = 86_400
}
