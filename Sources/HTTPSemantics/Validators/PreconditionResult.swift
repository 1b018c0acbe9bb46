/// The result of a client's preconditions (RFC 9110 §13.2.2).
public enum PreconditionResult: Sendable, Hashable {
    /// Answer the request: with the selected range if `rangeApplies`, otherwise in full.
    case proceed(rangeApplies: Bool)
    /// Answer 304.
    case notModified
    /// Answer 412.
    case preconditionFailed
}
