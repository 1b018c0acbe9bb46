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
    /// A body for the client that must not be stored.
    case passThrough(PassThroughReason)
    /// An error or a redirect for the client; never stored as media.
    case refusal
    /// A response that violates the protocol; its body is unusable.
    case reject(RejectionReason)
}

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

/// Why a usable response must not be stored.
public enum PassThroughReason: Sendable, Hashable {
    /// Content-Encoding other than `identity`: offsets would count encoded bytes (RFC 9110 §8.4).
    case contentEncoding
    /// `Vary: *` (RFC 9111 §4.1).
    case varyAny
    /// `no-store`, and the policy honors it (RFC 9111 §5.2.2.5).
    case noStore
    /// `private`, and the cache is shared (RFC 9111 §5.2.2.7).
    case isPrivate
    /// The request carried Authorization, the cache is shared, and nothing allows storing the response (RFC 9111 §3.5).
    case authorization
    /// The request carried fields that are not part of any key, the cache is shared, and Vary does not name them (RFC
    /// 9111 §4.1).
    case unkeyedFields
    /// ICY metadata lies between the media bytes.
    case icyMetadata
    /// HTML where media was expected: a captive portal or an error page with status 200.
    case unexpectedHTML
    /// No bytes with status 200 where media was expected.
    case emptyBody
    /// A successful status other than 200 and 206.
    case unexpectedStatus
}

/// How a response violates the protocol.
public enum RejectionReason: Sendable, Hashable {
    /// 206 to a request without Range (RFC 9110 §15.3.7).
    case unrequestedPartialContent
    /// 206 without a valid Content-Range in bytes (RFC 9110 §15.3.7.1).
    case invalidContentRange
    /// multipart/byteranges to a request for one range (RFC 9110 §15.3.7.2).
    case multipart
    /// 206 that does not begin where requested, without a validator to vouch for its own offsets.
    case wrongStart
    /// Content-Length is invalid or differs from what Content-Range declares (RFC 9110 §8.6, §15.3.7.1).
    case contentLength
    /// 304 to a request without a condition (RFC 9110 §15.4.5).
    case unrequestedNotModified
    /// 1xx as a final response, or no valid status code (RFC 9110 §15).
    case invalidStatus
}
