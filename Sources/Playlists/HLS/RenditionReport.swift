/// How far another rendition is: `EXT-X-RENDITION-REPORT` (rfc8216bis §4.4.5.4).
package struct RenditionReport: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``.
    package let link: Int
    /// `LAST-MSN`.
    package let lastSequence: Int64?
    /// `LAST-PART`.
    package let lastPart: Int64?
}
