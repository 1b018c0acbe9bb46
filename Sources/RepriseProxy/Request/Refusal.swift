/// Why a request is refused, with the status to answer.
package struct Refusal: Error, Equatable {
    let status: Int
    /// One sentence for the user.
    let reason: String
    /// Whether the connection ends with the answer, because later bytes on it are not trustworthy or not wanted.
    var endsConnection = true
    /// The supported methods, for `Allow` (RFC 9110 §15.5.6).
    var methods: String?
    /// What the client may show to be answered, for `WWW-Authenticate` (RFC 9110 §11.6.1).
    var challenges: [String] = []
    /// Seconds after which the client may try again, for `Retry-After`.
    var retryAfter: Int?

    /// The holders of a token have as many answers as they may (RFC 6585 §4).
    static let tooManyAnswers = Refusal(
        status: 429, reason: "Too many files are being sent to those who use this token.", endsConnection: false,
        retryAfter: 1)
}
