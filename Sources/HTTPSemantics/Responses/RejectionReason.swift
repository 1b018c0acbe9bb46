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
