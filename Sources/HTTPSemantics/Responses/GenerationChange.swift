/// Why a response does not continue the stored generation.
public enum GenerationChange: Sendable, Hashable {
    /// Nothing was stored.
    case noGeneration
    /// Entity tag or Last-Modified differ.
    case validatorChanged
    /// The complete length differs.
    case lengthChanged
    /// Nothing differs, but no strong validator proves that the bytes are the same (RFC 9110 §15.3.7.3).
    case noStrongValidator
    /// Another host answered, and no strong entity tag proves that the bytes are the same.
    case hostChanged
    /// The origin answered 412 to the condition (RFC 9110 §15.5.13).
    case preconditionFailed
}
