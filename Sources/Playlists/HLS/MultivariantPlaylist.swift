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
