/// What was answered to the holders of one token.
struct TokenTally: Sendable, Equatable {
    var responses: Int64 = 0
    /// Bytes of bodies that were passed on.
    var bodyBytes: Int64 = 0

    static func + (left: TokenTally, right: TokenTally) -> TokenTally {
        TokenTally(responses: left.responses + right.responses, bodyBytes: left.bodyBytes + right.bodyBytes)
    }

    static func += (left: inout TokenTally, right: TokenTally) { left = left + right }
}
