extension Playlist {
    /// All links, and where they lead in a playlist that came from `document`; several times where an MPD has several
    /// bases for one.
    package func linkTargets(in document: URIReference) -> [(link: Link, target: LinkTarget)] {
        switch self {
        case .hls(let list): return list.links.map { ($0, list.target(of: $0, base: document)) }
        case .dash(let mpd):
            var paths = BasePaths(mpd)
            return mpd.links.flatMap { link in
                paths.paths(to: link).map { path in
                    (link, mpd.target(of: link, base: mpd.base(along: path, documentURL: document)))
                }
            }
        }
    }

    /// The links that can be fetched, and where they lead in a playlist that came from `document`.
    package func targets(in document: URIReference) -> [(link: Link, target: URIReference)] {
        linkTargets(in: document).compactMap { link, target in
            guard case .fetchable(let uri) = target else { return nil }
            return (link, uri)
        }
    }
}
