/// What is played in between, such as an advertisement: `EXT-X-DATERANGE` of its class (rfc8216bis Appendix D).
package struct Interstitial: Hashable, Sendable {
    /// The class of its date ranges.
    static let className: StaticString = "com.apple.hls.interstitial"

    /// `ID`: several tags with the same one are about the same date range.
    package internal(set) var id = ""
    /// Indices in ``HLSPlaylist/links`` of what is played: `X-ASSET-URI` or `X-ASSET-LIST`.
    package internal(set) var links: [Int] = []
    /// The whole line.
    package internal(set) var line: Range<Int>
}
