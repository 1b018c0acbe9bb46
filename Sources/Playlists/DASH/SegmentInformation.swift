/// How the segments of a representation are found: `SegmentTemplate`, `SegmentList` or `SegmentBase`.
///
/// ISO/IEC 23009-1 §5.3.9.
package struct SegmentInformation: Hashable, Sendable {
    /// The three ways.
    package enum Kind: Sendable {
        /// A pattern that numbers or times are put into (§5.3.9.4).
        case template
        /// A list of links (§5.3.9.3).
        case list
        /// One file with an index (§5.3.9.2).
        case base
    }

    /// A run of segments of equal duration: `S` of a `SegmentTimeline` (§5.3.9.6).
    package struct Run: Hashable, Sendable {
        /// `@t`: when the first begins, in units of the timescale; `nil` right after the run before.
        package let time: Int64?
        /// `@d`: duration of each, in units of the timescale.
        package let duration: Int64
        /// `@r`: how many more than one; `nil` for −1, up to the next run or the end of the period.
        package let repeats: Int64?
    }

    /// A resource, or a part of one.
    package struct Resource: Hashable, Sendable {
        /// Index in ``MPD/links``; `nil` for the base URL itself.
        package internal(set) var link: Int?
        /// The bytes of it.
        package internal(set) var extent = ByteExtent.whole
    }

    /// Which of the three.
    package let kind: Kind
    /// `@timescale`: units per second.
    package internal(set) var timescale: Int64?
    /// `@duration` of each segment, in units of the timescale.
    package internal(set) var duration: Int64?
    /// `@startNumber`.
    package internal(set) var startNumber: Int64?
    /// `@startNumber` with its name and its quotation marks.
    var startNumberAttribute: Range<Int>?
    /// `@endNumber`.
    package internal(set) var endNumber: Int64?
    /// `@presentationTimeOffset`, in units of the timescale.
    package internal(set) var presentationTimeOffset: Int64?
    /// `SegmentTimeline`.
    package internal(set) var timeline: [Run]?
    /// Link of `@media`, a pattern.
    package internal(set) var media: Int?
    /// Link of `@initialization`, a pattern.
    package internal(set) var initializationTemplate: Int?
    /// `Initialization`.
    package internal(set) var initialization: Resource?
    /// `@indexRange`.
    package internal(set) var indexRange: ByteExtent?
    /// `SegmentURL`, in order.
    package internal(set) var segmentURLs: [Resource]?
    /// Index in ``MPD/links`` of `xlink:href`, if the list lies elsewhere.
    package internal(set) var remote: Int?

    /// The element, from its start tag to its end tag; `nil` while it is read.
    package internal(set) var element: Range<Int>?

    init(_ kind: Kind) { self.kind = kind }

    /// What holds on this level: what is missing comes from the level around it, which is of the same kind (§5.3.9.1).
    func inheriting(from outer: SegmentInformation) -> SegmentInformation {
        var result = self
        result.timescale = timescale ?? outer.timescale
        result.duration = duration ?? outer.duration
        result.startNumber = startNumber ?? outer.startNumber
        result.startNumberAttribute = startNumber == nil ? outer.startNumberAttribute : startNumberAttribute
        result.endNumber = endNumber ?? outer.endNumber
        result.presentationTimeOffset = presentationTimeOffset ?? outer.presentationTimeOffset
        result.timeline = timeline ?? outer.timeline
        result.media = media ?? outer.media
        result.initializationTemplate = initializationTemplate ?? outer.initializationTemplate
        result.initialization = initialization ?? outer.initialization
        result.indexRange = indexRange ?? outer.indexRange
        result.segmentURLs = segmentURLs ?? outer.segmentURLs
        result.remote = remote ?? outer.remote
        return result
    }
}
