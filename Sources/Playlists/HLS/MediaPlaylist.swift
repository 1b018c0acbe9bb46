/// What a media playlist says (rfc8216bis §4.4.3 to §4.4.5).
package struct MediaPlaylist: Sendable {
    /// `EXT-X-PLAYLIST-TYPE`.
    package enum PlaylistType: Sendable {
        /// Never changes.
        case vod
        /// Only grows.
        case event
    }

    /// Longest segment, in seconds: `EXT-X-TARGETDURATION`.
    package internal(set) var targetDuration: Double?
    /// Number of the first segment: `EXT-X-MEDIA-SEQUENCE`.
    package internal(set) var mediaSequence: Int64 = 0
    /// `EXT-X-DISCONTINUITY-SEQUENCE`.
    package internal(set) var discontinuitySequence: Int64 = 0
    /// Whether and how the list may change.
    package internal(set) var type: PlaylistType?
    /// `EXT-X-ENDLIST`, wherever it stands.
    package internal(set) var hasEndList = false
    /// `EXT-X-I-FRAMES-ONLY`.
    package internal(set) var hasIFramesOnly = false
    /// Segments are thumbnails: `EXT-X-IMAGES-ONLY` or `EXT-X-TILES`.
    package internal(set) var hasImagesOnly = false
    /// Duration of a part, in seconds: `EXT-X-PART-INF`.
    package internal(set) var partTarget: Double?
    /// What the server can do: `EXT-X-SERVER-CONTROL`.
    package internal(set) var serverControl: ServerControl?
    /// Segments that a delta update leaves out: `EXT-X-SKIP`.
    package internal(set) var skippedSegments: Int64?
    /// The segments, in order.
    package internal(set) var segments: [Segment] = []
    /// The parts, in order.
    package internal(set) var parts: [Part] = []
    /// Parts that belong to no listed segment yet: indices in ``parts``.
    package internal(set) var trailingParts = 0..<0
    /// `EXT-X-MAP`, in order.
    package internal(set) var maps: [Map] = []
    /// `EXT-X-KEY`, in order.
    package internal(set) var keys: [Key] = []
    /// Keys that hold together, as indices in ``keys``; the first set is empty.
    package internal(set) var keySets: [[Int]] = [[]]
    /// `EXT-X-PRELOAD-HINT`.
    package internal(set) var preloadHints: [PreloadHint] = []
    /// `EXT-X-RENDITION-REPORT`.
    package internal(set) var renditionReports: [RenditionReport] = []

    /// What is played in between.
    package internal(set) var interstitials: [Interstitial] = []

    /// Whether the list can still change: neither ended nor `VOD`.
    package var isLive: Bool { !hasEndList && type != .vod }

    /// Whether the list has parts or lets clients wait for them.
    package var hasLowLatency: Bool {
        partTarget != nil || !parts.isEmpty || serverControl?.canBlockReload == true
    }

    /// Number of the segment after the last.
    package var nextSequence: Int64 { mediaSequence + (skippedSegments ?? 0) + Int64(segments.count) }

    /// Sum of the segments' durations, in seconds.
    package var duration: Double { segments.reduce(0) { $0 + $1.duration } }

    /// Seconds for which a player can take the list for current: half a target duration (rfc8216bis §B.1).
    package var reloadInterval: Double? { targetDuration.map { $0 / 2 } }
}

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

/// An initialization section: `EXT-X-MAP` (rfc8216bis §4.4.4.5).
package struct Map: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``, where its byte range is.
    package let link: Int
    /// The keys that hold for it: index in ``MediaPlaylist/keySets``.
    package let keySet: Int
    /// The whole line.
    package let line: Range<Int>
}

/// What the server of a media playlist can do: `EXT-X-SERVER-CONTROL` (rfc8216bis §4.4.3.8).
package struct ServerControl: Hashable, Sendable {
    /// Clients may ask for a list that does not exist yet: `CAN-BLOCK-RELOAD`.
    package internal(set) var canBlockReload = false
    /// Delta updates leave out segments that are older, in seconds: `CAN-SKIP-UNTIL`.
    package internal(set) var canSkipUntil: Double?
    /// Delta updates leave out date ranges: `CAN-SKIP-DATERANGES`.
    package internal(set) var canSkipDateRanges = false
    /// Distance to keep from the end, in seconds: `HOLD-BACK`.
    package internal(set) var holdBack: Double?
    /// Distance to keep in low latency, in seconds: `PART-HOLD-BACK`.
    package internal(set) var partHoldBack: Double?
    /// All attributes, in the order of the text.
    package internal(set) var attributes: [AttributeSpan] = []
    /// The whole line.
    package internal(set) var line: Range<Int>
}

/// What will be listed next: `EXT-X-PRELOAD-HINT` (rfc8216bis §4.4.5.3).
package struct PreloadHint: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``, where its byte range is.
    package let link: Int
    /// `TYPE=MAP`, and not a part.
    package let isMap: Bool
}

/// How far another rendition is: `EXT-X-RENDITION-REPORT` (rfc8216bis §4.4.5.4).
package struct RenditionReport: Hashable, Sendable {
    /// Index in ``HLSPlaylist/links``.
    package let link: Int
    /// `LAST-MSN`.
    package let lastSequence: Int64?
    /// `LAST-PART`.
    package let lastPart: Int64?
}

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
