import HTTPSemantics

/// What one reader asks for.
struct ReadRequest: Sendable {
    let range: RangeSpec?
    /// How to ask the origin, should that be needed.
    var origin: OriginRequest
    /// The directives of the client's request (RFC 9111 §5.2.1).
    var directives = CacheControl()
    /// Whether nothing is to be stored of a representation that cannot be stored as a whole, nor evicted for it.
    var storesOnlyWhole = false
    /// How much the response to its first request is wanted, where others may wait for that one too.
    var interest: RequestInterest?
}
