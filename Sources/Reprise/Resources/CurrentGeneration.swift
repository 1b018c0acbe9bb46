import HTTPSemantics

/// What a ``ResourceMachine`` asks of the resource's current generation.
protocol CurrentGeneration: AnyObject, Sendable {
    /// Whether only its stored bytes are still served.
    var isFrozen: Bool { get }
    /// Whether no reader or fetch uses it.
    var isIdle: Bool { get }
    /// Whether some of its bytes are not in the index yet.
    var hasUnrecorded: Bool { get }
    /// Whether it may answer a request with these directives in `play` without asking the origin.
    func reuse(for directives: CacheControl, in play: Play?) -> Reuse
    /// Whether a request for `range` must be forwarded to the origin although the response is otherwise usable.
    func mustAsk(about range: RangeSpec?) -> Bool
    /// Whether a request for the first byte of `range` also shows whether the rest is current.
    func beginsInHole(_ range: RangeSpec?) -> Bool
    /// Whether the first byte of `range` is stored.
    func hasBeginning(of range: RangeSpec?) -> Bool
    /// Whether it is frozen because the origin has another representation, and stored bytes are served for the rest of
    /// `play`, which goes on.
    func isSuperseded(in play: Play?) -> Bool
    /// Whether all of `range` is stored.
    func isStored(_ range: RangeSpec?) -> Bool
    /// Whether `range` lies outside the representation: no byte of it is missing.
    func isOutside(_ range: RangeSpec?) -> Bool
}

extension LiveGeneration: CurrentGeneration {
    var hasUnrecorded: Bool { bytes.hasUnrecorded }
}
