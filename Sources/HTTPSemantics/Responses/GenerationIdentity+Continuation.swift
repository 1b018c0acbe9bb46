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
}
