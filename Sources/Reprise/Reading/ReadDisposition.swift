/// How a read began, in the terms of RFC 9211.
public enum ReadDisposition: String, Sendable {
    /// Everything was on disk.
    case hit
    /// Some bytes were on disk; the holes are fetched.
    case partial
    /// None of the requested bytes were on disk, though other bytes of the representation are.
    case miss
    /// The cache knew nothing of the resource.
    case unknown
    /// The response was stored, had to be validated, and is still current.
    case validated
    /// The response must not or cannot be stored.
    case bypass
}
