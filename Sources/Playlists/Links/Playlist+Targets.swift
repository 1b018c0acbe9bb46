import Primitives

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
