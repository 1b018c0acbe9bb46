/// A partial segment: `EXT-X-PART` (rfc8216bis §4.4.4.9).
package struct Part: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``, where its byte range is.
    package let link: Int
    /// In seconds.
    package let duration: Double?
    /// `INDEPENDENT=YES`: begins with a frame that needs no other.
    package let isIndependent: Bool
    /// `GAP=YES`: must not be fetched.
    package let isGap: Bool
}
