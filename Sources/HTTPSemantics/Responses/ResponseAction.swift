/// What to do with a response, as decided by ``validate(_:against:policy:response:finalHost:storage:)``.
public enum ResponseAction: Sendable, Hashable {
    /// The body continues the generation.
    case fill(BodyPlacement)
    /// The body begins a new generation; no stored bytes belong to it.
    case newGeneration(BodyPlacement, GenerationChange)
    /// 304: the stored bytes are current; freshen their fields.
    case notModified
    /// A 416 that agrees with the known length: the range lies beyond the representation.
    case unsatisfiable(completeLength: Int64?)
    /// The stored generation is out of date, and this response has no body to begin the next one.
    case generationChanged(GenerationChange)
    /// A 416 without information, or one that contradicts itself: ask once more, without Range.
    case retryWithoutRange
    /// The whole representation instead of a part, although the If-Range condition is true (RFC 9110 §13.1.5).
    ///
    /// Retry once without If-Range.
    case retryWithoutIfRange
    /// A body for the client that must not be stored.
    case passThrough(PassThroughReason)
    /// An error or a redirect for the client; never stored as media.
    case refusal
    /// A response that violates the protocol; its body is unusable.
    case reject(RejectionReason)
}
