import HTTPSemantics
import Reprise

/// Tells whether two answers are about the same bytes.
struct Representation: Sendable {
    let completeLength: Int64
    let validators: Validators
    let generation: String

    init?(_ information: ContentInformation) {
        guard let length = information.completeLength else { return nil }
        completeLength = length
        validators = information.validators
        generation = information.generation
    }

    /// Whether bytes of `information` may be given where bytes of this representation were.
    ///
    /// One generation is one representation. Otherwise, after an eviction or past the store, length and validators decide;
    /// without validators the length alone has to do, as it has for every player without a cache.
    func isSame(as information: ContentInformation) -> Bool {
        if !generation.isEmpty, generation == information.generation { return true }
        if let length = information.completeLength, length != completeLength { return false }
        if let mine = validators.etag, let other = information.validators.etag { return mine.weaklyMatches(other) }
        if let mine = validators.lastModified, let other = information.validators.lastModified { return mine == other }
        return true
    }
}
