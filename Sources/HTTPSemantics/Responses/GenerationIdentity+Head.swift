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
    /// Every validator in it must be stored, and match. Fields without a validator mean nothing, except in a shared
    /// cache for a stored response without validators, if the length is the same. A page, JSON, or a text without a
    /// validator in place of media comes from a captive portal, a log-in or a failing program.
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
