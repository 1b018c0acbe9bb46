/// A media segment: `EXTINF` and its URI (rfc8216bis §3.1, §4.4.4).
package struct Segment: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``, where its byte range is.
    package let link: Int
    /// In seconds; 0 if `EXTINF` is missing or malformed.
    package internal(set) var duration: Double = 0
    /// Media sequence number.
    package internal(set) var sequence: Int64 = 0
    /// Discontinuity sequence number.
    package internal(set) var discontinuitySequence: Int64 = 0
    /// `EXT-X-DISCONTINUITY` precedes it.
    package internal(set) var isDiscontinuous = false
    /// `EXT-X-GAP`: must not be fetched.
    package internal(set) var isGap = false
    /// Kilobits per second: `EXT-X-BITRATE`.
    package internal(set) var bitrate: Int64?
    /// Place of the value of `EXT-X-PROGRAM-DATE-TIME`.
    package internal(set) var programDateTime: Range<Int>?
    /// Index in ``MediaPlaylist/maps``.
    package internal(set) var map: Int?
    /// Index in ``MediaPlaylist/keySets``.
    package internal(set) var keySet = 0
    /// Its parts: indices in ``MediaPlaylist/parts``.
    package internal(set) var parts = 0..<0
    /// The line of `EXTINF`; `nil` if it is missing.
    package internal(set) var tagLine: Range<Int>?
    /// The line of the URI.
    package internal(set) var uriLine: Range<Int>
}
