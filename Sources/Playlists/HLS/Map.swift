/// An initialization section: `EXT-X-MAP` (rfc8216bis §4.4.4.5).
package struct Map: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``, where its byte range is.
    package let link: Int
    /// The keys that hold for it: index in ``MediaPlaylist/keySets``.
    package let keySet: Int
    /// The whole line.
    package let line: Range<Int>
}
