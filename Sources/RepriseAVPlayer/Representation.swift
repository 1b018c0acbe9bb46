import HTTPSemantics
import HTTPTypes
import Reprise

/// Compares two answers to determine whether they describe the same bytes.
struct Representation: Sendable {
    let completeLength: Int64
    let validators: Validators
    let generation: String

    init(completeLength: Int64, validators: Validators, generation: String = "") {
        self.completeLength = completeLength
        self.validators = validators
        self.generation = generation
    }

    init?(_ information: ContentInformation) {
        guard let length = information.completeLength else { return nil }
        completeLength = length
        validators = information.validators
        generation = information.generation
    }

    /// Whether the head of a HEAD response belongs to another representation.
    ///
    /// Validators decide. The length decides only without any, because many servers answer HEAD without one, or with 0.
    func isContradicted(by head: HTTPResponse) -> Bool {
        let now = Validators(head.headerFields)
        if let mine = validators.etag, let other = now.etag { return !mine.weaklyMatches(other) }
        if let mine = validators.lastModified, let other = now.lastModified { return mine != other }
        guard head.headerFields[.contentEncoding] == nil, let field = head.headerFields[.contentLength],
            let length = contentLength(field), length > 0
        else { return false }
        return length != completeLength
    }

    /// Whether bytes of `information` may replace bytes of this representation.
    ///
    /// The same generation is the same representation. Otherwise, after an eviction or when bypassing the store, length
    /// and validators decide. Without validators the length alone has to do, as for every player without a cache.
    func isSame(as information: ContentInformation) -> Bool {
        if !generation.isEmpty, generation == information.generation { return true }
        if let length = information.completeLength, length != completeLength { return false }
        if let mine = validators.etag, let other = information.validators.etag { return mine.weaklyMatches(other) }
        if let mine = validators.lastModified, let other = information.validators.lastModified { return mine == other }
        return true
    }
}
