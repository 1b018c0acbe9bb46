/// What a multivariant playlist says (rfc8216bis §4.4.6).
package struct MultivariantPlaylist: Sendable {
    /// `EXT-X-STREAM-INF`, in the order of the text.
    package internal(set) var variants: [Variant] = []
    /// `EXT-X-I-FRAME-STREAM-INF`.
    package internal(set) var iFrameVariants: [Variant] = []
    /// `EXT-X-IMAGE-STREAM-INF`.
    package internal(set) var imageVariants: [Variant] = []
    /// `EXT-X-MEDIA`.
    package internal(set) var renditions: [Rendition] = []
    /// `EXT-X-SESSION-KEY`.
    package internal(set) var sessionKeys: [Key] = []
    /// `EXT-X-SESSION-DATA`.
    package internal(set) var sessionData: [SessionData] = []
    /// The lines of `EXT-X-CONTENT-STEERING`, of which there should be one at most.
    package internal(set) var steeringLines: [Range<Int>] = []

    /// One item of `EXT-X-SESSION-DATA` (rfc8216bis §4.4.6.4).
    package struct SessionData: Hashable, Sendable {
        /// `DATA-ID`.
        package let id: String
        /// Index in ``HLSPlaylist/links``; `nil` if the tag holds the value itself.
        package let link: Int?
        /// The whole line.
        package let line: Range<Int>
    }
}

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

/// An alternative of a variant's audio, video or text: `EXT-X-MEDIA` (rfc8216bis §4.4.6.1).
package struct Rendition: Hashable, Sendable {
    /// What it renders.
    package enum Kind: Hashable, Sendable {
        /// `AUDIO`
        case audio
        /// `VIDEO`
        case video
        /// `SUBTITLES`
        case subtitles
        /// `CLOSED-CAPTIONS`
        case closedCaptions
        /// A type that no draft knows, or none.
        case other

        init(_ name: String) {
            switch name {
            case "AUDIO": self = .audio
            case "VIDEO": self = .video
            case "SUBTITLES": self = .subtitles
            case "CLOSED-CAPTIONS": self = .closedCaptions
            default: self = .other
            }
        }
    }

    /// `TYPE`.
    package internal(set) var kind = Kind.other
    /// Index in ``HLSPlaylist/links``; `nil` if the rendition is inside the variant.
    package internal(set) var link: Int?
    /// `GROUP-ID`.
    package internal(set) var groupID: String?
    /// `NAME`.
    package internal(set) var name: String?
    /// `LANGUAGE`, a tag of BCP 47.
    package internal(set) var language: String?
    /// `ASSOC-LANGUAGE`.
    package internal(set) var associatedLanguage: String?
    /// `DEFAULT=YES`.
    package internal(set) var isDefault = false
    /// `AUTOSELECT=YES`.
    package internal(set) var isAutoselect = false
    /// `FORCED=YES`.
    package internal(set) var isForced = false
    /// `INSTREAM-ID`.
    package internal(set) var instreamID: String?
    /// `CHARACTERISTICS`.
    package internal(set) var characteristics: String?
    /// `CHANNELS`.
    package internal(set) var channels: String?
    /// `STABLE-RENDITION-ID`.
    package internal(set) var stableID: String?
    /// All attributes, in the order of the text.
    package internal(set) var attributes: [AttributeSpan] = []
    /// The whole line.
    package internal(set) var line: Range<Int>
}
