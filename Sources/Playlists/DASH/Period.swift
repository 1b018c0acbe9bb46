/// A part of the presentation in time: `Period` (ISO/IEC 23009-1 §5.3.2).
package struct Period: Hashable, Sendable {
    /// `@id`.
    package internal(set) var id: String?
    /// `@start`, in seconds.
    package internal(set) var start: Double?
    /// `@start`, or the end of the period before, in seconds; `nil` if neither is known (§5.3.2.1).
    package internal(set) var beginning: Double?
    /// `@duration`, in seconds.
    package internal(set) var duration: Double?
    /// Alternatives for one base.
    package internal(set) var baseURLs: [BaseURL] = []
    /// Index in ``MPD/links`` of `xlink:href`, if the period lies elsewhere.
    package internal(set) var remote: Int?
    /// How segments are found, for all below.
    package internal(set) var segments: SegmentInformation?
    /// The adaptation sets, in order.
    package internal(set) var adaptationSets: [AdaptationSet] = []
    /// The element, from its start tag to its end tag.
    package internal(set) var element: Range<Int>
    /// `@start` with its name and its quotation marks.
    var startAttribute: Range<Int>?
}
