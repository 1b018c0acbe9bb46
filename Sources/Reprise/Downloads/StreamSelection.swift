/// Which variant and which renditions of a stream a download fetches, by what its playlists say of them.
///
/// Indices would mean something else as soon as the playlist changes. For a single file nothing of it matters.
///
/// ```swift
/// let selection = StreamSelection(quality: .height(1080), audio: .only(["en", "de"]))
/// try await cache.downloads.add(resource, selection: selection)
/// ```
public struct StreamSelection: Sendable, Hashable, Codable {
    /// How good the picture is, or the sound of a stream without picture.
    public enum Quality: Sendable, Hashable, Codable {
        /// The highest picture, and of those the most bits per second.
        case best
        /// The one that the playlist names first, with which many players begin.
        case first
        /// The fewest bits per second.
        case smallest
        /// The highest picture of at most so many lines, or else the lowest there is; in pixels.
        case height(Int64)
        /// The most bits per second up to this number, or else the fewest there are.
        case bandwidth(Int64)
    }

    /// Which renditions of sound or of subtitles.
    public enum Languages: Sendable, Hashable, Codable {
        /// Those that the playlist marks as default; of sound, the first where it marks none.
        case preset
        /// All of them.
        case all
        /// None; of sound, as ``preset``, because there is no film without.
        case none
        /// Those in these languages, as language tags (RFC 5646): `en` stands for `en-US`, too.
        case only([String])
    }

    /// The quality; the best by default.
    public var quality: Quality
    /// The codec of the picture: `avc`, `hevc`, `av1`, `vp9`, or the beginning of a name as in RFC 6381, such as
    /// `hvc1`; any by default.
    public var codec: String?
    /// The sound, where it comes in renditions of its own.
    public var audio: Languages
    /// The subtitles.
    public var subtitles: Languages

    /// Creates a selection; by default the best variant, with what the playlist marks as default.
    public init(
        quality: Quality = .best, codec: String? = nil, audio: Languages = .preset, subtitles: Languages = .preset
    ) {
        (self.quality, self.codec, self.audio, self.subtitles) = (quality, codec, audio, subtitles)
    }
}
