/// A URI in a playlist: what it names, and where it stands.
package struct Link: Hashable, Sendable {
    /// What it names.
    package let kind: LinkKind
    /// Its bytes in the text, without quotation marks and surrounding white space.
    package let place: Range<Int>
    /// Whether it is a line, an attribute or a text.
    package let context: LinkContext
    /// The bytes of the resource that the playlist uses.
    package internal(set) var extent: ByteExtent = .whole
    /// The link as it must be resolved, if that differs from its bytes in the text.
    ///
    /// Variables of HLS are expanded, references to characters of XML are decoded.
    package internal(set) var decoded: [UInt8]?
    /// Where in an MPD it stands, which decides by which `BaseURL` elements it is resolved.
    package internal(set) var scope = LinkScope()
    /// Why the link must stay as it is, although it names something to fetch.
    package internal(set) var obstacle: PlaylistError.Code?

    init(_ kind: LinkKind, at place: Range<Int>, in context: LinkContext, extent: ByteExtent = .whole) {
        (self.kind, self.place, self.context, self.extent) = (kind, place, context, extent)
    }
}
