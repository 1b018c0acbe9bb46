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
