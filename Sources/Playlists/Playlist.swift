/// A playlist of either format.
package enum Playlist: Sendable {
    /// HTTP Live Streaming.
    case hls(HLSPlaylist)
    /// DASH.
    case dash(MPD)

    /// Reads `bytes` as the format that their beginning shows.
    ///
    /// Throws `notAPlaylist` for other texts, and what ``HLSPlaylist/init(_:context:limits:)`` and
    /// ``MPD/init(_:limits:)`` throw.
    package init(
        _ bytes: [UInt8], context: HLSContext = HLSContext(), limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistError) {
        switch PlaylistFormat(of: bytes) {
        case .hls: self = .hls(try HLSPlaylist(bytes, context: context, limits: limits))
        case .dash: self = .dash(try MPD(bytes, limits: limits))
        case nil: throw PlaylistError(.notAPlaylist, "The text begins like no playlist.")
        }
    }

    /// The text.
    package var bytes: [UInt8] {
        switch self {
        case .hls(let list): list.bytes
        case .dash(let mpd): mpd.bytes
        }
    }

    /// The work that may be done with it.
    package var budget: PlaylistBudget {
        switch self {
        case .hls(let list): list.budget
        case .dash(let mpd): mpd.budget
        }
    }

    /// Every URI, in the order of the text.
    package var links: [Link] {
        switch self {
        case .hls(let list): list.links
        case .dash(let mpd): mpd.links
        }
    }

    /// What tells players of other places for the same files, in the order of the text: tags and elements of content
    /// steering, with all that is in them.
    package var steering: [Range<Int>] {
        switch self {
        case .hls(let list): list.multivariant.steeringLines
        case .dash(let mpd): mpd.steering
        }
    }

    /// The link as it must be resolved.
    package func reference(of link: Link) -> URIReference { URIReference(bytes: link.value(in: bytes)) }

    /// Where the link leads from `base`: the final URL of an HLS playlist, the base of the link's element in an MPD.
    package func target(of link: Link, base: URIReference) -> LinkTarget {
        switch self {
        case .hls(let list): list.target(of: link, base: base)
        case .dash(let mpd): mpd.target(of: link, base: base)
        }
    }
}
