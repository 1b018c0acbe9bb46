/// An HLS playlist: its links, and what is decided by (rfc8216bis §4).
///
/// Nothing here is printed again; edits go through ``PlaylistEditor``, which leaves every other byte as it is.
///
///     let list = try HLSPlaylist(bytes, context: HLSContext(url: finalURL))
///     for link in list.links { … }
package struct HLSPlaylist: Sendable {
    /// The kinds of playlist.
    package enum Kind: String, Sendable {
        /// Lists variants and renditions.
        case multivariant
        /// Lists segments.
        case media
        /// Has tags of both, which no client accepts (rfc8216bis §4.1).
        case mixed
        /// Has tags of neither: an empty playlist, or a plain list of files.
        case untyped
    }

    /// A preferred place to begin: `EXT-X-START` (rfc8216bis §4.4.2.2).
    package struct Start: Hashable, Sendable {
        /// Seconds from the beginning; from the end if negative.
        package let offset: Double
        /// Whether playback begins exactly there, and not at the segment's start.
        package let isPrecise: Bool
    }

    /// The text.
    package let bytes: [UInt8]
    /// The work that may be done with it, of which reading it was a part.
    package internal(set) var budget: PlaylistBudget
    /// The kind, by its tags.
    package internal(set) var kind = Kind.untyped
    /// `EXT-X-VERSION`; 1 without the tag.
    package internal(set) var version: Int64 = 1
    /// Whether every segment can be decoded without others: `EXT-X-INDEPENDENT-SEGMENTS`.
    package internal(set) var hasIndependentSegments = false
    /// Where to begin.
    package internal(set) var start: Start?
    /// Variables after the last line, which media playlists import.
    package internal(set) var variables = Variables()
    /// Variables whose values stand in the query of the URL.
    package internal(set) var queryVariables: [QueryVariable] = []
    /// Every URI, in the order of the text.
    package internal(set) var links: [Link] = []
    /// What a multivariant playlist says; empty otherwise.
    package internal(set) var multivariant = MultivariantPlaylist()
    /// What a media playlist says; empty otherwise.
    package internal(set) var media = MediaPlaylist()
    /// Faults that do not keep the list from being used, at most ``PlaylistLimits/problems`` of them.
    package internal(set) var problems: [PlaylistError] = []

    /// Reads `bytes`.
    ///
    /// Throws `notAPlaylist` unless the first line that is neither blank nor a comment is `#EXTM3U`, and throws when
    /// a limit is exceeded. A byte order mark is accepted. All else that is malformed is skipped, and noted in
    /// ``problems``.
    package init(
        _ bytes: [UInt8], context: HLSContext = HLSContext(), limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistError) {
        try limits.check(size: bytes.count)
        guard PlaylistFormat(of: bytes) == .hls else {
            throw PlaylistError(.notAPlaylist, "The text does not begin with #EXTM3U.")
        }
        guard !PlaylistFormat.isUTF16(bytes) else {
            throw PlaylistError(.encoding, "The playlist is in UTF-16, and its links cannot be read.")
        }
        var parser = HLSParser(
            bytes, context: context, budget: PlaylistBudget(limits, forInput: bytes.count))
        self = try parser.parse()
    }

    /// Parses some lines of a playlist that is too large to be parsed at once; `variables` come from earlier lines.
    ///
    /// Links, variables and steering are correct. Values that depend on other lines are not. Throws if a limit is
    /// exceeded.
    package init(
        lines bytes: [UInt8], context: HLSContext, variables: Variables, limits: PlaylistLimits
    ) throws(PlaylistError) {
        var parser = HLSParser(
            bytes, context: context, budget: PlaylistBudget(limits, forInput: bytes.count), variables: variables)
        self = try parser.parse()
    }

    /// An empty list over a text.
    init(reading bytes: [UInt8], within budget: PlaylistBudget) { (self.bytes, self.budget) = (bytes, budget) }

    /// A part of the text, such as an attribute; bytes that are not UTF-8 become U+FFFD.
    package func text(_ place: Range<Int>) -> String { bytes.text(place) }

    /// The link as it must be resolved: variables expanded, bytes beyond ASCII percent-encoded.
    package func reference(of link: Link) -> URIReference { URIReference(bytes: link.value(in: bytes)) }

    /// Where the link leads in a playlist that came from `base`.
    package func target(of link: Link, base: URIReference) -> LinkTarget {
        if let obstacle = link.obstacle { return .leftAlone(.unreadable(obstacle)) }
        return budget.target(of: reference(of: link), base: base)
    }
}

extension Link {
    /// The link as it must be resolved.
    func value(in bytes: [UInt8]) -> [UInt8] { decoded ?? Array(bytes[place]) }
}

/// What an HLS playlist takes from outside of its text.
package struct HLSContext: Hashable, Sendable {
    /// The URL that the playlist came from, after redirects; `QUERYPARAM` reads its query (rfc8216bis §4.4.2.3).
    package var url: URIReference?
    /// Variables of the multivariant playlist through which this one was loaded; `nil` if none is known.
    package var imported: Variables?

    /// Creates a context.
    package init(url: URIReference? = nil, imported: Variables? = nil) {
        (self.url, self.imported) = (url, imported)
    }
}
