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
