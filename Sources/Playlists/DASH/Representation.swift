/// One encoding of an adaptation set's content: `Representation` (ISO/IEC 23009-1 §5.3.5).
package struct Representation: Hashable, Sendable {
    /// `@id`.
    package internal(set) var id = ""
    /// Bits per second: `@bandwidth`.
    package internal(set) var bandwidth: Int64?
    /// Its attributes, with those of the adaptation set where it has none.
    package internal(set) var attributes = RepresentationAttributes()
    /// Alternatives for one base.
    package internal(set) var baseURLs: [BaseURL] = []
    /// The element, from its start tag to its end tag.
    package internal(set) var element: Range<Int>
    /// The start tag, or the whole of an empty element.
    package let startTag: Range<Int>
    /// How segments are found, without what outer levels say; see ``MPD/segmentInformation(of:)``.
    package internal(set) var segments: SegmentInformation?
}
