/// Interchangeable representations: `AdaptationSet` (ISO/IEC 23009-1 §5.3.3).
package struct AdaptationSet: Hashable, Sendable {
    /// `@id`.
    package internal(set) var id: String?
    /// `@contentType`: `audio`, `video`, `text`.
    package internal(set) var contentType: String?
    /// `@lang`.
    package internal(set) var language: String?
    /// What holds for all representations that do not say otherwise.
    package internal(set) var common = RepresentationAttributes()
    /// Whether `ContentProtection` stands in it or in a representation.
    package internal(set) var isProtected = false
    /// Alternatives for one base.
    package internal(set) var baseURLs: [BaseURL] = []
    /// Index in ``MPD/links`` of `xlink:href`, if the set lies elsewhere.
    package internal(set) var remote: Int?
    /// How segments are found, for all below.
    package internal(set) var segments: SegmentInformation?
    /// The representations, in order.
    package internal(set) var representations: [Representation] = []
    /// The element, from its start tag to its end tag.
    package internal(set) var element: Range<Int>
}
