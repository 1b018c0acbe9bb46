import Primitives
import Playlists
import Reprise

/// Variables of multivariant playlists, for the media playlists that import them (rfc8216bis §4.4.2.3).
///
/// In memory only: a player loads the multivariant playlist first. The oldest go when there are too many. In a cache of
/// several users, variables that differ count as unknown, because they may be one user's secret.
final class ImportedVariables: Sendable {
    private struct State {
        var lists: [Entry] = []
        var byteCount = 0
    }

    private struct Entry {
        let variables: Variables
        let playlists: Set<String>
        let byteCount: Int
    }

    /// Maximum size of all URLs and variables, in bytes.
    private let maximumBytes: Int
    /// A leaf.
    private let state = Mutex(State())

    private let isShared: Bool

    init(isShared: Bool, maximumBytes: Int = 4 << 20) {
        self.isShared = isShared
        self.maximumBytes = maximumBytes
    }

    /// The variables of the newest multivariant playlist that names `playlist`; `nil` if none are known.
    func imported(by playlist: ResourceURL) -> Variables? {
        let url = playlist.withoutDirectives.description
        return state.withLock { state in
            let known = state.lists.lazy.filter { $0.playlists.contains(url) }.map(\.variables)
            guard let newest = known.last else { return nil }
            return isShared && known.contains { $0 != newest } ? nil : newest
        }
    }

    /// Remembers the variables of `list`, which came from `base`, if it names other playlists.
    func note(_ list: HLSPlaylist, from base: URIReference) {
        guard !list.variables.isEmpty else { return }
        var playlists: Set<String> = []
        for link in list.links where Self.kinds.contains(link.kind) {
            guard case .fetchable(let target) = list.target(of: link, base: base),
                let url = try? ResourceURL(target.text)
            else { continue }
            playlists.insert(url.description)
        }
        let byteCount = playlists.reduce(list.variables.byteCount) { $0 + $1.utf8.count }
        guard !playlists.isEmpty, byteCount <= maximumBytes else { return }
        let entry = Entry(variables: list.variables, playlists: playlists, byteCount: byteCount)
        state.withLock { state in
            let old = state.lists.firstIndex {
                $0.playlists == playlists && (!isShared || $0.variables == list.variables)
            }
            if let old {
                state.byteCount -= state.lists.remove(at: old).byteCount
            }
            state.lists.append(entry)
            state.byteCount += byteCount
            while state.byteCount > maximumBytes { state.byteCount -= state.lists.removeFirst().byteCount }
        }
    }

    private static let kinds: Set<LinkKind> = [.variant, .rendition, .iFrameVariant, .imageVariant]
}
