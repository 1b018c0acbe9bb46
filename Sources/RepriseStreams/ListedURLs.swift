import Playlists
import Reprise

/// The URLs that the playlists of an ended stream name, whatever of it is downloaded.
struct ListedURLs {
    private(set) var urls: Set<ResourceURL> = []
    /// Whether playlists name more than is known: one goes on, has links that cannot be read, or leads to a list of
    /// unknown content.
    private(set) var isOpen = false

    /// Adds all that `playlist`, which came from `document`, names.
    mutating func add(_ playlist: Playlist, at document: URIReference) {
        switch playlist {
        case .hls(let list): isOpen = isOpen || list.kind == .media && list.media.isLive
        case .dash(let mpd): add(mpd, at: document)
        }
        for (_, target) in playlist.linkTargets(in: document) { add(target) }
    }

    private mutating func add(_ mpd: MPD, at document: URIReference) {
        let sets = mpd.periods.flatMap(\.adaptationSets)
        let bases =
            [mpd.baseURLs] + mpd.periods.map(\.baseURLs) + sets.map(\.baseURLs)
            + sets.flatMap(\.representations).map(\.baseURLs)
        // Players choose among alternative bases.
        let hasAlternatives = bases.contains { $0.count > 1 }
        let isElsewhere = mpd.periods.contains { $0.remote != nil } || sets.contains { $0.remote != nil }
        guard mpd.root == .presentation, !mpd.isDynamic, !hasAlternatives, !isElsewhere else {
            isOpen = true
            return
        }
        for (period, value) in mpd.periods.enumerated() {
            for (set, adaptation) in value.adaptationSets.enumerated() {
                for representation in adaptation.representations.indices {
                    add(MPD.Path(period: period, adaptationSet: set, representation: representation), mpd, document)
                }
            }
        }
    }

    private mutating func add(_ path: MPD.Path, _ mpd: MPD, _ document: URIReference) {
        guard let segments = try? mpd.segments(of: path, base: document) else {
            isOpen = true
            return
        }
        if let initialization = mpd.initialization(of: path, base: document) { add(initialization.target) }
        for segment in segments { add(segment.target) }
    }

    private mutating func add(_ target: LinkTarget) {
        switch target {
        case .fetchable(let uri):
            if let url = uri.streamFile()?.url { urls.insert(url) } else { isOpen = true }
        case .leftAlone(.unreadable): isOpen = true
        case .leftAlone: break
        }
    }
}
