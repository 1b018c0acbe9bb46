/// What will be listed next: `EXT-X-PRELOAD-HINT` (rfc8216bis §4.4.5.3).
package struct PreloadHint: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``, where its byte range is.
    package let link: Int
    /// `TYPE=MAP`, and not a part.
    package let isMap: Bool
}
