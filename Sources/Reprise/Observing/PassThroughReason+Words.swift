import HTTPSemantics

extension PassThroughReason {
    /// Whether the reason applies to the host in general rather than to a single response.
    var isOfHost: Bool { self != .unexpectedStatus && self != .emptyBody }

    /// Why the response is not stored, for people.
    var words: String {
        switch self {
        case .contentEncoding:
            "The response has a content coding (Content-Encoding), so its ranges are not those of the file."
        case .contradictoryRange:
            "The response contradicts itself about which part of the file it is (status, Content-Range, Content-Length)."
        case .varyAny: "The response is for one request only (Vary: *)."
        case .noStore: "The origin forbids storing it (no-store)."
        case .isPrivate: "The response is for one user (private), and the cache is shared."
        case .authorization: "The request had credentials, and the cache is shared."
        case .unkeyedFields: "The request had fields that may have changed the response, and the cache is shared."
        case .setsCookie: "The response is a text that sets a cookie, and the cache is shared."
        case .live: "It is live: its origin names neither a length nor a validator, and wants to be asked each time."
        case .icyMetadata: "Metadata of a radio stream lies between the bytes."
        case .unexpectedNotice: "The origin sent a page or an error in place of media."
        case .emptyBody: "The origin sent nothing in place of media."
        case .unexpectedStatus: "The status is neither 200 nor 206."
        }
    }
}
