import HTTPSemantics

/// One reader's request.
struct ReadRequest: Sendable {
    let range: RangeSpec?
    /// The request to send to the origin if necessary.
    var origin: OriginRequest
    /// The directives of the client's request (RFC 9111 §5.2.1).
    var directives = CacheControl()
    /// Whether a stored response is validated first, however fresh it is.
    var isValidating = false
    /// The play that it belongs to; `nil` for one that lasts as ``ReusePolicy/playWindow`` says.
    var play: Play?
    /// Whether nothing may be stored, or evicted for it, if the representation cannot be stored as a whole.
    var storesOnlyWhole = false
    /// Whether its bytes are of no use unless they are stored.
    ///
    /// It fails where another read would ask the origin for bytes that bypass the store.
    var needsStore = false
    /// How much the response to its first request is wanted; other readers may wait for that response too.
    var interest: RequestInterest?
    /// Whether it begins where the origin must not be asked and only its beginning is stored; it ends at the first hole
    /// then, with `notStored`.
    var mayBreakOff = false
    /// Whether it counts as a use of the file, by which eviction chooses and titles are listed.
    ///
    /// A player's read does, and whatever a person reads. A download looks at its files whenever the cache is opened:
    /// only the bytes that it fetches count, and that a person asks for it.
    var isUse = true
    /// Whether it counts as a read, and its bytes as given to a reader; what it fetches counts in any case.
    var isCounted = true
    /// What a playlist says about the resource, for a response that is stored.
    var role: StreamRole?
    /// The expected content; a response with other content is not stored.
    var content: StreamContent?
    /// The titles that the resource is a file of, for a response that is stored.
    var titles: [TitleReference] = []
    /// How many removals of titles came before it.
    var asOf = 0

    /// Whether the resource is known to be a file rather than a potential live stream.
    var isForFile: Bool {
        role != nil || content != nil || origin.demand == .download || origin.url.namesPlaylist
    }

    /// Whether it is for a playlist, which is always fetched whole.
    ///
    /// The text of a playlist is parsed and edited, and some servers count characters instead of bytes. A server may
    /// ignore Range anyway (RFC 9110 §14.2).
    var isForPlaylist: Bool { origin.url.namesPlaylist || role?.kind == .playlist }

    /// That the resource is a file of ``titles``.
    var claims: [TitleClaim] { titles.map { TitleClaim(title: $0, asOf: asOf) } }
}
