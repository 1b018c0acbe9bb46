public import HTTPTypes

/// The fields that distinguish one state of a representation from another (RFC 9110 §8.8).
public struct Validators: Sendable, Hashable {
    /// The entity tag, weak or strong; `nil` if absent or invalid.
    public var etag: EntityTag?
    /// When the origin believes the representation was last changed; `nil` if absent or invalid.
    public var lastModified: HTTPDate?
    /// When the response was generated; decides whether ``lastModified`` is strong.
    public var date: HTTPDate?

    /// Creates validators from their parts.
    public init(etag: EntityTag? = nil, lastModified: HTTPDate? = nil, date: HTTPDate? = nil) {
        self.etag = etag
        self.lastModified = lastModified
        self.date = date
    }

    /// Reads ETag, Last-Modified and Date; an invalid or repeated field counts as absent.
    public init(_ fields: HTTPFields) {
        date = fields[.date].flatMap { HTTPDate($0) }
        etag = fields[.eTag].flatMap { EntityTag($0) }
        lastModified = fields[.lastModified].flatMap { [date] in HTTPDate($0, now: date) }
    }

    /// Whether there is neither an entity tag nor a modification date.
    package var isEmpty: Bool { etag == nil && lastModified == nil }

    /// The entity tag, if it is strong.
    public var strongETag: EntityTag? {
        etag.flatMap { $0.isWeak ? nil : $0 }
    }

    /// Whether Last-Modified identifies the exact bytes: Date is at least one second later (RFC 9110 §8.8.2.2).
    public var isLastModifiedStrong: Bool {
        guard let lastModified, let date else { return false }
        return date.seconds(since: lastModified) >= 1
    }

    /// The value to send in If-Range: the strong entity tag, otherwise the strong date; `nil` if there is neither.
    ///
    /// `nil` for a representation with a weak tag: a weak tag must not be sent, and a date only if there is no tag (RFC
    /// 9110 §13.1.5).
    public var ifRangeValue: String? {
        if let etag { return etag.isWeak ? nil : etag.description }
        return isLastModifiedStrong ? lastModified?.description : nil
    }

    /// Whether both carry the same strong validator, so that their bytes may be joined (RFC 9110 §15.3.7.3).
    ///
    /// If either has a strong tag, the tags decide. Otherwise the dates decide, and must be strong on both sides; tags,
    /// if present, must then match weakly.
    public func stronglyMatches(_ other: Validators) -> Bool {
        switch (etag, other.etag) {
        case (let tag?, let otherTag?) where !tag.isWeak || !otherTag.isWeak:
            tag.stronglyMatches(otherTag)
        case (let tag?, let otherTag?):
            tag.weaklyMatches(otherTag) && sharesStrongDate(with: other)
        case (nil, nil):
            sharesStrongDate(with: other)
        default:
            false
        }
    }

    /// A strong entity tag that every cache derives alike for one representation: from its strong modification date,
    /// its length, and its weak tag if it has one.
    ///
    /// `nil` if the date is not strong or the length is unknown: nothing then distinguishes two representations
    /// reliably (RFC 9110 §8.8.1, §8.8.2.2).
    package func tagOfStrongDate(completeLength: Int64?) -> EntityTag? {
        guard isLastModifiedStrong, let lastModified, let completeLength else { return nil }
        let date = String(lastModified.secondsSince1970, radix: 16)
        let weak = etag.map { "-\($0.opaqueTag)" } ?? ""
        return EntityTag("\"reprise-\(date)-\(String(completeLength, radix: 16))\(weak)\"")
    }

    private func sharesStrongDate(with other: Validators) -> Bool {
        isLastModifiedStrong && other.isLastModifiedStrong && lastModified == other.lastModified
    }
}
