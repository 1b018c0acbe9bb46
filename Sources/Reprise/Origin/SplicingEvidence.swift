import HTTPSemantics

/// What the origin sent for one URL during one play, and whether that shows that its host gives each request another
/// file.
///
/// Pure. A file that is published once more looks the same to all requests from then on; a spliced one does not.
struct SplicingEvidence: Sendable {
    /// A representation, as a response described it.
    struct Sighting: Sendable {
        /// The URL that answered.
        let url: ResourceURL
        /// Its length in bytes; `nil` if the response did not say.
        let completeLength: Int64?
        let validators: Validators

        init(url: ResourceURL, completeLength: Int64?, validators: Validators) {
            self.url = url
            self.completeLength = completeLength
            self.validators = validators
        }

        /// The representation that `response` brings.
        init(_ response: OriginResponse, _ placement: BodyPlacement) {
            self.init(
                url: response.url, completeLength: placement.completeLength,
                validators: Validators(response.head.headerFields))
        }

        /// Whether this one and `other` are of different files for sure.
        ///
        /// Servers that share their load give one file different entity tags.
        func isOther(than other: Self) -> Bool {
            if let completeLength, let length = other.completeLength, completeLength != length { return true }
            if hasDate(of: other) { return false }
            return GenerationIdentity(validators: validators).contradicts(other.validators)
        }

        /// Whether the two together show that the host splices: a new edition of a file keeps its URL, and gets another
        /// date.
        func isSplicedLike(_ other: Self) -> Bool {
            guard let completeLength, let length = other.completeLength, completeLength != length else { return false }
            return url != other.url || hasDate(of: other)
        }

        private func hasDate(of other: Self) -> Bool {
            guard let date = validators.lastModified else { return false }
            return date == other.validators.lastModified
        }
    }

    /// How many files within one play show that the host splices, however they differ.
    static let enough = 3

    /// The different ones, at most ``enough``.
    private(set) var sightings: [Sighting] = []

    /// Adds what a response described; true if it is another file than those before, and they show that the host
    /// splices.
    mutating func add(_ sighting: Sighting) -> Bool {
        guard sightings.allSatisfy({ $0.isOther(than: sighting) }) else { return false }
        let before = sightings
        if sightings.count < Self.enough { sightings.append(sighting) }
        return before.count + 1 >= Self.enough || before.contains { $0.isSplicedLike(sighting) }
    }
}
