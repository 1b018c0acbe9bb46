import Primitives

/// A URI in a playlist: what it names, and where it stands.
package struct Link: Hashable, Sendable {
    /// What it names.
    package let kind: LinkKind
    /// Its bytes in the text, without quotation marks and surrounding white space.
    package let place: Range<Int>
    /// Whether it is a line, an attribute or a text.
    package let context: LinkContext
    /// The bytes of the resource that the playlist uses.
    package internal(set) var extent: ByteExtent = .whole
    /// The link as it must be resolved, if that differs from its bytes in the text.
    ///
    /// Variables of HLS are expanded, references to characters of XML are decoded.
    package internal(set) var decoded: [UInt8]?
    /// Where in an MPD it stands, which decides by which `BaseURL` elements it is resolved.
    package internal(set) var scope = LinkScope()
    /// Why the link must stay as it is, although it names something to fetch.
    package internal(set) var obstacle: PlaylistError.Code?

    init(_ kind: LinkKind, at place: Range<Int>, in context: LinkContext, extent: ByteExtent = .whole) {
        (self.kind, self.place, self.context, self.extent) = (kind, place, context, extent)
    }
}

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

/// Where in a playlist a link stands, which decides how a replacement is escaped.
package enum LinkContext: Hashable, Sendable {
    /// A line of an HLS playlist, or the rest of one.
    case line
    /// Between the quotation marks of an HLS attribute.
    case quotedString
    /// In an XML attribute, between marks of this byte: `"` or `'`.
    case xmlAttribute(quote: UInt8)
    /// In the text of an XML element.
    case xmlText
    /// In the text of an XML element, with CDATA sections or comments in between.
    case xmlSections
}

/// The bytes of a resource that a playlist uses.
package enum ByteExtent: Hashable, Sendable {
    /// All of it.
    case whole
    /// These bytes; never empty, and below 2^53.
    case range(Range<Int64>)
    /// Everything from an offset on, as in a preload hint without a length.
    case from(Int64)
    /// As many bytes, but at no known place: no earlier range of the same resource precedes it (rfc8216bis §4.4.4.2).
    case unplaced(count: Int64)

    /// Creates a range if it is not empty and ends below 2^53.
    static func bytes(count: Int64, at offset: Int64) -> ByteExtent? {
        guard count > 0, count <= Number.largest, offset >= 0, offset <= Number.largest - count else { return nil }
        return .range(offset..<offset + count)
    }
}

extension Playlist {
    /// All links, and where they lead in a playlist that came from `document`; several times where an MPD has several
    /// bases for one.
    package func linkTargets(in document: URIReference) -> LinkTargets { LinkTargets(self, document: document) }

    /// The links that can be fetched, and where they lead in a playlist that came from `document`.
    ///
    /// They end early once the budget of the playlist is exceeded; ``PlaylistBudget/check()`` tells.
    package func targets(in document: URIReference) -> some Sequence<(link: Link, target: URIReference)> {
        linkTargets(in: document).lazy.compactMap { link, target in
            guard case .fetchable(let uri) = target else { return nil }
            return (link, uri)
        }
    }
}

/// The links of a playlist and where they lead, resolved one at a time.
///
/// The last one is unreadable if the budget of the playlist is exceeded.
package struct LinkTargets: Sequence, IteratorProtocol {
    private let playlist: Playlist
    private let links: [Link]
    private let document: URIReference
    private var index = 0
    private var paths: BasePaths?
    /// The bases of the link at `index`, and which of them is next.
    private var (ways, bases): ([BasePaths.Path], [URIReference]) = ([], [])
    private var way = 0

    fileprivate init(_ playlist: Playlist, document: URIReference) {
        (self.playlist, links, self.document) = (playlist, playlist.links, document)
        if case .dash(let mpd) = playlist { paths = BasePaths(mpd) }
    }

    package mutating func next() -> (link: Link, target: LinkTarget)? {
        guard index < links.count else { return nil }
        let link = links[index]
        if way == 0, case .dash(let mpd) = playlist, let ways = paths?.paths(to: link), ways != self.ways {
            self.ways = ways
            bases = ways.map { mpd.base(along: $0, documentURL: document) }
        }
        let target = playlist.target(of: link, base: bases.indices.contains(way) ? bases[way] : document)
        way += 1
        if way >= bases.count { (index, way) = (index + 1, 0) }
        if case .leftAlone(.unreadable) = target, playlist.budget.isExceeded || Cancellation.isRequested {
            index = links.count
        }
        return (link, target)
    }
}
