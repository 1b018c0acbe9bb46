package import HTTPTypes

/// The identity of the representation whose bytes are stored; every response is checked against it.
public struct GenerationIdentity: Sendable, Hashable {
    /// Entity tag, Last-Modified and Date of the response that began it.
    public var validators: Validators
    /// Complete length in bytes; `nil` while unknown.
    public var completeLength: Int64?
    /// Media type as the origin gave it, with or without parameters; `nil` if it gave none.
    public var mediaType: String?
    /// Host that answered, after redirects; `nil` if it was not recorded.
    public var finalHost: String?

    /// Creates an identity from its parts.
    public init(
        validators: Validators = Validators(), completeLength: Int64? = nil, mediaType: String? = nil,
        finalHost: String? = nil
    ) {
        self.validators = validators
        self.completeLength = completeLength
        self.mediaType = mediaType
        self.finalHost = finalHost
    }

    /// Bodies shorter than this need a validator to replace the stored one.
    ///
    /// In bytes, at most 64 KiB; `nil` if the stored length is unknown.
    package var shortLength: Int64? { completeLength.map { min($0 / 16, 64 << 10) } }
}

/// When bytes of a new response may join those of an older one.
public enum GenerationPolicy: Sendable, Hashable {
    /// Only under the same strong validator (RFC 9110 §15.3.7.3); the default.
    case strict
    /// Also if Last-Modified is unchanged and at least a second before both Dates, and the complete length is the same.
    case lengthAndDate
    /// Always, unless the complete length differs: the app guarantees that the key names one unchanging representation.
    case immutable
}

/// Why a response does not continue the stored generation.
public enum GenerationChange: Sendable, Hashable {
    /// Nothing was stored.
    case noGeneration
    /// Entity tag or Last-Modified differ.
    case validatorChanged
    /// The complete length differs.
    case lengthChanged
    /// Nothing differs, but no strong validator proves that the bytes are the same (RFC 9110 §15.3.7.3).
    case noStrongValidator
    /// Another host answered, and no strong entity tag proves that the bytes are the same.
    case hostChanged
    /// The origin answered 412 to the condition (RFC 9110 §15.5.13).
    case preconditionFailed
}

extension GenerationIdentity {
    /// Why a response with these properties does not continue the generation; `nil` if it does.
    ///
    /// `confirmed` says that the origin answered 206 to an If-Range, and so compared the validator itself.
    package func change(
        to response: GenerationIdentity, policy: GenerationPolicy, confirmed: Bool = false
    ) -> GenerationChange? {
        if let completeLength, let other = response.completeLength, completeLength != other { return .lengthChanged }
        if policy == .immutable { return nil }
        if let finalHost, let other = response.finalHost, finalHost.lowercased() != other.lowercased() {
            return sharesStrongTag(with: response) ? nil : .hostChanged
        }
        if validators.stronglyMatches(response.validators) { return nil }
        if confirmed, isDateConfirmed(by: response) { return nil }
        if contradicts(response.validators) { return .validatorChanged }
        return policy == .lengthAndDate && sharesLengthAndDate(with: response) ? nil : .noStrongValidator
    }

    /// Whether both sides name different states, rather than merely too little.
    package func contradicts(_ other: Validators) -> Bool {
        if let tag = validators.etag, let otherTag = other.etag { return !tag.weaklyMatches(otherTag) }
        if let date = validators.lastModified, let otherDate = other.lastModified { return date != otherDate }
        return false
    }

    private func sharesStrongTag(with response: GenerationIdentity) -> Bool {
        guard let tag = validators.etag, let other = response.validators.etag else { return false }
        return tag.stronglyMatches(other)
    }

    /// A 206 response to an If-Range with a date may omit Last-Modified, but never an entity tag (RFC 9110 §15.3.7).
    private func isDateConfirmed(by response: GenerationIdentity) -> Bool {
        validators.etag == nil && validators.isLastModifiedStrong && response.validators.etag == nil
            && response.validators.lastModified == nil
    }

    private func sharesLengthAndDate(with response: GenerationIdentity) -> Bool {
        guard let completeLength, completeLength == response.completeLength else { return false }
        return validators.isLastModifiedStrong && response.validators.isLastModifiedStrong
            && validators.lastModified == response.validators.lastModified
    }

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
