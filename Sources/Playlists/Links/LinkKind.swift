/// What a link in a playlist names.
package enum LinkKind: String, Hashable, Sendable, CaseIterable {
    // HLS, multivariant playlists.
    /// A variant's media playlist: the line after `EXT-X-STREAM-INF`.
    case variant
    /// A rendition's media playlist: `URI` of `EXT-X-MEDIA`.
    case rendition
    /// A playlist of I-frames: `URI` of `EXT-X-I-FRAME-STREAM-INF`.
    case iFrameVariant
    /// A playlist of thumbnails: `URI` of `EXT-X-IMAGE-STREAM-INF`, which no draft describes.
    case imageVariant
    /// Data of the session, JSON as a rule: `URI` of `EXT-X-SESSION-DATA`.
    case sessionData
    /// A key to load early: `URI` of `EXT-X-SESSION-KEY`.
    case sessionKey
    /// A steering manifest: `SERVER-URI` of `EXT-X-CONTENT-STEERING`, or `ContentSteering` of an MPD.
    case steering

    // HLS, media playlists.
    /// A media segment: the line after `EXTINF`, or `SegmentURL@media` of an MPD.
    case segment
    /// A tile of thumbnails: a segment of a list with `EXT-X-IMAGES-ONLY` or `EXT-X-TILES`.
    case image
    /// Initialization section: `URI` of `EXT-X-MAP`, or `Initialization@sourceURL` of an MPD.
    case map
    /// A decryption key: `URI` of `EXT-X-KEY`.
    case key
    /// A partial segment: `URI` of `EXT-X-PART`.
    case part
    /// A part or map that the server does not have yet: `URI` of `EXT-X-PRELOAD-HINT`.
    case preloadHint
    /// Another rendition's playlist, which must stay a relative link: `URI` of `EXT-X-RENDITION-REPORT`.
    case renditionReport
    /// A playlist to play in between, an absolute link: `X-ASSET-URI` of `EXT-X-DATERANGE`.
    case interstitialAsset
    /// A JSON list of playlists to play in between: `X-ASSET-LIST` of `EXT-X-DATERANGE`.
    case interstitialList
    /// What to load ahead: `X-URI` of `EXT-X-DATERANGE`.
    case preload
    /// A segment that is still being made: `EXT-X-PREFETCH` of LHLS.
    case prefetch

    // DASH.
    /// The base of the links below it: `BaseURL`.
    case baseURL
    /// A pattern of segment links: `SegmentTemplate@media`.
    case mediaTemplate
    /// A pattern of initialization sections: `SegmentTemplate@initialization` or `@bitstreamSwitching`.
    case initializationTemplate
    /// A pattern of segment indexes: `SegmentTemplate@index`.
    case indexTemplate
    /// A segment index: `SegmentURL@index` or `RepresentationIndex@sourceURL`.
    case index
    /// Where the next version of the MPD is: `Location`.
    case location
    /// Where a patch to the MPD is: `PatchLocation`.
    case patchLocation
    /// An element that lies elsewhere: `xlink:href`.
    case remoteElement
    /// Another MPD: `ImportedMPD`, `url` or `uri` of an alternative presentation, or a chained MPD.
    case importedMPD
    /// A clock, which must never come from a cache: `UTCTiming@value`.
    case clock

    /// Whether it is relative to the URL of its playlist, whatever `BaseURL` says (ISO/IEC 23009-1 §5.6.4).
    package var ignoresBaseURL: Bool {
        switch self {
        case .location, .patchLocation, .remoteElement, .importedMPD, .clock, .steering: true
        default: false
        }
    }
}
