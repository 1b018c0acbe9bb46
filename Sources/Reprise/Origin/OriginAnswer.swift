import HTTPSemantics

/// A response of the origin and the action that it allows.
struct OriginAnswer: Sendable {
    let response: OriginResponse
    let action: ResponseAction
    /// The range of the request, if the answer is about missing bytes; `nil` for the whole representation.
    var range: RangeSpec?
}
