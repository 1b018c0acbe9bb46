/// Why a request is not answered as it asks, with the status to answer.
package struct Refusal: Error, Equatable {
    let status: Int
    /// One sentence for the person who reads it.
    let reason: String
    /// Whether the connection ends with the answer, because what follows on it cannot be trusted or is not wanted.
    var endsConnection = true
    /// Whether the answer names the methods that are answered (RFC 9110 §15.5.6).
    var namesMethods = false
    /// Seconds after which the client may ask again, for `Retry-After`.
    var retryAfter: Int?
}
