/// A version of the presentation: `EXT-X-STREAM-INF`, or one of its kin (rfc8216bis §4.4.6.2).
package struct Variant: Hashable, Sendable {
    /// Size of the picture.
    package struct Resolution: Hashable, Sendable {
        /// In pixels.
        package let width: Int64
        /// In pixels.
        package let height: Int64
    }

    /// Index in ``HLSPlaylist/links``; `nil` if the URI is missing.
    package internal(set) var link: Int?
    /// Peak bits per second: `BANDWIDTH`.
    package internal(set) var bandwidth: Int64?
    /// Average bits per second: `AVERAGE-BANDWIDTH`.
    package internal(set) var averageBandwidth: Int64?
    /// `SCORE`.
    package internal(set) var score: Double?
    /// `CODECS`.
    package internal(set) var codecs: String?
    /// `SUPPLEMENTAL-CODECS`.
    package internal(set) var supplementalCodecs: String?
    /// `RESOLUTION`.
    package internal(set) var resolution: Resolution?
    /// Frames per second: `FRAME-RATE`.
    package internal(set) var frameRate: Double?
    /// `VIDEO-RANGE`.
    package internal(set) var videoRange: String?
    /// `HDCP-LEVEL`.
    package internal(set) var hdcpLevel: String?
    /// Group of audio renditions: `AUDIO`.
    package internal(set) var audioGroup: String?
    /// Group of video renditions: `VIDEO`.
    package internal(set) var videoGroup: String?
    /// Group of subtitles: `SUBTITLES`.
    package internal(set) var subtitlesGroup: String?
    /// Group of closed captions: `CLOSED-CAPTIONS`; `nil` for `NONE`, too.
    package internal(set) var closedCaptionsGroup: String?
    /// `CLOSED-CAPTIONS=NONE`.
    package internal(set) var hasNoClosedCaptions = false
    /// `NAME`, an attribute of Apple's older tools and of other players.
    package internal(set) var name: String?
    /// `PATHWAY-ID`.
    package internal(set) var pathwayID: String?
    /// `STABLE-VARIANT-ID`.
    package internal(set) var stableID: String?
    /// All attributes, in the order of the text.
    package internal(set) var attributes: [AttributeSpan] = []
    /// The line of the tag.
    package internal(set) var tagLine: Range<Int>
    /// The line of the URI, which must go together with the tag; `nil` if the tag holds it.
    package internal(set) var uriLine: Range<Int>?
}
