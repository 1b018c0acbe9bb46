/// Why a request is refused, with the status to answer.
package struct Refusal: Error, Equatable {
    let status: Int
    /// One sentence for the user.
    let reason: String
    /// Whether the connection ends with the answer, because later bytes on it are not trustworthy or not wanted.
    var endsConnection = true
    /// Whether the answer lists the supported methods (RFC 9110 §15.5.6).
    var namesMethods = false
    /// Seconds after which the client may try again, for `Retry-After`.
    var retryAfter: Int?
}
