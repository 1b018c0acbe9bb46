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

/// Where the bytes of a response's body belong in the representation.
public struct BodyPlacement: Sendable, Hashable {
    /// Offset of the body's first byte.
    public var start: Int64
    /// Offset after the body's last byte, as declared; `nil` if only the end of the body shows it.
    public var end: Int64?
    /// Complete length of the representation, from this response or from the generation that it continues.
    public var completeLength: Int64?
    /// Whether the origin supports range requests; `nil` if this response doesn't prove either.
    ///
    /// A 206 proves support. A 200 in response to a partial range request without If-Range proves the lack of it.
    public var rangesSupported: Bool?

    /// Creates a placement.
    public init(start: Int64, end: Int64? = nil, completeLength: Int64? = nil, rangesSupported: Bool? = nil) {
        self.start = start
        self.end = end
        self.completeLength = completeLength
        self.rangesSupported = rangesSupported
    }
}

/// Why a usable response must not be stored.
public enum PassThroughReason: Sendable, Hashable {
    /// Content-Encoding that changes the bytes, so that offsets would count encoded bytes (RFC 9110 §8.4).
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
    /// A text that sets a cookie, the cache is shared, and neither `public` nor `s-maxage` allows storing it: it may be
    /// made for one user (RFC 9111 §7.3).
    case setsCookie
    /// ICY metadata lies between the media bytes.
    case icyMetadata
    /// A live stream rather than a file: media with neither a length nor a validator, which must not be reused.
    case live
    /// A body that can't be a version of the expected or stored media, such as a web page, a short text or an image.
    ///
    /// It comes from a captive portal, or is an error sent with status 200.
    case unexpectedNotice
    /// No bytes with status 200 where media was expected, and nothing that shows that the file is empty.
    case emptyBody
    /// A 200 whose Content-Range declares it a part, or a part with an incorrect Content-Range or Content-Length.
    case contradictoryRange
    /// A successful status other than 200 and 206.
    case unexpectedStatus

    /// Whether the response says nothing about the stored representation.
    package var isOfNoVersion: Bool {
        switch self {
        case .unexpectedNotice, .emptyBody, .unexpectedStatus: true
        default: false
        }
    }
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
