package import HTTPTypes

extension GenerationIdentity {
    /// What a 200 response to HEAD means for a stored response (RFC 9111 §4.3.5).
    package enum HeadVerdict: Sendable, Hashable {
        /// It describes the same representation: its fields replace the stored ones.
        case freshens
        /// It describes another representation: the stored response is stale.
        case contradicts
        /// It is unclear which representation it describes.
        case tellsNothing
    }

    /// Judges the fields of a 200 response to HEAD.
    ///
    /// Every validator in it must be stored, and match. Without a validator the fields prove nothing, except in a
    /// shared cache if the stored response has no validators either and the length is the same. If the stored response
    /// is media, an HTML page, JSON, or text without a validator comes from a captive portal, a login page or a failing
    /// server.
    package func verdict(ofHead fields: HTTPFields, isShared: Bool) -> HeadVerdict {
        if MediaType(fields[.contentType])?.isNotice == true, MediaType(mediaType)?.isNotice != true {
            return .tellsNothing
        }
        let received = Validators(fields)
        if received.isEmpty, MediaType(fields[.contentType])?.isOfOtherKind == true,
            MediaType(mediaType)?.isOfOtherKind != true
        {
            return .tellsNothing
        }
        let length = fields[.contentLength].flatMap { Int64($0) }
        if contradicts(received) { return .contradicts }
        if let length, let completeLength, length != completeLength { return .contradicts }
        let matches = [
            received.etag.map { tag in validators.etag.map { $0.weaklyMatches(tag) } ?? false },
            received.lastModified.map { $0 == validators.lastModified },
        ].compactMap { $0 }
        if !matches.isEmpty { return matches.allSatisfy { $0 } ? .freshens : .tellsNothing }
        let hasNone = validators.etag == nil && validators.lastModified == nil
        return isShared && hasNone && length != nil && length == completeLength ? .freshens : .tellsNothing
    }
}
