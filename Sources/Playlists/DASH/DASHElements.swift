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
    /// Index in ``MPD/links`` of `xlink:href`, if the period is in another document.
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

/// Interchangeable representations: `AdaptationSet` (ISO/IEC 23009-1 §5.3.3).
package struct AdaptationSet: Hashable, Sendable {
    /// `@id`.
    package internal(set) var id: String?
    /// `@contentType`: `audio`, `video`, `text`.
    package internal(set) var contentType: String?
    /// `@lang`.
    package internal(set) var language: String?
    /// Attributes that its representations inherit.
    package internal(set) var common = RepresentationAttributes()
    /// Whether it or one of its representations has `ContentProtection`.
    package internal(set) var isProtected = false
    /// Alternatives for one base.
    package internal(set) var baseURLs: [BaseURL] = []
    /// Index in ``MPD/links`` of `xlink:href`, if the set is in another document.
    package internal(set) var remote: Int?
    /// How segments are found, for all below.
    package internal(set) var segments: SegmentInformation?
    /// The representations, in order.
    package internal(set) var representations: [Representation] = []
    /// The element, from its start tag to its end tag.
    package internal(set) var element: Range<Int>
}

/// One encoding of an adaptation set's content: `Representation` (ISO/IEC 23009-1 §5.3.5).
package struct Representation: Hashable, Sendable {
    /// `@id`.
    package internal(set) var id = ""
    /// Bits per second: `@bandwidth`.
    package internal(set) var bandwidth: Int64?
    /// Its attributes, including inherited ones.
    package internal(set) var attributes = RepresentationAttributes()
    /// Alternatives for one base.
    package internal(set) var baseURLs: [BaseURL] = []
    /// The element, from its start tag to its end tag.
    package internal(set) var element: Range<Int>
    /// The start tag, or the whole of an empty element.
    package let startTag: Range<Int>
    /// Its own segment information, without that of outer levels; see ``MPD/segmentInformation(of:)``.
    package internal(set) var segments: SegmentInformation?
}

/// Attributes that an adaptation set and its representations share (ISO/IEC 23009-1 §5.3.7).
package struct RepresentationAttributes: Hashable, Sendable {
    /// `@mimeType`.
    package internal(set) var mimeType: String?
    /// `@codecs`.
    package internal(set) var codecs: String?
    /// `@width`, in pixels.
    package internal(set) var width: Int64?
    /// `@height`, in pixels.
    package internal(set) var height: Int64?
    /// `@frameRate`, as written: `25` or `30000/1001`.
    package internal(set) var frameRate: String?
    /// `@audioSamplingRate`, as written.
    package internal(set) var audioSamplingRate: String?

    /// These attributes, with those of `outer` where they are missing.
    func inheriting(from outer: RepresentationAttributes) -> RepresentationAttributes {
        var result = self
        result.mimeType = mimeType ?? outer.mimeType
        result.codecs = codecs ?? outer.codecs
        result.width = width ?? outer.width
        result.height = height ?? outer.height
        result.frameRate = frameRate ?? outer.frameRate
        result.audioSamplingRate = audioSamplingRate ?? outer.audioSamplingRate
        return result
    }
}

/// A base of the links below it: `BaseURL` (ISO/IEC 23009-1 §5.6).
package struct BaseURL: Hashable, Sendable {
    /// Index in ``MPD/links``; `nil` if the element is empty, which changes nothing.
    package let link: Int?
    /// `@serviceLocation`.
    package let serviceLocation: String?
}

/// A place in an MPD: the indices of the enclosing period, adaptation set and representation.
package struct LinkScope: Hashable, Sendable {
    /// Index in ``MPD/periods``.
    package internal(set) var period: Int?
    /// Index in ``Period/adaptationSets``.
    var adaptationSet: Int?
    /// Index in ``AdaptationSet/representations``.
    var representation: Int?
}
