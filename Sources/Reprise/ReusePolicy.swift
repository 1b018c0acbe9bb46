/// When stored responses may be used without asking the origin: RFC 9111, and where it leaves the choice to the cache.
public struct ReusePolicy: Sendable {
    /// Whether several users share the cache.
    ///
    /// Then `private`, `s-maxage`, `proxy-revalidate`, the rule about Authorization and all directives of requests
    /// count (RFC 9111 §3.5, §5.2). Off by default: the cache is its one user's.
    public var isShared = false
    /// How long a play lasts after its last read.
    ///
    /// Media that came or was validated during the play is served without asking again, whatever its freshness, so that
    /// a seek never waits for the origin. Only for audio and video, never for playlists, and not in a shared cache. Five
    /// minutes by default; a play is over after a day at the latest.
    public var playWindow = Duration.seconds(300)
    /// Hosts (lower case) whose `no-store`, `no-cache`, `max-age` and `Expires` are not obeyed: what they send is stored
    /// and fresh for a day.
    ///
    /// None by default.
    public var forces: @Sendable (String) -> Bool = { _ in false }
    /// Never ask the origin: serve what is stored, however stale, and fail with `notStored` otherwise.
    public var isOffline = false
    /// How long a 404 or 410 without freshness of its own answers the next requests; 5 s by default.
    public var negativeLifetime = Duration.seconds(5)

    /// The defaults: a cache for one user.
    public init() {}

    /// Longest play: after it even media in constant use is validated again.
    static let longestPlay = Duration.seconds(86_400)
    /// Seconds for which media without any validator or freshness is taken for fresh: asking would mean fetching it all.
    static let unverifiableLifetime: Int64 = 86_400
}
