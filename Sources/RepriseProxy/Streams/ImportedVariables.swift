import Primitives
import Playlists
import Reprise

/// Variables of multivariant playlists, for the media playlists that import them (rfc8216bis §4.4.2.3).
///
/// In memory only: a player loads the multivariant playlist first. The oldest go when there are too many. In a cache of
/// several users, variables that differ count as unknown, because they may be one user's secret.
final class ImportedVariables: Sendable {
    /// A multivariant playlist; replaces an earlier one that is equal.
    fileprivate struct List: Hashable {
        let playlists: Set<String>
        /// The variables, if lists with other variables are kept separately; `nil` if the newest list replaces them.
        let distinct: Variables?
    }

    fileprivate struct Entry {
        let list: List
        let variables: Variables
        let byteCount: Int
    }

    /// The lists that name one media playlist.
    fileprivate struct Importer {
        /// Numbers of the lists, oldest first.
        var lists: [Int] = []
        /// Number of lists for each set of variables.
        var counts: [Variables: Int] = [:]
    }

    fileprivate struct State {
        /// Entries by list number; later lists have higher numbers.
        var entries: [Int: Entry] = [:]
        var numbers: [List: Int] = [:]
        var importers: [String: Importer] = [:]
        /// A lower bound for the numbers of all lists.
        var oldest = 0
        var next = 0
        var byteCount = 0
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
            guard let importer = state.importers[url], !isShared || importer.counts.count == 1 else { return nil }
            return importer.lists.last.flatMap { state.entries[$0]?.variables }
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
        let entry = Entry(
            list: List(playlists: playlists, distinct: isShared ? list.variables : nil), variables: list.variables,
            byteCount: byteCount)
        state.withLock { state in
            if let old = state.numbers[entry.list] { state.remove(old) }
            state.add(entry)
            while state.byteCount > maximumBytes {
                state.remove(state.oldest)
                state.oldest += 1
            }
        }
    }

    private static let kinds: Set<LinkKind> = [.variant, .rendition, .iFrameVariant, .imageVariant]
}

extension ImportedVariables.State {
    fileprivate mutating func add(_ entry: ImportedVariables.Entry) {
        for url in entry.list.playlists {
            importers[url, default: ImportedVariables.Importer()].lists.append(next)
            importers[url]?.counts[entry.variables, default: 0] += 1
        }
        (entries[next], numbers[entry.list]) = (entry, next)
        byteCount += entry.byteCount
        next += 1
    }

    /// Removes the list with this number, if it still exists.
    fileprivate mutating func remove(_ number: Int) {
        guard let entry = entries.removeValue(forKey: number) else { return }
        numbers[entry.list] = nil
        byteCount -= entry.byteCount
        for url in entry.list.playlists {
            guard var importer = importers.removeValue(forKey: url) else { continue }
            if let index = importer.lists.firstIndex(of: number) { importer.lists.remove(at: index) }
            let count = (importer.counts[entry.variables] ?? 0) - 1
            importer.counts[entry.variables] = count > 0 ? count : nil
            if !importer.lists.isEmpty { importers[url] = importer }
        }
    }
}
