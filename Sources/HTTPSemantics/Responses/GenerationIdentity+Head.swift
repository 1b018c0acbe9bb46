package import HTTPTypes

extension GenerationIdentity {
    /// What a 200 response to HEAD tells about a stored response (RFC 9111 §4.3.5).
    package enum HeadVerdict: Sendable, Hashable {
        /// It speaks of the same representation: its fields replace the stored ones.
        case freshens
        /// It speaks of another one: what is stored is stale.
        case contradicts
        /// It cannot be told of what it speaks.
        case tellsNothing
    }

    /// Judges the fields of a 200 response to HEAD.
    ///
    /// Every validator that it names must be stored, and match. One that names none tells nothing, but for a shared cache
    /// and a stored response without validators: there the length must be the same. A page in place of media is that of a
    /// captive portal or a log-in.
    package func verdict(ofHead fields: HTTPFields, isShared: Bool) -> HeadVerdict {
        if MediaType(fields[.contentType])?.isHTML == true, MediaType(mediaType)?.isHTML != true {
            return .tellsNothing
        }
        let received = Validators(fields)
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
